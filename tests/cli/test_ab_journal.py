"""The journal of an experiment: killed, torn or on a full disk, nothing that was recorded is lost."""

from __future__ import annotations

import contextlib
import random
import resource
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from ab_process import SYNTHETIC, Ab, finish, head_of, records_of, settled, wait_until

from envdyno.record.bundle import Bundle

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


@pytest.fixture
def complete(ab: Ab) -> Ab:
    """A finished experiment of six runs."""
    done = ab.run(*SYNTHETIC, *SHORTEST, "--out", ab.out)
    assert done.code == 0, done.err
    return ab


def test_a_torn_last_line_is_made_again_and_half_a_line_is_never_read(complete: Ab) -> None:
    journal = complete.bundle().folder / "records.jsonl"
    whole = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(whole[:4]) + whole[4][:777])
    judged = complete.run("out", verb="gate")
    assert "Traceback" not in judged.err
    assert "runs: 4 made" in judged.out
    resume_to_the_end(complete)
    assert journal.read_bytes().startswith(b"".join(whole[:4]))


def test_a_disk_that_fills_up_ends_the_experiment_in_a_sentence_and_keeps_the_earlier_records(ab: Ab) -> None:
    """A limit on the size of files does what a full disk does: a write is cut short, and then refused."""

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = finish(ab.start(*SYNTHETIC, *SHORTEST, "--out", ab.out, before=full))
    assert done.code == 5
    assert "A record cannot be written to" in done.said
    assert "Earlier records are safe" in done.said
    assert f"envdyno ab --resume {ab.out}" in done.said
    assert "Traceback" not in done.err
    kept = records_of(ab.bundle())
    assert 0 < len(kept) < 6
    resume_to_the_end(ab)
    assert records_of(ab.bundle())[: len(kept)] == kept
