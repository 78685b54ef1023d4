"""Refs become commits once, and never another commit than the one that was asked for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.repository import discover, part_hash, resolve


def test_branch_tag_short_sha_and_expression_become_full_shas(repo: Any) -> None:
    first = repo.commit({"a.py": "1"})
    repo.git("tag", "-a", "v1", "-m", "first")
    second = repo.commit({"a.py": "2"})
    found = discover(repo.path)
    assert resolve(found, "v1").sha == first
    assert resolve(found, "main").sha == second
    assert resolve(found, second[:8]).sha == second
    assert resolve(found, "HEAD~1").sha == first
    assert resolve(found, "main").ref == "refs/heads/main"
    assert resolve(found, "main").tree == repo.git("rev-parse", "HEAD^{tree}")


def test_a_folder_below_the_root_finds_the_repository(repo: Any) -> None:
    repo.commit({"deep/er/a.py": "1"})
    assert discover(repo.path / "deep" / "er").folder == repo.path


def test_an_unknown_ref_is_refused_with_the_nearest_names(repo: Any) -> None:
    repo.commit({"a": ""})
    repo.git("branch", "feature-walking")
    with pytest.raises(SideError, match="feature-walking") as caught:
        resolve(discover(repo.path), "feature-waking")
    assert caught.value.problem is SideProblem.UNKNOWN_REF


@pytest.mark.parametrize("ref", ["", "-rf", "--all"])
def test_what_could_be_an_option_of_git_is_no_ref(repo: Any, ref: str) -> None:
    repo.commit({"a": ""})
    with pytest.raises(SideError, match="not a git ref"):
        resolve(discover(repo.path), ref)


def test_a_file_or_a_tree_is_not_taken_for_a_commit(repo: Any) -> None:
    repo.commit({"a.py": "1"})
    for ref in ("HEAD:a.py", "HEAD^{tree}"):
        with pytest.raises(SideError):
            resolve(discover(repo.path), ref)


def test_a_name_that_is_branch_and_tag_is_told_in_gits_words(repo: Any) -> None:
    first = repo.commit({"a": "1"})
    repo.git("tag", "both")
    repo.commit({"a": "2"})
    repo.git("branch", "both")
    commit = resolve(discover(repo.path), "both")
    assert commit.sha == first
    assert "ambiguous" in commit.notices[0]


def test_a_branch_that_only_a_remote_has_is_taken_from_there_with_a_notice(repo: Any, workshop: Any) -> None:
    repo.commit({"a": "1"})
    repo.git("checkout", "--quiet", "-b", "feature/x")
    wanted = repo.commit({"a": "2"})
    repo.git("checkout", "--quiet", "main")
    copy = workshop.clone(repo.path, "copy")
    commit = resolve(discover(copy.path), "feature/x")
    assert commit.sha == wanted
    assert commit.ref == "refs/remotes/origin/feature/x"
    assert "origin/feature/x" in commit.notices[0]


def test_between_remotes_origin_is_preferred_and_without_it_nothing_is_guessed(
    repo: Any, workshop: Any
) -> None:
    repo.commit({"a": "1"})
    repo.git("branch", "x")
    copy = workshop.clone(repo.path, "copy")
    for name in ("upstream", "fork"):
        copy.git("remote", "add", name, f"file://{repo.path}")
        copy.git("fetch", "--quiet", name)
    assert "upstream/x" in resolve(discover(copy.path), "x").notices[0]
    copy.git("remote", "remove", "origin")
    with pytest.raises(SideError, match=r"fork/x, upstream/x"):
        resolve(discover(copy.path), "x")


def test_a_shallow_clone_that_lacks_the_commit_says_how_to_fetch_it(repo: Any, workshop: Any) -> None:
    old = repo.commit({"a": "1"})
    repo.git("branch", "older")
    repo.commit({"a": "2"})
    copy = workshop.clone(repo.path, "copy", "--depth", "1")
    remedies = {
        old: f"git -C {copy.path} fetch --depth 1 origin {old}",
        old[:10]: f"git -C {copy.path} fetch --unshallow origin",
        "older": f"git -C {copy.path} fetch origin older:refs/remotes/origin/older",
    }
    for ref, remedy in remedies.items():
        with pytest.raises(SideError) as caught:
            resolve(discover(copy.path), ref)
        assert caught.value.problem is SideProblem.COMMIT_ABSENT
        assert remedy in str(caught.value)
    copy.git(*remedies[old].split()[3:])
    assert resolve(discover(copy.path), old).sha == old


def test_a_full_sha_that_is_nowhere_is_refused(repo: Any) -> None:
    repo.commit({"a": ""})
    with pytest.raises(SideError, match="no commit 1234567890") as caught:
        resolve(discover(repo.path), "1234567890" * 4)
    assert caught.value.problem is SideProblem.COMMIT_ABSENT


def test_a_bare_repository_is_found(repo: Any, workshop: Any) -> None:
    sha = repo.commit({"a": ""})
    bare = workshop.clone(repo.path, "store.git", "--bare")
    found = discover(bare.path)
    assert found.bare
    assert found.name == "store"
    assert resolve(found, "main").sha == sha


def test_worktrees_of_one_repository_share_its_key(repo: Any, tmp_path: Path) -> None:
    repo.commit({"a": ""})
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    assert discover(tmp_path / "other").key == discover(repo.path).key
    assert discover(tmp_path / "other").folder == tmp_path / "other"


def test_head_of_a_worktree_is_its_own(repo: Any, tmp_path: Path) -> None:
    first = repo.commit({"a": "1"})
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    repo.commit({"a": "2"})
    assert resolve(discover(tmp_path / "other"), "HEAD").sha == first


def test_a_folder_outside_any_repository_passes_gits_words_on(tmp_path: Path) -> None:
    with pytest.raises(SideError, match="not a git repository") as caught:
        discover(tmp_path)
    assert caught.value.problem is SideProblem.NOT_A_REPOSITORY


def test_a_worktree_whose_repository_is_gone_says_where_it_pointed(repo: Any, tmp_path: Path) -> None:
    repo.commit({"a": ""})
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    shutil.move(repo.path, tmp_path / "moved")
    with pytest.raises(SideError, match="git worktree repair") as caught:
        discover(tmp_path / "other")
    assert str(repo.path) in str(caught.value)


def test_a_repository_of_another_user_passes_gits_remedy_on(
    repo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"a": ""})
    git = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    # What git's own tests use to play another owner.
    wrapper.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {git} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent), prepend=":")
    with pytest.raises(SideError, match=r"safe\.directory") as caught:
        discover(repo.path)
    assert caught.value.problem is SideProblem.DUBIOUS_OWNERSHIP
    assert "dubious ownership" in str(caught.value)


def test_without_git_the_message_says_so(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SideError, match="Install git") as caught:
        discover(repo.path)
    assert caught.value.problem is SideProblem.GIT_MISSING


def test_the_callers_git_variables_do_not_lead_elsewhere(
    repo: Any, workshop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = repo.commit({"a": "1"})
    other = workshop.repo("other")
    other.commit({"b": "2"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repo.path.parent))
    assert resolve(discover(repo.path), "HEAD").sha == wanted


def test_a_part_of_a_commit_has_gits_hash(repo: Any) -> None:
    sha = repo.commit({"src/pkg/__init__.py": "1", "docs/a.md": "x"})
    later = repo.commit({"docs/a.md": "y"})
    found = discover(repo.path)
    assert part_hash(found, sha, "src/pkg") == part_hash(found, later, "src/pkg")
    assert part_hash(found, sha, "docs") != part_hash(found, later, "docs")
    assert part_hash(found, sha, ".") == resolve(found, sha).tree
    assert part_hash(found, sha, "absent") is None


def test_nothing_is_downloaded_to_answer(repo: Any, workshop: Any) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    old = repo.commit({"a": "content"})
    repo.commit({"a": "2"})
    copy = workshop.clone(repo.path, "copy", "--filter=blob:none", "--no-checkout")
    found = discover(copy.path)
    before = copy.git("count-objects", "-v")
    assert resolve(found, old).sha == old
    assert copy.git("count-objects", "-v") == before
