"""Interpreters are found as the user wrote them, checked, and describe themselves."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.interpreter import describe, find_interpreter
from envdyno.sides.problems import SideError, SideProblem


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_without_a_wish_it_is_our_own(tmp_path: Path) -> None:
    assert find_interpreter(None, tmp_path) == Path(sys.executable)


def test_the_folder_of_an_environment_stands_for_its_interpreter(workshop: Any, tmp_path: Path) -> None:
    python = workshop.environment("env")
    assert find_interpreter("env", tmp_path) == python
    assert find_interpreter("env/bin/python", tmp_path) == python
    assert find_interpreter(str(python), Path("/")) == python


def test_the_path_of_an_environment_is_not_resolved_to_the_base(workshop: Any, tmp_path: Path) -> None:
    python = workshop.environment("env")
    found = describe(find_interpreter("env", tmp_path), os.environ)
    assert found.interpreter.path == python
    assert found.interpreter.prefix == str(tmp_path / "env")
    assert found.interpreter.is_virtual


def test_a_command_is_looked_up_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = script(tmp_path / "mypython", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_interpreter("mypython", Path("/")) == command


def test_a_version_is_found_by_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = script(tmp_path / "python3.12", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_interpreter("3.12", Path("/")) == command


def test_a_version_that_is_not_there_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("UV", "/nonexistent")
    with pytest.raises(SideError, match=r"uv python install 3\.99"):
        find_interpreter("3.99", Path("/"))


def test_what_is_no_interpreter_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    reasons = {
        "empty": "folder without bin/python",
        "./text": "not executable",
        "./absent": "does not exist",
        "./dangling": "a link to .*gone",
        "no-such-command": "neither a command nor a path",
    }
    for asked, reason in reasons.items():
        with pytest.raises(SideError, match=reason) as caught:
            find_interpreter(asked, tmp_path)
        assert caught.value.problem is SideProblem.INTERPRETER


def test_an_interpreter_describes_itself() -> None:
    found = describe(Path(sys.executable), os.environ).interpreter
    assert found.version == platform.python_version()
    assert found.implementation == "cpython"
    assert found.soabi
    assert not found.free_threaded


def test_what_site_customisation_prints_is_no_hindrance(workshop: Any) -> None:
    python = workshop.environment("env")
    site = workshop.install(python, "some-package", "1.0")
    (site / "sitecustomize.py").write_text("print('{\"hello\": 1}')\n")
    assert "some-package" in describe(python, os.environ).packages.versions


def test_the_packages_of_the_side_are_seen_and_ours_are_not(workshop: Any) -> None:
    python = workshop.environment("env")
    workshop.install(python, "Some.Package", "1.0")
    found = describe(python, os.environ).packages
    assert found.versions["some-package"] == "1.0"
    assert "pytest" not in found.versions


def test_folders_of_the_side_come_first(workshop: Any, tmp_path: Path) -> None:
    python = workshop.environment("env")
    workshop.install(python, "some-package", "1.0")
    info = tmp_path / "tree" / "some_package-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 2.0\n")
    found = describe(python, os.environ, [tmp_path / "tree"]).packages
    assert found.versions["some-package"] == "2.0"
    assert found.doubled == ()


def test_metadata_that_one_folder_holds_twice_is_noted(workshop: Any) -> None:
    python = workshop.environment("env")
    workshop.install(python, "some-package", "1.0")
    workshop.install(python, "some-package", "2.0")
    assert describe(python, os.environ).packages.doubled == ("some-package",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo I am no Python; exit 3", "exit code 3.*(?s:.)*I am no Python"),
        ("exit 0", "does not behave like a Python"),
    ],
)
def test_a_program_that_is_no_python_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SideError, match=reason):
        describe(script(tmp_path / "python", text), os.environ)


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    answer = '{"interpreter": {"version": "3.9.18"}, "markers": {}, "distributions": [], "user_site": null}'
    old = script(tmp_path / "python", f"echo \"$3\"'{answer}'")
    with pytest.raises(SideError, match=r"Python 3\.9\.18\. A side needs Python 3\.10"):
        describe(old, os.environ)


def test_a_python_that_cannot_even_read_the_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SideError, match=r"cannot read what Python 3\.10 can"):
        describe(script(tmp_path / "python", "echo SyntaxError: invalid syntax >&2; exit 1"), os.environ)


def test_a_file_that_cannot_be_executed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_bytes(b"\x7fELF garbage")
    path.chmod(0o755)
    with pytest.raises(SideError, match="cannot be started"):
        describe(path, os.environ)
