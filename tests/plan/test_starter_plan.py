"""The plan to start from fits the repository and can be read as it stands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from envdyno.plan.read_plan import load_plan
from envdyno.plan.starter_plan import starter_plan


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", str(folder), *settings, *arguments], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "My project"
    (folder / "src" / "my_envs").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "my-envs"\n')
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def loaded(text: str, folder: Path) -> object:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return load_plan(folder / "plan.toml").plan


def test_in_a_repository_the_base_is_compared_with_the_working_tree(project: Path) -> None:
    text = starter_plan(project)
    plan = loaded(text, project)
    assert plan.sides["base"].ref == "HEAD"
    assert plan.sides["head"].working_tree
    assert plan.sides["base"].pythonpath == ("src",)
    assert '"my_envs"' in text


def test_the_base_is_what_the_remote_calls_its_head(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", f"file://{project}", "copy")
    assert loaded(starter_plan(tmp_path / "copy"), tmp_path).sides["base"].ref == "origin/trunk"


def test_main_is_the_base_where_there_is_one(project: Path) -> None:
    git(project, "branch", "main")
    assert loaded(starter_plan(project / "src"), project).sides["base"].ref == "main"


def test_outside_a_repository_the_sides_are_environments(tmp_path: Path) -> None:
    plan = loaded(starter_plan(tmp_path), tmp_path)
    assert plan.sides["base"].python == "envs/old"


@pytest.mark.parametrize("section", ["[axes]", "[[gate.exceptions]]"])
def test_what_is_commented_out_can_be_read_too(project: Path, section: str) -> None:
    lines = starter_plan(project).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"# {section}"))
    end = next((number for number in range(start, len(lines)) if not lines[number]), len(lines))
    opened = [line.removeprefix("# ") for line in lines[start:end]]
    plan = loaded("\n".join([*lines[:start], *opened, *lines[end:]]), project)
    assert plan.axes if section == "[axes]" else plan.gate.exceptions


def test_every_option_of_a_side_that_is_shown_can_be_read(project: Path) -> None:
    lines = starter_plan(project).splitlines()
    start = lines.index("# Any of these may be added to a side:")
    end = lines.index("[measure]")
    shown = [line.removeprefix("# ") for line in lines[start + 1 : end]]
    text = "\n".join([*lines[:start], "[sides.third]", 'ref = "x"', *shown, *lines[end:]])
    side = loaded(text, project).sides["third"]
    assert side.python
    assert side.requirements
    assert side.setup
    assert side.env
    assert side.options
