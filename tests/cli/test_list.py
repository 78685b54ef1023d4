from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from registered_package import POINTS, install_package

from envdyno.cli.main import run_command


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers workloads, for this process and for those that it starts."""
    install_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run_command(["list", *arguments]) == 0
    return capsys.readouterr().out


def test_families_and_broken_entry_points_are_listed_as_such(
    package: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [json.loads(line) for line in listed(capsys, "--json").splitlines()]
    found = {entry["name"]: entry for entry in entries if entry["group"] == "installed"}
    assert set(found) == set(POINTS) - {"fam", "either"} | {"fam:TARGET", "either:TARGET"}
    broken = {name for name, entry in found.items() if entry["broken"]}
    assert broken == {"gone", "breaks", "exits", "no_factory", "no name", "synthetic"}
    assert "is the one that runs" in found["synthetic"]["broken"]
    text = listed(capsys)
    assert "broken: 'breaks' cannot be had" in text
    assert "printed at import" not in text
    assert all(len(line) <= 80 or str(tmp_path) in line for line in text.splitlines())


@pytest.mark.parametrize("more", [(), ("--verbose",)])
def test_the_interpreter_that_was_looked_at_is_named(
    more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    first = listed(capsys, "--python", sys.executable, *more).splitlines()[0]
    assert first.startswith("Python 3.")
    assert first.endswith(f" at {sys.executable}")
    assert listed(capsys, "--verbose").splitlines()[0] == first


def test_a_family_of_an_entry_point_can_be_run(
    package: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["run", "--num-envs", "2", "--duration", "0.05s", "--warmup", "0"]
    assert run_command([*run, "fam:small"]) == 0
    assert capsys.readouterr().err.startswith("fam:small ")
    assert run_command([*run, "fam"]) == 2
    assert "opens a family" in capsys.readouterr().err


def test_a_name_that_only_envdynos_own_interpreter_knows_is_refused_before_anything_starts(
    package: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH")
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    for name in ("fam:small", "one"):
        assert run_command(["run", name, "--python", str(other)]) == 2
        said = capsys.readouterr().err
        assert f"has no entry point '{name.partition(':')[0]}'" in " ".join(said.split())
        assert "Did you mean" not in said
