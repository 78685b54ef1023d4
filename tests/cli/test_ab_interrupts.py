"""Signals to an experiment: one Ctrl-C finishes the run in hand, two end it, and --resume carries on."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest
from ab_process import SYNTHETIC, Ab, Finished, finish, head_of, records_of, settled, wait_until

from envdyno.record.counted import agreeing


def start(ab: Ab, *more: str) -> subprocess.Popen[str]:
    """Start an experiment and wait until its first run has begun."""
    process = ab.start(*SYNTHETIC, *more, "--out", ab.out)
    runs = ab.bundle().folder / "runs"
    wait_until(lambda: any(runs.glob("synthetic-*p001*")), "the first run begins")
    return process


def end(process: subprocess.Popen[str]) -> Finished:
    done = finish(process)
    assert "Traceback" not in done.err
    return done


def test_one_ctrl_c_finishes_the_run_in_hand_and_says_how_to_carry_on(ab: Ab) -> None:
    process = start(ab, "--duration", "3s")
    os.killpg(process.pid, signal.SIGINT)
    done = end(process)
    assert done.code == 130
    assert "Ctrl-C again stops at once" in done.said
    assert f"envdyno ab --resume {ab.out}" in done.said
    records = records_of(ab.bundle())
    assert [record.status.value for record in records] == ["ok"] * len(records)
    assert 0 < len(records) < 6
    resumed = ab.run("--resume", ab.out)
    assert resumed.code == 0, resumed.err
    are = agreeing(len(records), "is", "are")
    assert f"{len(records)} of 6 runs {are} settled already" in resumed.said
    assert settled(records_of(ab.bundle())) == list(head_of(ab.bundle()).planned)


@pytest.mark.parametrize(
    "numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["Ctrl-C twice", "TERM"]
)
def test_two_ctrl_c_or_a_sigterm_stop_at_once_and_the_run_in_hand_is_recorded(
    numbers: tuple[signal.Signals, ...], ab: Ab
) -> None:
    process = start(ab, "--duration", "60s")
    began = time.monotonic()
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.3)
    done = end(process)
    assert time.monotonic() - began < 55, "the window of 60 s was not waited for"
    assert done.code == 130
    (record,) = records_of(ab.bundle())
    assert record.status.value == "interrupted"
    assert record.throughput is None
    assert record.experiment is not None
    assert not record.experiment.final


def test_a_ctrl_c_before_anything_is_measured_stops_at_once_and_leaves_no_folder(ab: Ab) -> None:
    process = ab.start(*SYNTHETIC, "-o", "fault=hang", "-o", "fault_stage=build", "--out", ab.out)
    wait_until(lambda: any((ab.bundle().folder / "runs").glob("preflight-*")), "the first build begins")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    done = end(process)
    assert done.code == 130
    assert "Interrupted by SIGINT." in done.said
    assert not ab.bundle().folder.exists()
