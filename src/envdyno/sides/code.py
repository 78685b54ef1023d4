"""The code of a side: resolved, laid out in a folder, and described."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from envdyno.agent.measure.origin import code_hash
from envdyno.sides import lfs
from envdyno.sides.checkout import CheckoutRecipe, Setup
from envdyno.sides.git import ask_git
from envdyno.sides.importable import importable_modules
from envdyno.sides.prepared import CodeIdentity, CodeKind
from envdyno.sides.problems import SideError, SideNotice, SideProblem
from envdyno.sides.repository import Commit, Repository, discover, part_hash, resolve
from envdyno.sides.request import GitRef, SideRequest, WorkingTree
from envdyno.sides.store import Store
from envdyno.sides.tree_changes import SHOWN_FILES, Untracked, tree_changes


@dataclass(frozen=True)
class ResolvedCode:
    """A git ref that has been resolved, before it is checked out."""

    request: GitRef
    repository: Repository
    commit: Commit


@dataclass(frozen=True)
class SideCode:
    """The code of a side in its folder."""

    tree: Path
    identity: CodeIdentity
    guard: str | None
    """Hash of the changes in the tree that could change what is imported."""
    sys_path: tuple[Path, ...]
    modules: dict[str, Path]


def resolve_ref(request: GitRef) -> ResolvedCode:
    """Resolve a git ref.

    Raises:
        SideError: no repository, or no such commit.
    """
    repository = discover(request.repository)
    return ResolvedCode(request, repository, resolve(repository, request.ref))


def check_out(
    code: ResolvedCode, setup: Setup, side: SideRequest, store: Store, leases: ExitStack
) -> SideCode:
    """Lay a commit out in the cache, where it stays until ``leases`` is closed.

    Raises:
        SideError: the checkout, its submodules, LFS files or setup commands failed.
    """
    repository, commit = code.repository, code.commit
    root = None if repository.bare else repository.folder
    if root is not None and store.home.is_relative_to(root):
        raise SideError(
            SideProblem.CACHE,
            f"The cache folder {store.home} lies inside the repository {root}, whose files are not to be "
            "touched. Set ENVDYNO_CACHE_DIR to a folder outside.",
        )
    recipe = CheckoutRecipe(repository, commit, code.request, setup)
    entry = store.lease(recipe, leases)
    tree = recipe.tree(entry.path)
    sys_path = _sys_path(tree, side)
    modules = importable_modules(sys_path)
    identity = CodeIdentity(
        kind=CodeKind.GIT_REF,
        repository=str(repository.common_dir),
        ref_asked=code.request.ref,
        ref_resolved=commit.ref,
        commit=commit.sha,
        tree=commit.tree,
        dirty=False,
        diff_sha256=None,
        submodules=entry.facts["submodules"],
        unpopulated=tuple(entry.facts["unpopulated"]),
        parts=_parts(repository, commit.sha, tree, modules, side.data),
        committed_at=commit.committed_at,
        subject=commit.subject,
    )
    return SideCode(tree, identity, entry.facts["diff_sha256"], sys_path, modules)


def look_at_working_tree(request: WorkingTree, side: SideRequest) -> tuple[SideCode, tuple[SideNotice, ...]]:
    """Describe a checkout as it is now. Where git does not tell, the commit is unknown and says why.

    Raises:
        SideError: the folder is not there, holds LFS pointers, or setup commands were asked for.
    """
    if side.setup:
        raise SideError(
            SideProblem.SETUP,
            f"The side {side.name} is the working tree, which envdyno does not change, so it runs no setup "
            "commands in it. Run them yourself and remove `setup`.",
        )
    try:
        repository = discover(request.repository)
    except SideError as error:
        if error.problem is SideProblem.PATH:
            raise
        return _unknown_tree(request.repository.resolve(), side, error)
    if repository.bare:
        raise SideError(
            SideProblem.WORKING_TREE,
            f"{repository.folder} is a bare repository and has no working tree. Name a ref instead.",
        )
    tree = repository.folder
    pointers = tuple(lfs.find_pointers(tree))
    if pointers:
        raise lfs.refuse(pointers, tree, f"git -C {tree} lfs pull")
    return _known_tree(repository, side), ()


def _known_tree(repository: Repository, side: SideRequest) -> SideCode:
    tree = repository.folder
    head = ask_git(tree, "rev-parse", "--verify", "HEAD^{commit}")
    commit = resolve(repository, "HEAD") if head.code == 0 else None
    changes = tree_changes(tree)
    sys_path = _sys_path(tree, side)
    modules = importable_modules(sys_path)
    identity = CodeIdentity(
        kind=CodeKind.WORKING_TREE,
        repository=str(repository.common_dir),
        ref_asked=None,
        ref_resolved=commit.ref if commit else None,
        commit=commit.sha if commit else None,
        tree=commit.tree if commit else None,
        dirty=changes.sha256 is not None,
        diff_sha256=changes.sha256,
        changed_files=changes.files[:SHOWN_FILES],
        unknown=None if commit else "the repository has no commit yet",
    )
    if commit is not None and changes.sha256 is None:
        parts = _parts(repository, commit.sha, tree, modules, side.data)
        identity = replace(
            identity,
            parts=parts,
            subject=commit.subject,
            committed_at=commit.committed_at,
        )
    return SideCode(tree, identity, tree_changes(tree, Untracked.SOURCE).sha256, sys_path, modules)


def _unknown_tree(tree: Path, side: SideRequest, error: SideError) -> tuple[SideCode, tuple[SideNotice, ...]]:
    identity = CodeIdentity(
        kind=CodeKind.WORKING_TREE,
        repository=str(tree),
        ref_asked=None,
        ref_resolved=None,
        commit=None,
        tree=None,
        dirty=True,
        diff_sha256=code_hash([str(tree)]),
        unknown=str(error),
    )
    sys_path = _sys_path(tree, side)
    notice = SideNotice(f"The commit of the side {side.name} is not known. {error}")
    return SideCode(tree, identity, None, sys_path, importable_modules(sys_path)), (notice,)


def _sys_path(tree: Path, side: SideRequest) -> tuple[Path, ...]:
    """Return the folders to import from: those asked for, else ``src``, else the root of the tree."""
    if side.pythonpath is None:
        return (tree / "src",) if (tree / "src").is_dir() else (tree,)
    folders = tuple(Path(os.path.normpath(tree / entry)) for entry in side.pythonpath)
    for folder, entry in zip(folders, side.pythonpath, strict=True):
        if not folder.is_dir():
            there = ", ".join(sorted(child.name for child in tree.iterdir() if child.is_dir())[:10])
            raise SideError(
                SideProblem.PATH,
                f"`pythonpath` of the side {side.name} names {entry!r}, which is no folder of {tree}. "
                f"Folders there: {there}.",
            )
    return folders


def _parts(
    repository: Repository, commit: str, tree: Path, modules: dict[str, Path], data: tuple[str, ...]
) -> dict[str, str]:
    """Return git's hashes of the modules and data paths, as far as they are in the commit."""
    parts: dict[str, str] = {}
    for name, file in modules.items():
        place = file.parent if file.name.startswith("__init__.") else file
        if place.is_relative_to(tree):
            found = part_hash(repository, commit, place.relative_to(tree).as_posix())
            if found:
                parts[name] = found
    for path in data:
        found = part_hash(repository, commit, path)
        if found is None:
            raise SideError(
                SideProblem.PATH, f"`data` names {path!r}, which is not in the commit {commit[:12]}."
            )
        parts[f"data:{path}"] = found
    return parts
