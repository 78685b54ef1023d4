"""What preparation left is removed, with the traces in the repositories, unless it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envdyno.sides.clean_up import clean_up, size_bytes
from envdyno.sides.store import Kind


def test_unused_entries_go_and_used_ones_stay(repo: Any, workshop: Any, prepare: Any, cache: Path) -> None:
    old = repo.commit({"a.py": "1"})
    repo.commit({"a.py": "2"})
    with prepare(workshop.side("old", repo, old)):
        pass
    with prepare(workshop.side("new", repo)) as (side,):
        done = clean_up(cache)
        assert side.tree.exists()
        compiled = {path.parent for path in side.cache_dirs.values()}
        assert {entry.path for entry in done.in_use} == {side.tree.parent, *compiled}
    assert {entry.kind for entry in done.removed} == {Kind.TREES, Kind.COMPILED}
    assert repo.git("worktree", "list").count(str(cache)) == 1
    clean_up(cache)
    assert str(cache) not in repo.git("worktree", "list")
    assert not any((cache / "trees").glob("*/"))


def test_what_was_used_lately_stays(repo: Any, workshop: Any, prepare: Any, cache: Path) -> None:
    repo.commit({"a.py": ""})
    with prepare(workshop.side("a", repo)) as (side,):
        pass
    assert clean_up(cache, unused_for_s=3600.0).removed == ()
    assert side.tree.exists()


def test_half_built_entries_go_whatever_their_age(cache: Path) -> None:
    (cache / "environments" / "half" / "env").mkdir(parents=True)
    assert len(clean_up(cache, unused_for_s=3600.0).removed) == 1
    assert not (cache / "environments" / "half").exists()


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    once = size_bytes(tmp_path)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert size_bytes(tmp_path) == once >= 100_000
