"""Setup commands and requirement sets: what a side builds for itself, and who else sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.request import Requirements, SideRequest, WorkingTree
from envdyno.sides.store import Kind


def test_setup_commands_run_once_a_commit_with_the_sides_interpreter(
    repo: Any, workshop: Any, prepare: Any
) -> None:
    repo.commit({"src/envs/__init__.py": ""})
    command = "python -c 'import sys; print(sys.prefix)' > src/envs/built.py && echo x >> runs.txt"
    python = workshop.environment("env")
    side = workshop.side("a", repo, setup=(command,), python=str(python))
    for _ in range(2):
        with prepare(side) as (prepared,):
            built = (prepared.tree / "src" / "envs" / "built.py").read_text().strip()
            assert built == str(python.parent.parent)
            assert (prepared.tree / "runs.txt").read_text() == "x\n"
            assert prepared.identity.setup == (command,)
    assert not (repo.path / "runs.txt").exists()


def test_a_setup_command_that_fails_shows_its_last_words_and_leaves_nothing(
    repo: Any, workshop: Any, prepare: Any, cache: Path
) -> None:
    repo.commit({"a.py": ""})
    side = workshop.side("a", repo, setup=("echo compiling; echo it broke >&2; exit 3",))
    with pytest.raises(SideError, match=r"exit code 3.*(?s:.)*it broke") as caught, prepare(side):
        pass
    assert caught.value.problem is SideProblem.SETUP
    assert not list((cache / Kind.TREES.value).glob("*/"))
    log = next((cache / "logs").glob("*setup*"))
    assert "it broke" in log.read_text()


def test_setup_commands_do_not_run_in_the_users_tree(repo: Any, prepare: Any) -> None:
    repo.commit({"a.py": ""})
    side = SideRequest("x", repo.path, WorkingTree(repo.path), setup=("touch ran",))
    with pytest.raises(SideError, match="Run them yourself"), prepare(side):
        pass
    assert not (repo.path / "ran").exists()


def test_sides_may_differ_in_packages_alone(workshop: Any, prepare: Any, uv: Path, tmp_path: Path) -> None:
    for version in ("1.4.0", "1.5.1"):
        workshop.wheel("engine", version)
    lines = ("--no-index", "--find-links wheels")
    sides = [
        SideRequest(f"v{version}", tmp_path, requirements=Requirements((*lines, f"engine=={version}")))
        for version in ("1.4.0", "1.5.1")
    ]
    with prepare(*sides) as (old, new):
        assert workshop.run(old, "import engine; print(engine.VERSION)") == "1.4.0"
        assert workshop.run(new, "import engine; print(engine.VERSION)") == "1.5.1"
        assert old.identity.packages.versions == {"engine": "1.4.0"}
        assert old.identity.declared_packages == ("engine",)
        assert old.identity.requirements.splitlines()[-1] == "engine==1.4.0"
        assert old.tree is None
        assert old.cwd is None


@pytest.mark.slow
def test_setup_may_install_into_the_sides_own_environment_and_no_other_side_sees_it(
    repo: Any, workshop: Any, prepare: Any, uv: Path, tmp_path: Path
) -> None:
    workshop.wheel("engine", "1.0")
    wheel = workshop.wheel("extra", "1.0")
    repo.commit({"a.py": ""})
    needs = Requirements(("--no-index", f"--find-links {tmp_path / 'wheels'}", "engine"))
    install = f"python -m pip install --quiet --no-index --disable-pip-version-check {wheel}"
    one = workshop.side("one", repo, requirements=needs, setup=(install,))
    two = workshop.side("two", repo, requirements=needs)
    with prepare(one, two) as (first, second):
        assert "extra" in first.identity.packages.versions
        assert "extra" not in second.identity.packages.versions
        generation = first.tree
    with prepare(one) as (again,):
        assert again.tree == generation
        assert "extra" in again.identity.packages.versions
