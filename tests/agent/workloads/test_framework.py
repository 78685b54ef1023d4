"""A framework that is missing, too old or broken is told in one clear sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envdyno.agent.workloads.framework import Framework, import_user_module, split_target
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.requirement import Requirement

SIMS = Framework("sims", "madeup_sims", (Requirement("madeup-sims", "1.10"),), "pip install madeup-sims")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages with a distribution ``madeup-sims`` in it, version to be written."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


def install(folder: Path, version: str, source: str) -> None:
    info = folder / f"madeup_sims-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: madeup-sims\nVersion: {version}\n")
    (folder / "madeup_sims.py").write_text(source)


def test_a_missing_framework_is_named_with_the_line_that_installs_it(installed: Path) -> None:
    with pytest.raises(WorkloadError, match=r"sims needs madeup-sims, .* pip install madeup-sims") as caught:
        SIMS.load()
    assert sys.executable in str(caught.value)


@pytest.mark.parametrize("version", ["1.9", "1.9.7", "1.9rc1", "0.99.3"])
def test_a_framework_that_is_too_old_is_named_with_both_versions(version: str, installed: Path) -> None:
    install(installed, version, "")
    with pytest.raises(WorkloadError, match=rf"1\.10 or newer, and {version} is installed"):
        SIMS.load()


def test_what_is_stepped_beside_the_framework_may_be_too_old_as_well(installed: Path) -> None:
    install(installed, "1.9", "")
    beside = Framework("wrapper", "json", (Requirement("pytest"), *SIMS.requires), "pip install sims")
    with pytest.raises(WorkloadError, match=r"wrapper needs madeup-sims 1\.10 or newer, and 1\.9 is"):
        beside.load()


@pytest.mark.parametrize("version", ["1.10", "1.10.0", "1.11.dev3", "2", "10.0+cpu"])
def test_a_framework_that_is_new_enough_is_imported(version: str, installed: Path) -> None:
    install(installed, version, "ANSWER = 42\n")
    assert SIMS.load().ANSWER == 42


def test_a_framework_that_breaks_at_import_is_told_with_the_place_and_the_cause(installed: Path) -> None:
    install(installed, "1.10", "x = 1\nimport no_such_dependency\n")
    with pytest.raises(WorkloadError, match=r"importing 'madeup_sims' fails with ModuleNotFoundError: .*:2"):
        SIMS.load()


def test_a_library_that_cannot_be_loaded_is_a_framework_that_is_broken(installed: Path) -> None:
    install(installed, "1.10", "raise OSError('libGL.so.1: cannot open shared object file')\n")
    with pytest.raises(WorkloadError, match="libGL") as caught:
        SIMS.load()
    assert isinstance(caught.value.__cause__, OSError)


def test_a_module_that_this_version_has_not_is_named(installed: Path) -> None:
    install(installed, "1.10", "")
    with pytest.raises(WorkloadError, match=r"'madeup_sims.vector', which madeup-sims 1\.10 does not have"):
        SIMS.load("madeup_sims.vector")


def test_a_module_of_the_users_that_is_not_there_is_named(installed: Path) -> None:
    with pytest.raises(WorkloadError, match="no module 'my_robots'"):
        import_user_module("sims", "my_robots.tasks")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_dependency\n", r"No module named 'no_such_dependency' \(at .*robots\.py:1\)"),
        ("\nx = 1 / 0\n", r"ZeroDivisionError: division by zero \(at .*robots\.py:2\)"),
        ("def f():\n    return (\n", r"SyntaxError: .* \(at .*robots\.py:2\)"),
        ("raise SystemExit\n", r"SystemExit \(at .*robots\.py:1\)"),
    ],
)
def test_a_module_of_the_users_that_fails_at_import_is_told_with_the_place_and_the_cause(
    text: str, said: str, installed: Path
) -> None:
    (installed / "my_broken_robots.py").write_text(text)
    with pytest.raises(WorkloadError, match=f"import 'my_broken_robots' first, which fails with .*{said}"):
        import_user_module("sims", "my_broken_robots")


@pytest.mark.parametrize(
    ("target", "parts"),
    [("Ant-v5", (None, "Ant-v5")), ("my.envs:Ant-v5", ("my.envs", "Ant-v5")), ("ns/Env", (None, "ns/Env"))],
)
def test_a_target_may_name_a_module_to_import_first(target: str, parts: tuple[str | None, str]) -> None:
    assert split_target(target) == parts
