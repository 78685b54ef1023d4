"""Checkouts in the cache: right in every kind of repository, and the user's own is left alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides import worktree
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.repository import discover
from envdyno.sides.worktree import add_worktree, remove_worktree, why_unusable


def test_a_checkout_has_the_commit_and_leaves_tree_and_index_alone(
    repo: Any, workshop: Any, tmp_path: Path
) -> None:
    first = repo.commit({"pkg/a.py": "1"})
    repo.commit({"pkg/a.py": "2"})
    repo.write({"pkg/a.py": "3, not committed", "new.py": "untracked"})
    before = {name: facts for name, facts in workshop.snapshot(repo.path).items() if "worktrees" not in name}
    add_worktree(discover(repo.path), first, tmp_path / "tree")
    assert (tmp_path / "tree" / "pkg" / "a.py").read_text() == "1"
    assert {
        name: facts for name, facts in workshop.snapshot(repo.path).items() if "worktrees" not in name
    } == before


def test_hooks_of_the_user_do_not_run(repo: Any, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    for name in ("post-checkout", "reference-transaction"):
        hook = repo.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
        hook.chmod(0o755)
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    assert not (tmp_path / "hook-ran").exists()


def test_a_sparse_checkout_of_the_user_does_not_thin_out_the_side(repo: Any, tmp_path: Path) -> None:
    sha = repo.commit({"src/a.py": "1", "assets/robot.xml": "<mujoco/>"})
    repo.git("sparse-checkout", "set", "src")
    assert not (repo.path / "assets").exists()
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    assert (tmp_path / "tree" / "assets" / "robot.xml").exists()


@pytest.mark.parametrize("kind", ["bare", "worktree", "shallow"])
def test_every_kind_of_repository_gives_a_checkout(
    repo: Any, workshop: Any, tmp_path: Path, kind: str
) -> None:
    sha = repo.commit({"a.py": "1"})
    place = tmp_path / "other"
    if kind == "bare":
        workshop.clone(repo.path, "other", "--bare")
    elif kind == "shallow":
        workshop.clone(repo.path, "other", "--depth", "1")
    else:
        repo.git("worktree", "add", "--quiet", "--detach", str(place))
    add_worktree(discover(place), sha, tmp_path / "tree")
    assert (tmp_path / "tree" / "a.py").read_text() == "1"
    assert why_unusable(tmp_path / "tree", sha) is None


@pytest.mark.parametrize("depth", [(), ("--depth", "1")])
def test_a_read_only_repository_is_borrowed_from(
    repo: Any, workshop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: tuple[str, ...]
) -> None:
    repo.commit({"a.py": "0"})
    sha = repo.commit({"a.py": "1"})
    repo.git("tag", "v1.0")
    copy = workshop.clone(repo.path, "copy", *depth)
    before = workshop.snapshot(copy.path)
    real = os.access
    monkeypatch.setattr(
        worktree.os,
        "access",
        lambda path, mode: not Path(path).is_relative_to(copy.path) and real(path, mode),
    )
    add_worktree(discover(copy.path), sha, tmp_path / "tree")
    assert workshop.snapshot(copy.path) == before
    assert (tmp_path / "tree" / "a.py").read_text() == "1"
    assert workshop.at(tmp_path / "tree").git("describe", "--tags") == "v1.0"


def test_a_partial_clone_without_the_files_says_how_to_get_them_and_fetches_nothing(
    repo: Any, workshop: Any, tmp_path: Path
) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    sha = repo.commit({"a.py": "content"})
    copy = workshop.clone(repo.path, "copy", "--filter=blob:none", "--no-checkout")
    before = copy.git("count-objects", "-v")
    with pytest.raises(SideError, match=f"git -C {copy.path} archive") as caught:
        add_worktree(discover(copy.path), sha, tmp_path / "tree")
    assert caught.value.problem is SideProblem.COMMIT_ABSENT
    assert copy.git("count-objects", "-v") == before
    remove_worktree(tmp_path / "tree")
    copy.git("archive", "-o", "/dev/null", sha)
    add_worktree(discover(copy.path), sha, tmp_path / "tree")
    assert (tmp_path / "tree" / "a.py").read_text() == "content"


def test_removal_takes_the_entry_of_this_checkout_and_no_other(repo: Any, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "users"))
    shutil.move(tmp_path / "users", tmp_path / "users-on-a-disk-that-is-not-mounted")
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    remove_worktree(tmp_path / "tree")
    listed = repo.git("worktree", "list")
    assert not (tmp_path / "tree").exists()
    assert str(tmp_path / "tree") not in listed
    assert str(tmp_path / "users") in listed


def test_removal_works_when_the_repository_is_gone(repo: Any, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    shutil.rmtree(repo.path)
    remove_worktree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_removal_never_follows_a_git_file_to_a_place_that_is_not_its_own(repo: Any, tmp_path: Path) -> None:
    repo.commit({"a": "1"})
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "users"))
    for number, place in enumerate((repo.path / ".git", repo.path / ".git" / "worktrees" / "users")):
        tree = tmp_path / f"tree{number}"
        tree.mkdir()
        (tree / ".git").write_text(f"gitdir: {place}\n")
        remove_worktree(tree)
        assert not tree.exists()
        assert (place / "HEAD").exists()


def test_a_checkout_that_was_removed_by_hand_can_be_made_again(repo: Any, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    shutil.rmtree(tmp_path / "tree")
    assert why_unusable(tmp_path / "tree", sha) == "its folder is gone"
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    assert (tmp_path / "tree" / "a").exists()


def test_a_checkout_whose_repository_moved_is_not_usable(repo: Any, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    add_worktree(discover(repo.path), sha, tmp_path / "tree")
    shutil.move(repo.path, tmp_path / "moved")
    assert why_unusable(tmp_path / "tree", sha) == "its repository was moved or removed"


def test_a_checkout_at_another_commit_is_not_usable(repo: Any, tmp_path: Path) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    add_worktree(discover(repo.path), first, tmp_path / "tree")
    assert "instead of" in (why_unusable(tmp_path / "tree", second) or "")
