from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envdyno.launch import reaping
from envdyno.launch.reaping import TOKEN_VARIABLE, end_processes, processes_of

Start = Callable[..., int]
SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def token() -> str:
    """A run's mark."""
    return uuid.uuid4().hex


@pytest.fixture
def start(token: str) -> Iterator[Start]:
    """Start a process that bears the run's mark; collected by nobody but the code under test."""
    started: list[int] = []

    def start_one(program: str = SLEEP, mark: str = token) -> int:
        environ = {**os.environ, TOKEN_VARIABLE: mark}
        read_fd, write_fd = os.pipe()
        os.set_inheritable(write_fd, True)
        ready = f"import os; os.write({write_fd}, b'!')\n"
        pid = os.posix_spawn(sys.executable, [sys.executable, "-c", ready + program], environ)
        os.close(write_fd)
        assert os.read(read_fd, 1) == b"!", "the process has begun"
        os.close(read_fd)
        started.append(pid)
        return pid

    yield start_one
    for pid in started:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def process(proc: Path, pid: int, environ: bytes, cmdline: bytes = b"") -> None:
    """Write a process of a fake procfs."""
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "environ").write_bytes(environ)
    (folder / "cmdline").write_bytes(cmdline)


def test_processes_are_known_by_the_mark_in_their_environment(tmp_path: Path) -> None:
    mark = f"{TOKEN_VARIABLE}=abc".encode()
    process(tmp_path, 30, b"HOME=/\0" + mark + b"\0A=b\0")
    process(tmp_path, 7, mark)
    process(tmp_path, 8, mark + b"def\0")  # another run, whose mark begins alike
    process(tmp_path, 9, b"X" + mark)
    process(tmp_path, 10, b"")  # a zombie
    process(tmp_path, os.getpid(), mark)
    (tmp_path / "self").mkdir()
    (tmp_path / "11").mkdir()  # gone, or somebody else's
    assert processes_of("abc", str(tmp_path)) == [7, 30]
    assert processes_of("abc", str(tmp_path / "none")) == []


def test_the_tracker_of_shared_memory_is_known_by_its_command(tmp_path: Path) -> None:
    process(tmp_path, 5, b"", b"python\0-c\0from multiprocessing.resource_tracker import main;main(3)\0")
    process(tmp_path, 6, b"", b"python\0-c\0print('resource tracker')\0")
    assert reaping._is_resource_tracker(5, str(tmp_path))
    assert not reaping._is_resource_tracker(6, str(tmp_path))


def test_every_process_of_a_run_is_ended_and_no_other(token: str, start: Start) -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    mine = {start(), start(stubborn)}
    other = start(mark=token + "x")
    assert set(end_processes(token)) == mine
    assert processes_of(token) == []
    assert processes_of(token + "x") == [other]
    os.kill(other, 0)


def test_nothing_to_end_is_no_wait(token: str) -> None:
    assert end_processes(token, groups=[2**22 - 1]) == []


def test_orphans_that_process_one_inherited_do_not_stay_as_zombies(
    token: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container without an init, envdyno is process 1, and orphans are handed to it."""
    orphans = [start(), start()]
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert end_processes(token) == sorted(orphans)
    for orphan in orphans:
        with pytest.raises(ChildProcessError):
            os.waitpid(orphan, os.WNOHANG)


def test_the_file_runs_in_a_bare_interpreter_as_the_sentinel_needs_it() -> None:
    program = (
        "import runpy, sys; runpy.run_path(sys.argv[1]); print({'pathlib', 'psutil'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, reaping.__file__],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"
