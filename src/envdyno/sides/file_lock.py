"""Advisory locks on files that end with the process that holds them.

Built on flock(2): the kernel drops the lock when the holder dies, however it dies, so there are no stale
locks to recognise and nothing to clean up.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any

from envdyno.sides.problems import SideError, SideProblem

_NOTE_BYTES = 4096
_POLL_S = 0.05


class LockMode(str, Enum):
    """How a lock is held."""

    SHARED = "shared"
    """Many holders at once; keeps exclusive holders out."""
    EXCLUSIVE = "exclusive"


@dataclass(frozen=True)
class LockHolder:
    """Who holds a lock, as the holder itself noted in the file."""

    pid: int
    host: str
    user: str
    since: str
    """UTC, ISO 8601."""
    purpose: str

    @classmethod
    def here(cls, purpose: str) -> LockHolder:
        """Describe this process."""
        return cls(
            pid=os.getpid(),
            host=socket.gethostname(),
            user=os.environ.get("USER") or str(os.getuid()),
            since=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            purpose=purpose,
        )

    def __str__(self) -> str:
        return f"process {self.pid} of user {self.user} on {self.host}, since {self.since}: {self.purpose}"


class FileLock:
    """One lock file. Not reentrant; one instance is used by one thread."""

    def __init__(self, path: Path, *, file_mode: int = 0o600) -> None:
        """Lock ``path``, which is made with ``file_mode`` if it is missing and never removed."""
        self.path = path
        self._file_mode = file_mode
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        """Whether this instance holds the lock."""
        return self._fd is not None

    def try_acquire(self, mode: LockMode, purpose: str = "") -> bool:
        """Take the lock if it is free now. An exclusive holder notes ``purpose`` for others to read.

        Raises:
            SideError: the file cannot be made, or its file system has no locks.
        """
        import fcntl

        operation = fcntl.LOCK_SH if mode is LockMode.SHARED else fcntl.LOCK_EX
        while True:
            fd = self._open()
            try:
                fcntl.flock(fd, operation | fcntl.LOCK_NB)
            except OSError as error:
                os.close(fd)
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    return False
                raise SideError(
                    SideProblem.CACHE,
                    f"The file {self.path} cannot be locked ({error.strerror}). Its file system may have no "
                    "locks; set ENVDYNO_CACHE_DIR to a folder on a local disk.",
                ) from error
            if self._is_current(fd):
                break
            os.close(fd)  # the file was replaced between open and flock: that lock would guard nothing
        self._fd = fd
        if mode is LockMode.EXCLUSIVE:
            self._write_note(LockHolder.here(purpose))
        return True

    def acquire(
        self,
        mode: LockMode,
        purpose: str = "",
        *,
        timeout_s: float | None = None,
        on_wait: Callable[[LockHolder | None], None] | None = None,
    ) -> bool:
        """Take the lock, waiting up to ``timeout_s`` (``None``: as long as it takes).

        Args:
            mode: shared or exclusive.
            purpose: what an exclusive holder does, for others to read.
            timeout_s: seconds to wait at most.
            on_wait: called once, with the present holder, when there is something to wait for.

        Returns:
            Whether the lock is held now.
        """
        give_up = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.try_acquire(mode, purpose):
            if on_wait is not None:
                on_wait(self.holder())
                on_wait = None
            if give_up is not None and time.monotonic() >= give_up:
                return False
            time.sleep(_POLL_S)
        return True

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def holder(self) -> LockHolder | None:
        """Return the note of the last exclusive holder, or ``None`` when there is none that can be read."""
        try:
            with self.path.open("rb") as file:
                body: Any = json.loads(file.read(_NOTE_BYTES))
            return LockHolder(
                pid=int(body["pid"]),
                **{name: _printable(body[name]) for name in ("host", "user", "since", "purpose")},
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _open(self) -> int:
        try:
            return self._open_or_make()
        except OSError as error:
            raise SideError(
                SideProblem.CACHE,
                f"The lock file {self.path} cannot be used ({error.strerror}). Set ENVDYNO_CACHE_DIR to a "
                "folder that can be written.",
            ) from error

    def _open_or_make(self) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            # A file of another user in a sticky folder must be opened without O_CREAT
            # (proc(5), fs.protected_regular), so creating comes second.
            return os.open(self.path, flags)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except PermissionError:
            return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fd = os.open(self.path, flags | os.O_CREAT | os.O_EXCL, self._file_mode)
        except FileExistsError:
            return os.open(self.path, flags)
        os.fchmod(fd, self._file_mode)  # the umask must not keep other users out of a machine-wide lock
        return fd

    def _is_current(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), self.path.stat())
        except FileNotFoundError:
            return False

    def _write_note(self, holder: LockHolder) -> None:
        assert self._fd is not None
        note = json.dumps(asdict(holder)).encode()[:_NOTE_BYTES]
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, note, 0)
        except OSError:
            return  # another user's file: the lock holds, only the note is missing


def _printable(value: object) -> str:
    """Keep what others wrote from steering a terminal."""
    return "".join(character if character.isprintable() else "?" for character in str(value))[:500]
