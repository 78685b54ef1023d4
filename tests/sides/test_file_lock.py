"""Locks end with their holder, and say who it is."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdyno.sides.file_lock import FileLock, LockMode
from envdyno.sides.problems import SideError

HOLDER = """
import sys
from pathlib import Path
from envdyno.sides.file_lock import FileLock, LockMode
lock = FileLock(Path(sys.argv[1]))
lock.acquire(LockMode.EXCLUSIVE, "holding it in a test")
print("held", flush=True)
sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_an_exclusive_lock_keeps_others_out_and_names_its_holder(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        lock = FileLock(tmp_path / "lock")
        assert not lock.try_acquire(LockMode.EXCLUSIVE)
        assert not lock.try_acquire(LockMode.SHARED)
        found = lock.holder()
        assert found is not None
        assert found.pid == process.pid
        assert "holding it in a test" in str(found)
        process.kill()


def test_a_lock_ends_when_its_holder_is_killed(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    process.kill()
    process.communicate()
    lock = FileLock(tmp_path / "lock")
    assert lock.try_acquire(LockMode.EXCLUSIVE)
    lock.release()


def test_shared_holders_stand_side_by_side_and_keep_exclusive_ones_out(tmp_path: Path) -> None:
    first, second, third = (FileLock(tmp_path / "lock") for _ in range(3))
    assert first.try_acquire(LockMode.SHARED)
    assert second.try_acquire(LockMode.SHARED)
    assert not third.try_acquire(LockMode.EXCLUSIVE)
    first.release()
    second.release()
    assert third.try_acquire(LockMode.EXCLUSIVE)
    third.release()


def test_waiting_ends_at_its_time_and_tells_once_who_is_waited_for(tmp_path: Path) -> None:
    first = FileLock(tmp_path / "lock")
    first.try_acquire(LockMode.EXCLUSIVE, "first")
    told = []
    assert not FileLock(tmp_path / "lock").acquire(LockMode.EXCLUSIVE, timeout_s=0.2, on_wait=told.append)
    assert [holder.purpose for holder in told] == ["first"]
    first.release()


def test_a_lock_on_a_file_that_was_removed_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = FileLock(path)
    first.try_acquire(LockMode.EXCLUSIVE)
    path.unlink()
    second, third = FileLock(path), FileLock(path)
    assert second.try_acquire(LockMode.EXCLUSIVE)
    assert not third.try_acquire(LockMode.EXCLUSIVE)
    first.release()
    second.release()


def test_a_file_that_is_replaced_before_it_is_locked_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    path.touch()
    real = fcntl.flock
    replaced = []

    def flock(fd: int, operation: int) -> None:
        if not replaced:
            path.unlink()
            path.touch()
            replaced.append(path)
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    first, second = FileLock(path), FileLock(path)
    assert first.try_acquire(LockMode.EXCLUSIVE)
    assert not second.try_acquire(LockMode.EXCLUSIVE)
    first.release()


def test_children_of_the_holder_do_not_keep_the_lock(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    lock.try_acquire(LockMode.EXCLUSIVE)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        lock.release()
        again = FileLock(tmp_path / "lock")
        assert again.try_acquire(LockMode.EXCLUSIVE)
        again.release()
        child.kill()


def test_a_link_in_the_place_of_the_lock_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(SideError, match="symbolic links"):
        FileLock(tmp_path / "lock").try_acquire(LockMode.EXCLUSIVE)
    assert (tmp_path / "target").read_text() == "precious"


def test_a_note_by_others_cannot_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(
        '{"pid": 1, "host": "h", "user": "u", "since": "s", "purpose": "\\u001b[2Jgone"}'
    )
    assert "\x1b" not in str(FileLock(tmp_path / "lock").holder())


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": 1}', '{"pid": "x", "host": 1}'])
def test_a_note_that_cannot_be_read_is_no_holder(tmp_path: Path, note: str) -> None:
    (tmp_path / "lock").write_text(note)
    assert FileLock(tmp_path / "lock").holder() is None


def test_a_machine_wide_lock_file_can_be_written_by_all(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        lock = FileLock(tmp_path / "lock", file_mode=0o666)
        lock.try_acquire(LockMode.EXCLUSIVE)
        lock.release()
    finally:
        os.umask(before)
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666
