"""Submodules come from objects on this machine, or are refused with the command that gets them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.checkout import CheckoutRecipe, discard_checkout
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.repository import discover, resolve
from envdyno.sides.request import GitRef, SubmodulePolicy


def make_nested(workshop: Any) -> Any:
    """Make a project with the submodule ``libs/robots``, which has the submodule ``meshes``."""
    meshes = workshop.repo("meshes")
    meshes.commit({"dog.obj": "v 0 0 0"})
    robots = workshop.repo("robots")
    robots.write({"robots.py": "LEGS = 4"})
    robots.git("submodule", "--quiet", "add", f"file://{meshes.path}", "meshes")
    robots.commit({})
    project = workshop.repo("project")
    project.git("submodule", "--quiet", "add", f"file://{robots.path}", "libs/robots")
    project.git("submodule", "--quiet", "update", "--init", "--recursive")
    project.commit({"main.py": ""})
    return project


@pytest.fixture(scope="module")
def template(workshops: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make_nested(workshops(tmp_path_factory.mktemp("nested")))


@pytest.fixture
def nested(template: Any, workshop: Any, tmp_path: Path) -> Any:
    """A copy of the project of :func:`make_nested`; where its submodules came from is in reach."""
    shutil.copytree(template.path, tmp_path / "project", symlinks=True)
    return workshop.at(tmp_path / "project")


def build(
    project: Path, path: Path, policy: SubmodulePolicy = SubmodulePolicy.LOCAL
) -> tuple[Path, dict[str, Any]]:
    repository = discover(project)
    request = GitRef("HEAD", project, submodules=policy)
    recipe = CheckoutRecipe(repository, resolve(repository, "HEAD"), request)
    path.mkdir()
    return recipe.tree(path), dict(recipe.build(path))


def test_submodules_and_theirs_are_checked_out_without_a_network(workshop: Any, tmp_path: Path) -> None:
    nested = make_nested(workshop)
    shutil.rmtree(tmp_path / "robots")  # where they were cloned from is out of reach
    shutil.rmtree(tmp_path / "meshes")
    tree, facts = build(nested.path, tmp_path / "entry")
    assert (tree / "libs" / "robots" / "robots.py").read_text() == "LEGS = 4"
    assert (tree / "libs" / "robots" / "meshes" / "dog.obj").exists()
    assert set(facts["submodules"]) == {"libs/robots", "libs/robots/meshes"}
    assert facts["diff_sha256"] is None


def test_an_older_commit_gets_the_submodules_commit_of_then(
    nested: Any, workshop: Any, tmp_path: Path
) -> None:
    old = nested.git("rev-parse", "HEAD")
    robots = workshop.at(nested.path / "libs" / "robots")
    robots.commit({"robots.py": "LEGS = 2"})
    nested.commit({})
    repository = discover(nested.path)
    recipe = CheckoutRecipe(repository, resolve(repository, old), GitRef(old, nested.path))
    (tmp_path / "entry").mkdir()
    recipe.build(tmp_path / "entry")
    assert (recipe.tree(tmp_path / "entry") / "libs" / "robots" / "robots.py").read_text() == "LEGS = 4"


def test_a_submodule_that_the_present_branch_has_no_more_is_found(nested: Any, tmp_path: Path) -> None:
    nested.git("rm", "--quiet", "-r", "libs/robots")
    nested.git("commit", "--quiet", "-m", "without robots")
    shutil.rmtree(nested.path / "libs", ignore_errors=True)
    repository = discover(nested.path)
    recipe = CheckoutRecipe(repository, resolve(repository, "HEAD~1"), GitRef("HEAD~1", nested.path))
    (tmp_path / "entry").mkdir()
    recipe.build(tmp_path / "entry")
    assert (recipe.tree(tmp_path / "entry") / "libs" / "robots" / "meshes" / "dog.obj").exists()


def test_submodules_of_an_old_layout_are_found_in_their_own_folder(nested: Any, tmp_path: Path) -> None:
    inside = nested.path / "libs" / "robots"
    (inside / ".git").unlink()
    shutil.move(nested.path / ".git" / "modules" / "libs" / "robots", inside / ".git")
    tree, _ = build(nested.path, tmp_path / "entry")
    assert (tree / "libs" / "robots" / "meshes" / "dog.obj").exists()


def test_a_submodule_that_was_never_fetched_is_refused_with_the_command(
    nested: Any, workshop: Any, tmp_path: Path
) -> None:
    copy = workshop.clone(nested.path, "copy")
    with pytest.raises(SideError, match="libs/robots") as caught:
        build(copy.path, tmp_path / "entry")
    assert caught.value.problem is SideProblem.SUBMODULE
    assert f"git -C {copy.path} submodule update --init --recursive -- libs/robots" in str(caught.value)


def test_a_commit_that_the_submodule_lacks_is_refused_with_the_command(
    nested: Any, workshop: Any, tmp_path: Path
) -> None:
    copy = workshop.clone(nested.path, "copy", "--recurse-submodules")
    newer = workshop.at(nested.path / "libs" / "robots").commit({"robots.py": "LEGS = 6"})
    nested.commit({})
    copy.git("fetch", "--quiet", "--no-recurse-submodules")
    copy.git("reset", "--quiet", "--hard", "origin/main")
    with pytest.raises(SideError, match=f"fetch origin {newer}"):
        build(copy.path, tmp_path / "entry")


def test_a_bare_repository_says_that_it_has_no_submodules(nested: Any, workshop: Any, tmp_path: Path) -> None:
    bare = workshop.clone(nested.path, "bare.git", "--bare")
    with pytest.raises(SideError, match="--recurse-submodules"):
        build(bare.path, tmp_path / "entry")


def test_submodules_may_be_left_out_and_are_named(nested: Any, tmp_path: Path) -> None:
    tree, facts = build(nested.path, tmp_path / "entry", SubmodulePolicy.SKIP)
    assert facts["unpopulated"] == ["libs/robots"]
    assert list((tree / "libs" / "robots").iterdir()) == []


def test_a_checkout_with_submodules_can_be_removed(nested: Any, tmp_path: Path) -> None:
    build(nested.path, tmp_path / "entry")
    discard_checkout(tmp_path / "entry")
    assert not (tmp_path / "entry").exists()
    assert str(tmp_path / "entry") not in nested.git("worktree", "list")


def test_a_submodule_name_that_leads_outside_is_not_followed(
    repo: Any, workshop: Any, tmp_path: Path
) -> None:
    lib = workshop.repo("lib")
    sha = lib.commit({"a": "1"})
    repo.commit(
        {".gitmodules": '[submodule "../../../lib/.git"]\n\tpath = lib\n\turl = https://example.org/lib\n'}
    )
    (repo.path / ".git" / "modules").mkdir()
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{sha},lib")
    repo.git("commit", "--quiet", "-m", "link")
    with pytest.raises(SideError, match="not on this machine"):
        build(repo.path, tmp_path / "entry")
