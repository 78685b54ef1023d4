from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdyno.launch.reaping import TOKEN_VARIABLE
from envdyno.launch.sentinel import Sentinel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A scratch folder with something in it."""
    path = tmp_path / "scratch"
    path.mkdir()
    (path / "worker-0.log").write_text("x")
    return path


def test_a_sentinel_that_is_dismissed_touches_nothing(folder: Path) -> None:
    sentinel = Sentinel("no-such-run", folder)
    sentinel.dismiss()
    assert (folder / "worker-0.log").exists()
    assert sentinel._process.returncode == 0


def test_a_sentinel_whose_control_is_gone_ends_the_run_and_removes_its_folder(folder: Path) -> None:
    environ = {**os.environ, TOKEN_VARIABLE: "a-run-of-this-test"}
    sentinel = Sentinel("a-run-of-this-test", folder)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=environ) as left:
        os.close(sentinel._write_fd)  # as the kernel does for a control that was killed
        assert left.wait() == -9
    sentinel._process.wait()
    assert not folder.exists()


def test_dismissing_a_sentinel_that_was_killed_is_no_error(folder: Path) -> None:
    sentinel = Sentinel("no-such-run", folder)
    sentinel._process.kill()
    sentinel._process.wait()
    sentinel.dismiss()
    assert folder.exists()


def open_descriptors() -> set[int]:
    """File descriptors of this process."""
    found = set()
    for fd in range(256):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            found.add(fd)
    return found


def test_a_sentinel_that_cannot_be_started_leaks_no_pipe(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **how: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    before = open_descriptors()
    with pytest.raises(OSError, match="temporarily unavailable"):
        Sentinel("no-such-run", folder)
    assert open_descriptors() == before


def test_the_children_of_workers_do_not_hold_the_sentinels_pipe(folder: Path) -> None:
    sentinel = Sentinel("no-such-run", folder)
    assert not os.get_inheritable(sentinel._write_fd)
    sentinel.dismiss()
