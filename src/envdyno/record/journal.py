"""Records on disk: one JSON line a run, appended and flushed when the run ends."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from envdyno.record.fault_text import fault_text
from envdyno.record.model import ENCODABLE, encodable
from envdyno.record.run_record import RunRecord
from envdyno.record.strict_json import NotStrictJson, loads

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class JournalError(ValueError):
    """A journal cannot be written or read; the text is a sentence for the user."""


class Journal:
    """An append-only file of records.

    A record is either wholly in the file or not at all: what a full disk let through of a line is cut off
    again at once, and what a killed process left of one when the file is opened next.

    Raises:
        JournalError: the file cannot be opened for appending. It is opened at once, so that this is known
            before anything is measured.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, and mend its end if a killed process left half a line there."""
        self.path = path
        self._fd = -1
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self._is_file = stat.S_ISREG(os.fstat(self._fd).st_mode)
            if self._is_file:
                self._mend_end()
        except OSError as error:
            self.close()
            raise JournalError(
                f"Records cannot be written to {path}: {error.strerror}. Choose another file or folder."
            ) from error

    def _mend_end(self) -> None:
        """Finish a whole last line that lacks its line feed; cut off half a line, which is no record.

        Raises:
            JournalError: the file holds something else, which is left as it is.
        """
        content = self.path.read_bytes()
        whole, feed, last = content.rpartition(b"\n")
        if not {content.lstrip()[:1], last[:1]} <= {b"", b"{"}:
            self.close()
            raise JournalError(
                f"Records cannot be written to {self.path}: it holds something else than records. "
                "Choose another file."
            )
        if not last:
            return
        try:
            loads(last.decode("utf-8"))
        except ValueError:
            os.ftruncate(self._fd, len(whole) + len(feed))
        else:
            _write_all(self._fd, b"\n")

    def append(self, record: RunRecord) -> None:
        """Write one record and see it onto the disk.

        Raises:
            JournalError: the disk is full or gone. Earlier records are not touched.
        """
        end = os.fstat(self._fd).st_size
        try:
            _write_all(self._fd, record.to_line().encode() + b"\n")
            if self._is_file:
                os.fsync(self._fd)
        except OSError as error:
            if self._is_file:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, end)
            raise JournalError(
                f"A record cannot be written to {self.path}: {error.strerror}. Earlier records are safe."
            ) from error

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _write_all(fd: int, data: bytes) -> None:
    """Write every byte; a signal or a nearly full disk may make a write shorter than asked."""
    while data:
        data = data[os.write(fd, data) :]


def read_journal(path: Path) -> Iterator[RunRecord]:
    """Yield the records of a journal in the order in which they were written.

    A torn last line, as a killed process leaves, is passed over; a broken line before it is not.

    Raises:
        JournalError: the file cannot be read, or holds something that is no record.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"Records cannot be read from {path}: {error.strerror}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            body = loads(line.decode("utf-8"))
            # Text that was read as UTF-8 holds half a surrogate pair only where an escape puts it there.
            body = encodable(body) if _SURROGATE.search(line) else body
            yield RunRecord.model_validate(body, context=ENCODABLE)
        except (UnicodeDecodeError, NotStrictJson, ValidationError) as error:
            if number == len(lines) and not isinstance(error, ValidationError):
                return
            raise JournalError(f"Line {number} of {path} is no run record. {fault_text(error)}") from error
