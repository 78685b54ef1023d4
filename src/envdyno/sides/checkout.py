"""The recipe for the checkout of one commit: worktree, submodules, LFS files, setup commands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envdyno.sides import lfs, submodules
from envdyno.sides.git import CHECKOUT_SETTINGS
from envdyno.sides.logged_command import Ending, run_logged
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.repository import Commit, Repository
from envdyno.sides.request import GitRef, LfsPolicy, SubmodulePolicy
from envdyno.sides.store import Kind, discard_folder
from envdyno.sides.tree_changes import TreeChanges, Untracked, tree_changes
from envdyno.sides.worktree import add_worktree, remove_worktree, why_unusable


@dataclass(frozen=True)
class Setup:
    """Commands that complete a checkout, and where they run."""

    commands: tuple[str, ...]
    environ: Mapping[str, str]
    deadline_s: float
    identity: str
    """Names interpreter and environment, so that another one means another checkout."""
    log: Path | None = None


NO_SETUP = Setup((), {}, 0.0, "")


@dataclass(frozen=True)
class CheckoutRecipe:
    """One commit in a folder of the cache."""

    repository: Repository
    commit: Commit
    request: GitRef
    setup: Setup = NO_SETUP

    @property
    def kind(self) -> Kind:
        """Checkouts are trees."""
        return Kind.TREES

    @property
    def key(self) -> str:
        """Repository, commit and treatment. Of equal length for all commits of a repository.

        Length matters: the length of paths moves the stack of a process, and with it its speed
        (Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009).
        """
        treatment = [
            self.request.submodules.value,
            self.request.lfs.value,
            self.setup.commands,
            self.setup.identity,
        ]
        short = hashlib.sha256(json.dumps(treatment).encode()).hexdigest()[:8]
        return f"{self.repository.key}-{self.commit.sha[:16]}-{short}"

    @property
    def title(self) -> str:
        """For sentences."""
        return f"the checkout of {self.commit.sha[:12]} of {self.repository.name}"

    def tree(self, path: Path) -> Path:
        """Return the folder of the code in the entry ``path``."""
        return path / self.repository.name

    def build(self, path: Path) -> Mapping[str, Any]:
        """Make the checkout."""
        tree = self.tree(path)
        add_worktree(self.repository, self.commit.sha, tree)
        modules = self._fill_submodules(tree)
        unpopulated = [*modules.left_out, *self._fill_lfs(tree, modules.commits)]
        self._run_setup(tree)
        changes = checkout_changes(tree)
        return {
            "commit": self.commit.sha,
            "submodules": modules.commits,
            "unpopulated": unpopulated,
            "changed_files": list(changes.files),
            "diff_sha256": changes.sha256,
        }

    def fault(self, path: Path, facts: Mapping[str, Any]) -> str | None:
        """Say how the checkout has changed since it was made."""
        tree = self.tree(path)
        fault = why_unusable(tree, self.commit.sha)
        if fault:
            return fault
        if checkout_changes(tree).sha256 != facts["diff_sha256"]:
            return "files in it were changed"
        return None

    def discard(self, path: Path) -> None:
        """Remove the checkout and its registration."""
        discard_checkout(path)

    def _fill_submodules(self, tree: Path) -> _Submodules:
        if self.request.submodules is SubmodulePolicy.SKIP:
            return _Submodules({}, [submodule.path for submodule in submodules.declared(tree)])
        repository = self.repository
        superproject = submodules.Superproject(
            checkout=None if repository.bare else repository.folder,
            git_dirs=tuple(dict.fromkeys((repository.git_dir, repository.common_dir))),
        )
        return _Submodules(submodules.check_out(tree, superproject), [])

    def _fill_lfs(self, tree: Path, populated: Mapping[str, str]) -> list[str]:
        """Fill the pointers of the tree and its submodules; return those left out on request."""
        trees = {tree: (self.repository.common_dir,)}
        for place in populated:
            borrowed = (tree / place / ".git" / "objects" / "info" / "alternates").read_text(encoding="utf-8")
            trees[tree / place] = (Path(borrowed.strip()).parent,)
        left_out: list[str] = []
        for folder, git_dirs in trees.items():
            pointers = tuple(lfs.find_pointers(folder))
            if not pointers:
                continue
            missing = lfs.fill(pointers, lfs.stores_of(git_dirs))
            if missing and self.request.lfs is LfsPolicy.LOCAL:
                hint = f"git -C {self.repository.folder} lfs fetch origin {self.commit.sha}"
                if folder != tree:
                    hint = f"git -C {self.repository.folder / folder.relative_to(tree)} lfs fetch"
                raise lfs.refuse(missing, tree, hint)
            left_out += [pointer.path.relative_to(tree).as_posix() for pointer in missing]
        return left_out

    def _run_setup(self, tree: Path) -> None:
        if not self.setup.commands:
            return
        assert self.setup.log is not None
        self.setup.log.unlink(missing_ok=True)
        for command in self.setup.commands:
            result = run_logged(
                ["/bin/sh", "-c", command],
                log=self.setup.log,
                cwd=tree,
                environ=self.setup.environ,
                deadline_s=self.setup.deadline_s,
            )
            if result.ending is not Ending.DONE:
                raise SideError(
                    SideProblem.SETUP,
                    f"The setup command `{command}` of {self.title} ended with {result.detail}. Its log is "
                    f"{self.setup.log}, and ends with:\n{result.log_tail}",
                )


@dataclass(frozen=True)
class _Submodules:
    commits: Mapping[str, str]
    left_out: list[str]


def checkout_changes(tree: Path) -> TreeChanges:
    """Compare one of envdyno's own checkouts with its commit; files that a run leaves behind do not count."""
    return tree_changes(tree, Untracked.SOURCE, CHECKOUT_SETTINGS)


def discard_checkout(path: Path) -> None:
    """Remove an entry that holds a checkout, with its registration in the repository."""
    with suppress(FileNotFoundError):
        for tree in [child for child in path.iterdir() if (child / ".git").exists()]:
            remove_worktree(tree)
    discard_folder(path)
