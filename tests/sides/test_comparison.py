"""Sides are compared before anything is measured: the same twice, and undeclared differences, stop it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.comparison import Allowances, check_sides
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.request import SideRequest, WorkingTree

NONE = Allowances()


def test_the_same_commit_twice_stops_unless_it_is_an_aa(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"envs.py": ""})
    repo.git("tag", "same")
    with prepare(workshop.side("base", repo, "main"), workshop.side("head", repo, "same")) as sides:
        with pytest.raises(SideError, match="--aa") as caught:
            check_sides(sides, NONE)
        assert caught.value.problem is SideProblem.SAME_CODE
        assert check_sides(sides, Allowances(same=True)).comparisons[0].differing == ()


def test_commits_that_differ_in_documents_only_are_the_same_to_a_workload(
    repo: Any, workshop: Any, prepare: Any
) -> None:
    old = repo.commit({"src/envs/__init__.py": "", "README.md": "1", "assets/robot.xml": "1"})
    repo.commit({"README.md": "2", "assets/robot.xml": "2"})
    plain = prepare(workshop.side("base", repo, old), workshop.side("head", repo))
    with plain as sides, pytest.raises(SideError, match="not in what is under test"):
        check_sides(sides, NONE)
    data = {"data": ("assets",)}
    with prepare(workshop.side("base", repo, old, **data), workshop.side("head", repo, **data)) as sides:
        assert check_sides(sides, NONE).comparisons[0].differing == ("code",)


def test_an_edited_working_tree_differs_from_its_commit(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"envs.py": "1"})
    tree = SideRequest("head", repo.path, WorkingTree(repo.path))
    unchanged = pytest.raises(SideError, match="working tree has no changes")
    with prepare(workshop.side("base", repo), tree) as sides, unchanged:
        check_sides(sides, NONE)
    repo.write({"envs.py": "2"})
    with prepare(workshop.side("base", repo), tree) as sides:
        checks = check_sides(sides, NONE)
    assert checks.comparisons[0].differing == ("code",)
    assert "envs.py" in checks.notices[0]


def test_options_variables_and_interpreters_are_differences(
    workshop: Any, prepare: Any, tmp_path: Path
) -> None:
    plain = SideRequest("plain", tmp_path)
    others = [
        SideRequest("options", tmp_path, options={"runtime": "direct"}),
        SideRequest("variables", tmp_path, environ={"A": "1"}),
        SideRequest("unset", tmp_path, unset=("A",)),
    ]
    with prepare(plain, *others) as sides:
        found = [one.differing for one in check_sides(sides, NONE).comparisons]
    assert found == [("options",), ("environment variables",), ("environment variables",)]


def test_a_package_that_nothing_declares_to_differ_stops(workshop: Any, prepare: Any, tmp_path: Path) -> None:
    for name, version in (("old", "0.3.1"), ("new", "0.4.0")):
        workshop.install(workshop.environment(name), "mujoco-uni-runtime", version)
    requests = [SideRequest(name, tmp_path, python=name) for name in ("old", "new")]
    with prepare(*requests) as sides:
        with pytest.raises(SideError, match=r"mujoco-uni-runtime 0\.3\.1 → 0\.4\.0") as caught:
            check_sides(sides, NONE)
        assert caught.value.problem is SideProblem.PACKAGES
        for allowed in (Allowances(package_differences=True), Allowances(packages=("MuJoCo_uni.runtime",))):
            comparison = check_sides(sides, allowed).comparisons[0]
            assert [one.name for one in comparison.packages] == ["mujoco-uni-runtime"]
            assert comparison.differing == ("packages",)


def test_the_project_of_the_commit_itself_may_have_another_version(
    repo: Any, workshop: Any, prepare: Any
) -> None:
    for number in ("1", "2"):
        workshop.install(workshop.environment(f"env{number}"), "envs", number)
    old = repo.commit(
        {"pyproject.toml": '[project]\nname = "Envs"\nversion = "1"\n', "src/envs/__init__.py": "1"}
    )
    repo.commit({"src/envs/__init__.py": "2"})
    env = workshop.folder
    requests = (
        workshop.side("base", repo, old, python=str(env / "env1")),
        workshop.side("head", repo, python=str(env / "env2")),
    )
    with prepare(*requests) as sides:
        assert check_sides(sides, NONE).comparisons[0].undeclared == ()


def test_a_side_that_lacks_what_its_commit_asks_for_stops(repo: Any, workshop: Any, prepare: Any) -> None:
    python = workshop.environment("env")
    workshop.install(python, "mujoco-uni-runtime", "0.3.1")
    metadata = '[project]\nname = "envs"\ndependencies = ["mujoco-uni-runtime>={}"]\n'
    old = repo.commit({"envs.py": "1", "pyproject.toml": metadata.format("0.3")})
    repo.commit({"envs.py": "2", "pyproject.toml": metadata.format("0.4")})
    requests = [
        workshop.side(name, repo, ref, python=str(python)) for name, ref in (("old", old), ("new", "main"))
    ]
    with prepare(*requests) as sides:
        with pytest.raises(SideError, match=r"side new .*(?s:.)*0\.3\.1 is installed") as caught:
            check_sides(sides, NONE)
        assert caught.value.problem is SideProblem.DEPENDENCY
        checks = check_sides(sides, Allowances(dependency_faults=True))
    assert len(checks.dependency_faults["new"]) == 1
    assert checks.dependency_faults["old"] == ()
    assert "mujoco-uni-runtime" in checks.notices[0]


def test_a_kernel_cache_that_the_plan_shares_stops(tmp_path: Path, prepare: Any) -> None:
    shared = {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    first = SideRequest("first", tmp_path, environ={**shared, "A": "1"})
    second = SideRequest("second", tmp_path, environ={**shared, "A": "2"})
    with prepare(first, second) as sides, pytest.raises(SideError, match="NUMBA_CACHE_DIR") as caught:
        check_sides(sides, NONE)
    assert caught.value.problem is SideProblem.SHARED_CACHE
