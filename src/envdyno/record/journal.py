"""Records on disk: one JSON line a run, appended and flushed when the run ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from envdyno.record.run_record import RunRecord
from envdyno.record.strict_json import NotStrictJson, loads


class JournalError(ValueError):
    """A journal cannot be written or read; the text is a sentence for the user."""


class Journal:
    """An append-only file of records.

    Raises:
        JournalError: the file cannot be opened for appending. It is opened at once, so that this is known
            before anything is measured.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, and mend its end if a killed process left half a line there."""
        self.path = path
        try:
            self._file = path.open("a+b")
            self._mend_end()
        except OSError as error:
            raise JournalError(
                f"Records cannot be written to {path}: {error.strerror}. Choose another file or folder."
            ) from error

    def _mend_end(self) -> None:
        """Finish a whole last line that lacks its line feed; cut off half a line, which is no record."""
        self._file.seek(0)
        whole, feed, last = self._file.read().rpartition(b"\n")
        if not last:
            return
        try:
            loads(last.decode("utf-8"))
        except ValueError:
            self._file.truncate(len(whole) + len(feed))
        else:
            self._file.write(b"\n")
            self._file.flush()

    def append(self, record: RunRecord) -> None:
        """Write one record and see it onto the disk.

        Raises:
            JournalError: the disk is full or gone. Earlier records are not touched.
        """
        try:
            self._file.write(record.to_line().encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise JournalError(f"A record cannot be written to {self.path}: {error.strerror}.") from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_journal(path: Path) -> Iterator[RunRecord]:
    """Yield the records of a journal in the order in which they were written.

    A torn last line, as a killed process leaves, is passed over; a broken line before it is not.

    Raises:
        JournalError: the file cannot be read, or holds something that is no record.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise JournalError(f"Records cannot be read from {path}: {error}.") from error
    *whole, last = text.split("\n")
    for number, line in enumerate([*whole, last], 1):
        if not line.strip():
            continue
        try:
            yield RunRecord.model_validate(loads(line))
        except (NotStrictJson, ValidationError) as error:
            if number == len(whole) + 1:
                return
            raise JournalError(f"Line {number} of {path} is no run record: {error}") from error
