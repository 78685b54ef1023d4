"""One experiment at a time on a machine: two that run at once measure each other.

The lock is held with flock(2), so it ends with the process that holds it; there is no stale lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from envdyno.plan.quantities import format_duration
from envdyno.plan.usage_error import UsageError
from envdyno.sides.file_lock import FileLock, LockHolder, LockMode
from envdyno.sides.problems import SideError

_NAME = "envdyno-experiment.lock"
_FOLDERS = (Path("/run/lock"), Path("/var/lock"), Path("/tmp"))  # noqa: S108 - all users must find the same place
_ALL_USERS = 0o666


class ExperimentLocked(UsageError):
    """Another experiment runs on this machine."""

    def __init__(self, holder: LockHolder | None, waited_s: float) -> None:
        who = str(holder) if holder else "a process that left no note"
        waited = f" It still ran after {format_duration(waited_s)} of waiting." if waited_s else ""
        super().__init__(
            f"Another experiment runs on this machine ({who}), and two at once would measure each "
            f"other.{waited} Wait for it to end, let envdyno wait with --wait-idle, or end it."
        )
        self.holder = holder


@contextmanager
def experiment_lock(
    purpose: str,
    *,
    wait_s: float = 0.0,
    on_wait: Callable[[LockHolder | None], None] | None = None,
    path: Path | None = None,
) -> Iterator[None]:
    """Hold the machine's experiment lock during the block.

    Args:
        purpose: what is being done, shown to others who want the lock.
        wait_s: how long to wait for it.
        on_wait: called once, with the holder, if there is something to wait for.
        path: of the lock file; the machine's usual one if not given.

    Raises:
        ExperimentLocked: somebody else holds it.
        UsageError: the lock file cannot be used at all.
    """
    lock = FileLock(path or lock_path(), file_mode=_ALL_USERS)
    try:
        held = lock.acquire(
            LockMode.EXCLUSIVE, purpose, timeout_s=wait_s, on_wait=on_wait if wait_s else None
        )
    except SideError as error:
        raise UsageError(f"The experiment lock cannot be taken. {error}") from error
    if not held:
        raise ExperimentLocked(lock.holder(), wait_s)
    try:
        yield
    finally:
        lock.release()


def lock_path() -> Path:
    """Return the place of the lock file, the same for all users of the machine.

    It is where the file already is, else the first of the usual folders that can be written. Where an
    administrator, or a test, wants it elsewhere, ``ENVDYNO_LOCK_DIR`` names the folder.
    """
    if asked := os.environ.get("ENVDYNO_LOCK_DIR"):
        return Path(asked) / _NAME
    for folder in _FOLDERS:
        if (folder / _NAME).exists():
            return folder / _NAME
    for folder in _FOLDERS:
        if _can_write(folder):
            return folder / _NAME
    return _FOLDERS[-1] / _NAME


def _can_write(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK)
