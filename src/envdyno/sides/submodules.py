"""Checking out submodules from objects that are already on this machine.

`git worktree add` leaves submodules empty, and `git submodule update` would download. Both the objects
and the commits that a superproject needs are usually there: git keeps each submodule's repository in
``modules/NAME`` of the git directory, or, in old checkouts, in the submodule's own folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from envdyno.sides.git import IN_STORE, GitOutput, ask_git, indented, run_git
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.worktree import borrow

_GITLINK_MODE = "160000"


class Superproject(NamedTuple):
    """Where the repositories of submodules may be found for one checkout."""

    checkout: Path | None
    """A checkout of the user's, or ``None`` for a bare repository."""
    git_dirs: tuple[Path, ...]
    """Git directories that may hold ``modules/NAME``."""


@dataclass(frozen=True)
class Submodule:
    """One submodule of a commit."""

    path: str
    """Relative to the tree that holds it."""
    name: str
    url: str | None
    commit: str


def declared(tree: Path) -> tuple[Submodule, ...]:
    """List the submodules of the commit that is checked out in ``tree``."""
    listed = run_git(tree, "ls-tree", "-r", "-z", "--full-tree", "HEAD").out.split("\0")
    links: dict[str, str] = {}
    for line in listed:
        if line.startswith(_GITLINK_MODE):
            facts, path = line.split("\t", 1)
            links[path] = facts.split()[2]
    if not links:
        return ()
    settings = _gitmodules(tree)
    names = {facts["path"]: name for name, facts in settings.items() if "path" in facts}
    return tuple(
        Submodule(path, names.get(path, path), settings.get(names.get(path, ""), {}).get("url"), commit)
        for path, commit in sorted(links.items())
    )


def check_out(tree: Path, superproject: Superproject, prefix: str = "") -> dict[str, str]:
    """Fill the submodules of ``tree`` and theirs, and return the commit of each by its path.

    Raises:
        SideError: a submodule's objects are not on this machine; the message says how to get them.
    """
    found: dict[str, str] = {}
    for submodule in declared(tree):
        place = prefix + submodule.path
        source = _source(submodule, superproject, place)
        target = tree / submodule.path
        borrow(source, submodule.commit, target)
        found[place] = submodule.commit
        inner = Superproject(
            checkout=superproject.checkout / submodule.path if superproject.checkout else None,
            git_dirs=(source,),
        )
        found.update(check_out(target, inner, prefix=f"{place}/"))
    return found


def _gitmodules(tree: Path) -> Mapping[str, dict[str, str]]:
    """Read ``.gitmodules``: path and URL by submodule name."""
    if not (tree / ".gitmodules").is_file():
        return {}
    answer = ask_git(
        tree, "config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.(path|url)$"
    )
    settings: dict[str, dict[str, str]] = {}
    for item in filter(None, answer.out.split("\0")):
        key, _, value = item.partition("\n")
        name, _, what = key.removeprefix("submodule.").rpartition(".")
        settings.setdefault(name, {})[what] = value
    return settings


def _source(submodule: Submodule, superproject: Superproject, place: str) -> Path:
    """Find a repository on this machine that has the submodule's commit."""
    stores = [path for path in _candidates(submodule, superproject) if path.is_dir()]
    for store in stores:
        if _looked_up(store, submodule.commit).code == 0:
            common = run_git(store, *IN_STORE, "rev-parse", "--git-common-dir")
            return (store / common.line).resolve()
    raise SideError(SideProblem.SUBMODULE, _explain_absence(submodule, superproject, place, stores))


def _looked_up(store: Path, commit: str) -> GitOutput:
    return ask_git(store, *IN_STORE, "cat-file", "-e", f"{commit}^{{commit}}")


def _candidates(submodule: Submodule, superproject: Superproject) -> Iterator[Path]:
    # Names come from the repository, so one that leads outside (CVE-2018-11235) is not followed.
    if ".." not in Path(submodule.name).parts:
        for git_dir in superproject.git_dirs:
            yield git_dir / "modules" / submodule.name
            yield git_dir / submodule.path
    if superproject.checkout is not None:
        yield superproject.checkout / submodule.path / ".git"
    if submodule.url and Path(submodule.url).is_absolute():
        yield Path(submodule.url)


def _explain_absence(
    submodule: Submodule, superproject: Superproject, place: str, stores: Sequence[Path]
) -> str:
    text = f"The submodule {place} is needed at commit {submodule.commit}, which is not on this machine. "
    if stores:
        answer = _looked_up(stores[0], submodule.commit)
        remedy = f"    git -C {stores[0]} fetch origin {submodule.commit}"
        said = f"\nGit says:\n{indented(answer.error)}" if answer.error else ""
        return (
            f'{text}Fetch it:\n{remedy}\nor set `submodules = "skip"` if the workload does not need it.{said}'
        )
    if superproject.checkout is not None:
        remedy = f"    git -C {superproject.checkout} submodule update --init --recursive -- {submodule.path}"
        return f'{text}Fetch it:\n{remedy}\nor set `submodules = "skip"` if the workload does not need it.'
    return (
        f"{text}A bare repository keeps no submodules. Point `repo` at a clone made with "
        '--recurse-submodules, or set `submodules = "skip"` if the workload does not need it.'
    )
