from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import hand_made_run
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.launch.run_record import make_record
from envdyno.record.journal import Journal, JournalError, read_journal
from envdyno.record.run_record import RunRecord

ONE = make_record(hand_made_run.outcome(), ("envdyno", "run", "é×µ"))
TWO = make_record(hand_made_run.failed_outcome(), ("envdyno", "run"))
LINES = [f"{record.to_line()}\n".encode() for record in (ONE, TWO)]


def write(path: Path, *records: RunRecord) -> None:
    """Append records as a session does."""
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()


def test_records_are_read_back_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, ONE, TWO)
    write(path, ONE)
    assert list(read_journal(path)) == [ONE, TWO, ONE]
    assert path.read_bytes() == LINES[0] + LINES[1] + LINES[0]


def test_a_record_is_on_the_disk_when_it_has_been_appended(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    journal = Journal(path)
    journal.append(ONE)
    assert list(read_journal(path)) == [ONE]
    journal.close()


@settings(max_examples=40)
@given(st.integers(0, len(LINES[1]) - 2))
def test_a_line_torn_anywhere_is_passed_over_and_cut_off_before_the_next(cut: int) -> None:
    """As a killed process leaves it; also in the middle of a character of several bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.jsonl")
        path.write_bytes(LINES[0] + LINES[1][:cut])
        assert list(read_journal(path)) == [ONE]
        write(path, TWO)
        assert path.read_bytes() == LINES[0] + LINES[1]


def test_a_line_torn_in_the_middle_of_a_character_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    inside = LINES[0].index("é".encode()) + 1
    path.write_bytes(LINES[1] + LINES[0][:inside])
    assert list(read_journal(path)) == [TWO]


def test_a_whole_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(LINES[0] + LINES[1][:-1])
    assert list(read_journal(path)) == [ONE, TWO]
    write(path, ONE)
    assert list(read_journal(path)) == [ONE, TWO, ONE]


@pytest.mark.parametrize("line", [b"{}\n", b'{"schema": "envdyno.run/9"}\n', b"half\n", b"\xff\n", b"[1]\n"])
def test_a_broken_line_before_the_end_is_named_by_its_number(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(LINES[0] + line + LINES[1])
    found = read_journal(path)
    assert next(found) == ONE
    with pytest.raises(JournalError, match=r"Line 2 of .*records\.jsonl is no run record"):
        next(found)


@pytest.mark.parametrize("line", [b"{}", b'{"schema": "envdyno.run/9", "run_id": "x"}'])
def test_a_last_line_that_is_whole_but_no_record_is_not_taken_for_a_torn_one(
    line: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(LINES[0] + line)
    found = read_journal(path)
    next(found)
    with pytest.raises(JournalError, match="Line 2"):
        next(found)


def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"shopping list\nmilk\nno line feed here")
    with pytest.raises(JournalError, match="holds something else than records"):
        Journal(path)
    assert path.read_bytes() == b"shopping list\nmilk\nno line feed here"


def test_empty_lines_and_an_empty_file_hold_no_records(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"")
    assert list(read_journal(path)) == []
    path.write_bytes(b"\n" + LINES[0] + b"\n \n")
    assert list(read_journal(path)) == [ONE]


def filling_up(room: int) -> Callable[[int, bytes], int]:
    """A disk with room for so many bytes: writes are cut short, and then refused."""
    left = [room]
    real = os.write

    def write_some(fd: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(fd, bytes(data)[: left[0]])
        left[0] -= written
        return written

    return write_some


@pytest.mark.parametrize("room", [0, 1, 100, len(LINES[1]) - 1])
def test_a_disk_that_fills_up_in_a_record_leaves_the_earlier_ones_whole(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "records.jsonl"
    journal = Journal(path)
    journal.append(ONE)
    with monkeypatch.context() as full:
        full.setattr(os, "write", filling_up(room))
        with pytest.raises(JournalError, match=r"records\.jsonl: No space left on device"):
            journal.append(TWO)
    assert path.read_bytes() == LINES[0]
    journal.append(TWO)
    journal.close()
    assert list(read_journal(path)) == [ONE, TWO]


def test_a_disk_that_cannot_keep_what_it_took_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal(tmp_path / "records.jsonl")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(JournalError, match="Input/output error"):
        journal.append(ONE)
    journal.close()
    assert (tmp_path / "records.jsonl").read_bytes() == b""


def test_a_device_that_is_always_full_is_neither_read_nor_hung_on() -> None:
    full = Path("/dev/full")
    if not full.exists() or not stat.S_ISCHR(full.stat().st_mode):
        pytest.skip("this system has no /dev/full")
    journal = Journal(full)
    with pytest.raises(JournalError, match="No space left on device"):
        journal.append(ONE)
    journal.close()


def test_a_pipe_takes_records_too(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    journal = Journal(path)
    journal.append(ONE)
    assert os.read(reader, 1 << 20) == LINES[0]
    journal.close()
    os.close(reader)


@pytest.mark.parametrize("place", ["", "none/records.jsonl"], ids=["a folder", "in no folder"])
def test_a_place_that_cannot_be_written_is_known_at_once(place: str, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"cannot be written to .*Choose another"):
        Journal(tmp_path / place)


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"cannot be read from .*none\.jsonl: No such file"):
        list(read_journal(tmp_path / "none.jsonl"))


def test_closing_twice_is_no_error(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "records.jsonl")
    journal.close()
    journal.close()
