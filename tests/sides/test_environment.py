"""Isolated environments from requirement texts, built once, with uv and with pip."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides import environment as module
from envdyno.sides.environment import EnvironmentRecipe, Sharing
from envdyno.sides.interpreter import Interpreter, describe
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.request import Requirements
from envdyno.sides.requirement_text import read_requirements
from envdyno.sides.store import Store


@pytest.fixture(scope="module")
def base() -> Interpreter:
    return describe(Path(sys.executable), os.environ).interpreter


def recipe(folder: Path, base: Interpreter, *lines: str, **more: Any) -> EnvironmentRecipe:
    text = read_requirements(Requirements(("--no-index", "--find-links wheels", *lines)), folder)
    return EnvironmentRecipe(text, True, base, folder / "build.log", **more)


def run(python: Path, code: str) -> str:
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_an_environment_has_what_was_asked_for_and_is_built_once(
    workshop: Any, uv: Path, base: Interpreter, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.4.0", requires=("part>=1",))
    workshop.wheel("part", "1.0")
    wanted = recipe(tmp_path, base, "engine==1.4.0")
    store = Store(tmp_path / "cache")
    with ExitStack() as leases:
        first = store.lease(wanted, leases)
        second = store.lease(wanted, leases)
        python = wanted.python(first.path)
        assert run(python, "import engine, part; print(engine.VERSION)") == "1.4.0"
    assert first.generation == second.generation
    assert first.facts["installer"] == "uv"
    assert set(describe(python, os.environ).packages.versions) == {"engine", "part"}


def test_dependencies_can_be_left_out(workshop: Any, uv: Path, base: Interpreter, tmp_path: Path) -> None:
    workshop.wheel("engine", "1.4.0", requires=("absent>=1",))
    text = recipe(tmp_path, base, "engine").requirements
    wanted = EnvironmentRecipe(text, False, base, tmp_path / "build.log")
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    assert set(describe(wanted.python(entry.path), os.environ).packages.versions) == {"engine"}


def test_constraints_hold(workshop: Any, uv: Path, base: Interpreter, tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        workshop.wheel("engine", version)
    (tmp_path / "limits.txt").write_text("engine<2\n")
    wanted = recipe(tmp_path, base, "engine", "-c limits.txt")
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    assert describe(wanted.python(entry.path), os.environ).packages.versions == {"engine": "1.0"}


def test_what_cannot_be_installed_is_an_error_with_the_installers_words_and_leaves_nothing(
    workshop: Any, uv: Path, base: Interpreter, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.0")
    wanted = recipe(tmp_path, base, "engine==9")
    with ExitStack() as leases, pytest.raises(SideError, match="engine==9") as caught:
        Store(tmp_path / "cache").lease(wanted, leases)
    assert caught.value.problem is SideProblem.REQUIREMENTS
    assert str(tmp_path / "build.log") in str(caught.value)
    assert not (tmp_path / "cache" / "environments" / wanted.key).exists()


def test_an_environment_into_which_something_was_installed_is_built_anew(
    workshop: Any, uv: Path, base: Interpreter, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.0")
    wanted = recipe(tmp_path, base, "engine")
    told: list[str] = []
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    workshop.install(wanted.python(entry.path), "intruder", "1.0")
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache", told.append).lease(wanted, leases)
    assert describe(wanted.python(entry.path), os.environ).packages.versions == {"engine": "1.0"}
    assert "packages in it were changed" in told[0]


def test_an_environment_whose_interpreter_is_gone_is_built_anew(
    workshop: Any, uv: Path, base: Interpreter, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.0")
    wanted = recipe(tmp_path, base)
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    wanted.python(entry.path).unlink()
    assert wanted.fault(entry.path, entry.facts) == "the interpreter that it was made from is gone"


def test_two_preparations_at_once_build_it_once(
    workshop: Any, uv: Path, base: Interpreter, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.0")
    wanted = recipe(tmp_path, base, "engine")
    generations = []

    def prepare() -> None:
        with ExitStack() as leases:
            generations.append(Store(tmp_path / "cache").lease(wanted, leases).generation)

    threads = [threading.Thread(target=prepare) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(generations)) == 1


def test_the_callers_settings_do_not_install_into_another_place(
    workshop: Any, uv: Path, base: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.wheel("engine", "1.0")
    for name in ("PIP_TARGET", "UV_TARGET", "PYTHONPATH"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    wanted = recipe(tmp_path, base, "engine")
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    assert not (tmp_path / "elsewhere").exists()
    assert "engine" in describe(wanted.python(entry.path), {}).packages.versions


@pytest.mark.slow
def test_without_uv_pip_builds_the_same(
    workshop: Any, base: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_uv", lambda: None)
    workshop.wheel("engine", "1.0", requires=("part",))
    workshop.wheel("part", "1.0")
    wanted = recipe(tmp_path, base, "engine")
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    assert entry.facts["installer"] == "pip"
    found = describe(wanted.python(entry.path), os.environ).packages.versions
    assert {"engine", "part"} <= set(found)


def test_an_interpreter_that_can_make_no_environment_says_what_to_install(
    base: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_uv", lambda: None)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho No module named ensurepip; exit 1\n")
    broken.chmod(0o755)
    (tmp_path / "wheels").mkdir()
    wanted = recipe(tmp_path, base)
    wanted = EnvironmentRecipe(
        wanted.requirements, True, Interpreter(**{**vars(base), "path": broken}), wanted.log
    )
    with ExitStack() as leases, pytest.raises(SideError, match="python3-venv"):
        Store(tmp_path / "cache").lease(wanted, leases)


def test_the_key_follows_all_that_decides_the_content(
    workshop: Any, base: Interpreter, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.0")
    first = recipe(tmp_path, base, "engine")
    others = [
        recipe(tmp_path, base, "engine==1.0"),
        recipe(tmp_path, Interpreter(**{**vars(base), "version": "3.99.0"}), "engine"),
        recipe(tmp_path, Interpreter(**{**vars(base), "platform": "linux-aarch64"}), "engine"),
        EnvironmentRecipe(first.requirements, False, base, first.log),
        recipe(tmp_path, base, "engine", sharing=Sharing.PRIVATE, owner="a"),
        recipe(tmp_path, base, "engine", sharing=Sharing.PRIVATE, owner="b"),
    ]
    assert len({first.key, *(other.key for other in others)}) == len(others) + 1
    assert recipe(tmp_path, base, "engine").key == first.key


@pytest.mark.slow
def test_a_package_comes_from_the_index(
    base: Interpreter, uv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_OFFLINE")
    text = read_requirements(Requirements(("iniconfig==2.0.0",)), tmp_path)
    wanted = EnvironmentRecipe(text, True, base, tmp_path / "build.log")
    with ExitStack() as leases:
        entry = Store(tmp_path / "cache").lease(wanted, leases)
    assert describe(wanted.python(entry.path), os.environ).packages.versions == {"iniconfig": "2.0.0"}
