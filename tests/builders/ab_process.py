"""``envdyno ab`` in a process of its own, away from the caches, locks and settings of the tester."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord

PATIENCE_S = 170.0
QUICK = ("--numa", "off", "--duration", "0.1s", "--warmup", "3", "--pairs", "3")
"""Short runs: what is tested is the experiment, not the figures."""
NO_REPEATS = ("--disturbed-repeats", "0", "--attribution-pairs", "0")
"""Whoever runs the tests may load the machine; a repeat would show nothing but that."""
SYNTHETIC = ("-o", "a:step_ms=1", "-o", "b:step_ms=2", "synthetic", "-n", "4", *QUICK, *NO_REPEATS)


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """What was told on stderr as one line; the report breaks its sentences to the width of the screen."""
        return " ".join(self.err.split())


class Ab:
    """Starts the command with a cache, a state folder and a lock of the tests' own.

    The cache is shared by all tests, for a cold one has every side compile the standard library.
    """

    def __init__(self, cache: Path, folder: Path) -> None:
        self.folder = folder
        self._environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "ENVDYNO_", "PYTHON"))
        }
        self._environ |= {
            "ENVDYNO_CACHE_DIR": str(cache),
            "ENVDYNO_LOCK_DIR": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "HOME": str(folder),
            "COLUMNS": "100",
            "PYTHONWARNINGS": "error",
        }

    def start(
        self,
        *arguments: str,
        verb: str = "ab",
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> subprocess.Popen[str]:
        """Start the command in a process group of its own; ``before`` is called in the child."""
        return subprocess.Popen(
            [sys.executable, "-m", "envdyno", verb, *arguments],
            cwd=cwd or self.folder,
            env={**self._environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            preexec_fn=before,
        )

    def run(self, *arguments: str, **more: object) -> Finished:
        """Run the command to its end."""
        return finish(self.start(*arguments, **more))  # type: ignore[arg-type]

    @property
    def out(self) -> str:
        """For ``--out``: where :meth:`bundle` is."""
        return str(self.folder / "out")

    def bundle(self) -> Bundle:
        """The bundle of the test."""
        return Bundle(self.folder / "out")


def finish(process: subprocess.Popen[str]) -> Finished:
    """Wait for the end of a command."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return Finished(process.returncode, out, err)


def head_of(bundle: Bundle) -> ExperimentRecord:
    """The head of a bundle."""
    return bundle.experiment()


def records_of(bundle: Bundle) -> list[RunRecord]:
    """All records of a bundle; none where the journal is not there yet."""
    return list(bundle.records()) if (bundle.folder / "records.jsonl").exists() else []


def settled(records: Sequence[RunRecord]) -> list[str]:
    """Ids of the planned runs that have their final record, in order."""
    return [r.experiment.planned_id for r in records if r.experiment is not None and r.experiment.final]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)


def stop(process: subprocess.Popen[str]) -> None:
    """Kill a command that a failing test left, with its group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
