from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from envdyno.launch import scratch
from envdyno.launch.reaping import TOKEN_VARIABLE, processes_of
from envdyno.launch.scratch import AGENT_PARTS, Scratch, ScratchError


class QuietSentinel:
    """Stands in for the sentinel's process."""

    def __init__(self, token: str, folder: Path) -> None:
        self.folder_was_there_at_the_end: bool | None = None
        self._folder = folder

    def dismiss(self) -> None:
        self.folder_was_there_at_the_end = self._folder.exists()


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Temporary files go to a folder of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sentinel process is started."""
    monkeypatch.setattr(scratch, "Sentinel", QuietSentinel)


def test_a_session_has_a_folder_that_is_gone_afterwards(quiet: None, tmp_path: Path) -> None:
    with Scratch() as session:
        folder = session.new_folder("run-0001")
        (folder / "worker-0.log").write_text("x")
        assert session.folder.parent == tmp_path
        assert folder.parent == session.folder
    assert list(tmp_path.iterdir()) == []
    assert session._sentinel.folder_was_there_at_the_end is False, "the sentinel is dismissed last"  # type: ignore[attr-defined]


def test_a_folder_is_gone_also_when_the_session_fails(quiet: None, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Scratch():
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_no_two_sessions_share_a_mark_or_a_folder(quiet: None) -> None:
    with Scratch() as first, Scratch() as second:
        assert first.token != second.token
        assert first.folder != second.folder


def test_only_the_agent_is_on_the_path_of_a_worker(quiet: None) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import envdyno.agent.protocol;"
        "import importlib.util as u;"
        "parts = ('cli', 'host', 'launch', 'experiment', 'record', 'plan', 'judge');"
        "print([part for part in parts if u.find_spec('envdyno.' + part)])"
    )
    with Scratch() as session:
        assert {path.name for path in (session.agent_path / "envdyno").iterdir()} == set(AGENT_PARTS)
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program, str(session.agent_path)],
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == "[]\n"


def test_a_folder_that_cannot_be_made_is_a_sentence_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(ScratchError, match=r"No such file or directory.*set TMPDIR"):
        Scratch()


@pytest.mark.parametrize(
    ("part", "said"), [("Sentinel", "limits on processes"), ("AGENT_PARTS", "set TMPDIR")]
)
def test_a_start_that_fails_half_way_leaves_no_folder_and_says_what_failed(
    part: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(scratch, "Sentinel", refuse)
    if part == "AGENT_PARTS":
        monkeypatch.setattr(scratch, "AGENT_PARTS", ("agent", "agent"))
    with pytest.raises(ScratchError, match=said):
        Scratch()
    assert list(tmp_path.iterdir()) == []


def test_what_still_bears_the_mark_is_ended_with_the_session(quiet: None) -> None:
    with Scratch() as session:
        environ = {**os.environ, TOKEN_VARIABLE: session.token}
        left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=environ)
    assert left.wait() == -9
    assert processes_of(session.token) == []
