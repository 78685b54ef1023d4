"""One session of measuring: scratch folder, signals, watcher, and where records and samples go."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envdyno.agent.stages import Stage
from envdyno.launch.conductor import Watcher
from envdyno.launch.interrupts import Interrupts, watch_interrupts
from envdyno.launch.scratch import Scratch


class SilentWatcher:
    """Follows a run without a word."""

    def stage(self, worker: int, stage: Stage) -> None:
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

    def run_folder(self, run_id: str) -> Path:
        """Return a new folder for the logs and samples of one run."""
        if self.keep is None:
            return self.scratch.new_folder(run_id)
        folder = self.keep / "runs" / run_id
        folder.mkdir(parents=True)
        return folder


@contextlib.contextmanager
def open_session(watcher: Watcher | None = None, keep: Path | None = None) -> Iterator[Session]:
    """Open a session; at its end no process and no temporary file of it is left.

    Raises:
        ScratchError: no temporary folder can be written.
    """
    with watch_interrupts() as interrupts, Scratch() as scratch:
        yield Session(scratch, interrupts, watcher or SilentWatcher(), keep)
