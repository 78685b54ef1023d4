"""How a working tree differs from its commit is one hash, and looking writes nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.tree_changes import Untracked, tree_changes


@pytest.fixture
def clean(repo: Any) -> Any:
    repo.commit({"src/a.py": "1\n", "src/b.py": "2\n", ".gitignore": "*.log\n"})
    return repo


def test_a_clean_tree_has_no_changes(clean: Any) -> None:
    assert tree_changes(clean.path).sha256 is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda path: (path / "src/a.py").write_text("one\n"), "src/a.py"),
        (lambda path: (path / "src/a.py").unlink(), "src/a.py"),
        (lambda path: (path / "src/a.py").chmod(0o755), "src/a.py"),
        (lambda path: (path / "new file.py").write_text(""), "new file.py"),
        (lambda path: (path / "ä.py").write_text(""), "ä.py"),
    ],
)
def test_every_kind_of_change_is_seen_and_named(clean: Any, change: Any, named: str) -> None:
    change(clean.path)
    changes = tree_changes(clean.path)
    assert changes.files == (named,)
    assert changes.sha256 is not None


def test_the_hash_follows_content_and_comes_back_with_it(clean: Any) -> None:
    path = clean.path / "src" / "a.py"
    hashes = []
    for text in ("one\n", "two\n", "one\n"):
        path.write_text(text)
        os.utime(path)
        hashes.append(tree_changes(clean.path).sha256)
    assert hashes[0] == hashes[2] != hashes[1]


def test_staged_and_unstaged_changes_are_the_same_to_what_runs(clean: Any) -> None:
    clean.write({"src/a.py": "one\n"})
    unstaged = tree_changes(clean.path)
    clean.git("add", "--all")
    assert tree_changes(clean.path) == unstaged


def test_ignored_files_do_not_count(clean: Any) -> None:
    clean.write({"run.log": "x"})
    assert tree_changes(clean.path).sha256 is None


def test_of_untracked_files_only_sources_may_be_asked_for(clean: Any) -> None:
    clean.write({"outputs/run/metrics.json": "{}"})
    assert tree_changes(clean.path).sha256 is not None
    assert tree_changes(clean.path, Untracked.SOURCE).sha256 is None
    clean.write({"outputs/shadow.py": ""})
    assert tree_changes(clean.path, Untracked.SOURCE).files == ("outputs/shadow.py",)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_edits_that_git_was_told_not_to_see_are_seen(clean: Any, flag: str) -> None:
    clean.git("update-index", flag, "src/a.py")
    assert tree_changes(clean.path).sha256 is None
    clean.write({"src/a.py": "one\n"})
    assert tree_changes(clean.path).files == ("src/a.py",)


def test_looking_does_not_write_the_index(clean: Any, workshop: Any) -> None:
    for name in ("a.py", "b.py"):
        os.utime(clean.path / "src" / name, (1, 1))  # git would note these times, given the chance
    before = workshop.snapshot(clean.path)
    tree_changes(clean.path)
    assert workshop.snapshot(clean.path) == before


def test_changes_inside_a_submodule_change_the_hash(clean: Any, workshop: Any) -> None:
    library = workshop.repo("library")
    library.commit({"a.py": "1"})
    clean.git("submodule", "--quiet", "add", f"file://{library.path}", "library")
    clean.commit({})
    assert tree_changes(clean.path).sha256 is None
    hashes = set()
    for text in ("2", "3"):
        clean.write({"library/a.py": text})
        hashes.add(tree_changes(clean.path).sha256)
    assert len(hashes) == 2
    assert "library/a.py" in tree_changes(clean.path).files


def test_an_untracked_repository_is_looked_into(clean: Any, workshop: Any) -> None:
    inner = workshop.repo("project/inner")
    inner.commit({"a.py": "1"})
    first = tree_changes(clean.path)
    inner.write({"a.py": "2"})
    assert first.files == ("inner/a.py",)
    assert tree_changes(clean.path).sha256 != first.sha256


def test_a_link_counts_by_where_it_points(clean: Any, tmp_path: Path) -> None:
    (clean.path / "link.py").symlink_to("src/a.py")
    first = tree_changes(clean.path).sha256
    (clean.path / "link.py").unlink()
    (clean.path / "link.py").symlink_to("src/b.py")
    assert tree_changes(clean.path).sha256 != first
