"""LFS pointers are filled from the local store or named; nothing is downloaded."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.checkout import CheckoutRecipe
from envdyno.sides.code import look_at_working_tree
from envdyno.sides.lfs import read_pointer
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.repository import discover, resolve
from envdyno.sides.request import GitRef, LfsPolicy, SideRequest, WorkingTree

MESH = b"v 0 0 0\n" * 400


def pointer(content: bytes) -> str:
    oid = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"


def store(git_dir: Path, content: bytes, name: bytes | None = None) -> None:
    oid = hashlib.sha256(name or content).hexdigest()
    place = git_dir / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
    place.parent.mkdir(parents=True)
    place.write_bytes(content)


def build(project: Path, path: Path, policy: LfsPolicy = LfsPolicy.LOCAL) -> tuple[Path, dict[str, Any]]:
    repository = discover(project)
    recipe = CheckoutRecipe(repository, resolve(repository, "HEAD"), GitRef("HEAD", project, lfs=policy))
    path.mkdir()
    return recipe.tree(path), dict(recipe.build(path))


@pytest.fixture
def with_mesh(repo: Any) -> Any:
    """A repository whose mesh is a pointer, with the filter of git-lfs required but not installed."""
    repo.commit({"assets/dog.obj": pointer(MESH), "a.py": ""})
    repo.commit({".gitattributes": "*.obj filter=lfs diff=lfs merge=lfs -text\n"})
    for key, value in (("smudge", "git-lfs-absent %f"), ("required", "true")):
        repo.git("config", f"filter.lfs.{key}", value)
    return repo


def test_a_pointer_is_an_error_that_names_the_asset_and_the_way_out(with_mesh: Any, tmp_path: Path) -> None:
    with pytest.raises(SideError, match=r"assets/dog\.obj is a Git LFS pointer") as caught:
        build(with_mesh.path, tmp_path / "entry")
    assert caught.value.problem is SideProblem.LFS_POINTER
    assert f"git -C {with_mesh.path} lfs fetch origin" in str(caught.value)


def test_a_pointer_is_filled_from_the_local_store(with_mesh: Any, tmp_path: Path) -> None:
    store(with_mesh.path / ".git", MESH)
    tree, facts = build(with_mesh.path, tmp_path / "entry")
    assert (tree / "assets" / "dog.obj").read_bytes() == MESH
    assert facts["unpopulated"] == []


def test_an_object_whose_content_is_damaged_is_not_used(with_mesh: Any, tmp_path: Path) -> None:
    store(with_mesh.path / ".git", MESH[:-1] + b"!", name=MESH)
    with pytest.raises(SideError, match="LFS pointer"):
        build(with_mesh.path, tmp_path / "entry")


def test_pointers_may_be_left_and_are_named(with_mesh: Any, tmp_path: Path) -> None:
    tree, facts = build(with_mesh.path, tmp_path / "entry", LfsPolicy.SKIP)
    assert (tree / "assets" / "dog.obj").read_text() == pointer(MESH)
    assert facts["unpopulated"] == ["assets/dog.obj"]


def test_a_working_tree_with_pointers_is_refused_too(with_mesh: Any) -> None:
    side = SideRequest("x", with_mesh.path, WorkingTree(with_mesh.path))
    with pytest.raises(SideError, match="lfs pull"):
        look_at_working_tree(WorkingTree(with_mesh.path), side)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "version https://git-lfs.github.com/spec/v1\n",
        "oid sha256:" + "a" * 64,
        pointer(b"x") + " " * 1024,
    ],
)
def test_what_only_looks_like_a_pointer_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content)
    assert read_pointer(tmp_path / "file") is None
