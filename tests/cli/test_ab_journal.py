"""The journal of an experiment: killed, torn or on a full disk, nothing that was recorded is lost."""

from __future__ import annotations

import contextlib
import random
import resource
import shutil
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from ab_process import SYNTHETIC, Ab, Finished, finish, head_of, records_of, settled, wait_until

from envdyno.record.bundle import Bundle
from envdyno.record.run_record import RunRecord

SHORTEST = ("--duration", "0.05s", "-q")


def kill_until(ab: Ab, kills: int, pairs: int, seed: int) -> None:
    """Kill the control again and again at random moments; after each, what was recorded must still be there.

    Every session carries on what the last one left; one that comes to its end before it is killed counts
    as none.
    """
    draw = random.Random(seed)
    journal = ab.bundle().folder / "records.jsonl"
    new = (*SYNTHETIC, *SHORTEST, "--pairs", str(pairs), "--out", ab.out)
    written = b""
    for _ in range(kills):
        arguments = ("--resume", ab.out) if ab.bundle().has_experiment() else new
        process = ab.start(*arguments)
        # Some die while they start, most between and in runs: after so many more records, and a while.
        more = draw.choice((0, 1, 1, 2))
        wait_for_records(process, journal, lines(journal) + more)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0.0, 1.5))
        process.kill()
        process.communicate()
        now = journal.read_bytes() if journal.exists() else b""
        assert now.startswith(written[: written.rfind(b"\n") + 1]), "a record that was on the disk is gone"
        written = now


def wait_for_records(process: subprocess.Popen[str], journal: Path, wanted: int) -> None:
    """Wait until a journal has so many records, or its writer has ended."""
    wait_until(lambda: process.poll() is not None or lines(journal) >= wanted, "a run ended")


def lines(journal: Path) -> int:
    """Whole lines of a journal."""
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def assert_settled_once(bundle: Bundle) -> None:
    """Every planned run has its final record, and none has two."""
    counts = Counter(settled(records_of(bundle)))
    assert set(counts) == set(head_of(bundle).planned)
    assert set(counts.values()) == {1}


def resume_to_the_end(ab: Ab) -> None:
    done = ab.run("--resume", ab.out, "-q")
    assert done.code == 0, done.err
    assert_settled_once(ab.bundle())


def test_a_control_that_is_killed_at_random_moments_loses_nothing_and_makes_nothing_twice(ab: Ab) -> None:
    kill_until(ab, kills=5, pairs=4, seed=11)
    resume_to_the_end(ab)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_fifty_kills_lose_nothing_and_make_nothing_twice(ab: Ab) -> None:
    kill_until(ab, kills=50, pairs=40, seed=50)
    resume_to_the_end(ab)


@dataclass(frozen=True)
class Filled:
    """An experiment on a disk that filled up, and was carried on when there was room again."""

    ab: Ab
    stopped: Finished
    kept: list[RunRecord]
    """What was on the disk when it was full."""


@pytest.fixture(scope="module")
def filled(envdyno_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A limit on the size of files does what a full disk does: a write is cut short, and then refused."""

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    ab = Ab(envdyno_cache, tmp_path_factory.mktemp("filled"))
    stopped = finish(ab.start(*SYNTHETIC, *SHORTEST, "--out", ab.out, before=full))
    kept = records_of(ab.bundle())
    resume_to_the_end(ab)
    return Filled(ab, stopped, kept)


def test_a_disk_that_fills_up_ends_the_experiment_in_a_sentence(filled: Filled) -> None:
    done = filled.stopped
    assert done.code == 5
    assert "A record cannot be written to" in done.said
    assert "Earlier records are safe" in done.said
    assert f"envdyno ab --resume {filled.ab.out}" in done.said
    assert "Traceback" not in done.err


def test_records_from_before_the_disk_was_full_are_whole_and_the_others_are_made_later(
    filled: Filled,
) -> None:
    assert 0 < len(filled.kept) < 6
    assert records_of(filled.ab.bundle())[: len(filled.kept)] == filled.kept


def test_a_torn_last_line_is_made_again_and_half_a_line_is_never_read(filled: Filled, ab: Ab) -> None:
    shutil.copytree(filled.ab.out, ab.out)
    journal = ab.bundle().folder / "records.jsonl"
    whole = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(whole[:5]) + whole[5][:777])
    judged = ab.run("out", verb="gate")
    assert "Traceback" not in judged.err
    assert "runs: 5 made" in judged.out
    resume_to_the_end(ab)
    assert journal.read_bytes().startswith(b"".join(whole[:5]))
