"""One session of measuring: scratch folder, signals, watcher, and where records and samples go."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envdyno.agent.stages import Stage
from envdyno.launch.conductor import Watcher
from envdyno.launch.interrupts import Interrupts, watch_interrupts
from envdyno.launch.scratch import Scratch, ScratchError


class SilentWatcher:
    """Follows a run without a word."""

    follows_rate = False

    def stage(self, worker: int, stage: Stage) -> None:
        """Say nothing."""

    def rate(self, worker: int, rows_per_s: float) -> None:
        """Say nothing."""

    def tick(self) -> None:
        """Say nothing."""


@dataclass
class Session:
    """What the runs of one command share."""

    scratch: Scratch
    interrupts: Interrupts
    watcher: Watcher
    keep: Path | None = None
    """Folder in which logs and raw samples are kept; ``None`` removes them with the scratch folder."""
    runs: int = 0

    def run_folder(self, name: str) -> Path:
        """Return a new folder for the logs and samples of one run.

        Where ``name`` is taken, by an earlier session or by one that was killed, a number is added: what is
        on disk is never touched.

        Raises:
            ScratchError: it cannot be made.
        """
        if self.keep is None:
            return self.scratch.new_folder(name)
        runs = self.keep / "runs"
        try:
            runs.mkdir(parents=True, exist_ok=True)
            return next(filter(_make, _names(runs / name)))
        except OSError as error:
            raise ScratchError(
                f"The folder {runs / name} for logs and samples cannot be made: {error.strerror}."
            ) from error


def _names(first: Path) -> Iterator[Path]:
    yield first
    yield from (first.with_name(f"{first.name}.{number}") for number in itertools.count(2))


def _make(folder: Path) -> bool:
    """Make a folder; return whether it was not there before."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        return True
    return False


@contextlib.contextmanager
def open_session(watcher: Watcher | None = None, keep: Path | None = None) -> Iterator[Session]:
    """Open a session; at its end no process and no temporary file of it is left.

    Raises:
        ScratchError: no temporary folder can be written.
    """
    with watch_interrupts() as interrupts, Scratch() as scratch:
        yield Session(scratch, interrupts, watcher or SilentWatcher(), keep)
