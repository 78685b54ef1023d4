"""Checkouts of single commits in the cache, made and removed without touching the user's checkout."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from envdyno.sides.git import CHECKOUT_SETTINGS, IN_STORE, ask_git, run_git
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.repository import Repository, is_partial


def add_worktree(repository: Repository, commit: str, path: Path) -> None:
    """Check ``commit`` out in the new folder ``path``, detached.

    It is a linked worktree of the repository. Where the git directory cannot be written (a read-only
    mount), it is a repository of its own that borrows the objects instead.

    Raises:
        SideError: git failed; its own text is passed on.
    """
    if os.access(repository.common_dir, os.W_OK) and _can_hold_worktrees(repository.common_dir):
        # --force: an earlier cache may have been removed by hand, which leaves the path registered.
        run_git(
            repository.folder,
            *("worktree", "add", "--quiet", "--force", "--detach", "--no-checkout", str(path), commit),
            settings=CHECKOUT_SETTINGS,
        )
        _fill(repository, commit, path)
    else:
        borrow(repository.common_dir, commit, path)


def _fill(repository: Repository, commit: str, path: Path) -> None:
    options = ("--quiet", "--hard", "--no-recurse-submodules", commit)
    try:
        run_git(path, "reset", *options, settings=CHECKOUT_SETTINGS)
    except SideError as error:
        if not is_partial(repository):
            raise
        raise SideError(
            SideProblem.COMMIT_ABSENT,
            f"{repository.folder} is a partial clone, and not all files of {commit} are in it. Fetch them "
            f"first:\n    git -C {repository.folder} archive -o /dev/null {commit}\n{error}",
        ) from error


def borrow(git_dir: Path, commit: str, path: Path) -> None:
    """Check ``commit`` out in ``path``, in a repository of its own that borrows the objects of ``git_dir``.

    Unlike `git clone --shared`, this needs no ref that leads to the commit and works with shallow
    repositories, as submodules often are. Tags are taken over, for versions are made from them.
    """
    object_format = run_git(git_dir, *IN_STORE, "rev-parse", "--show-object-format").line
    path.mkdir(parents=True, exist_ok=True)
    run_git(path, "init", "--quiet", "--template=", f"--object-format={object_format}")
    own = path / ".git"
    (own / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (own / "objects" / "info" / "alternates").write_text(
        f"{git_dir.resolve() / 'objects'}\n", encoding="utf-8"
    )
    if (git_dir / "shallow").is_file():
        shutil.copyfile(git_dir / "shallow", own / "shallow")
    wanted = ("for-each-ref", "--format=create %(refname) %(objectname)", "refs/tags")
    run_git(path, "update-ref", "--stdin", text=run_git(git_dir, *IN_STORE, *wanted).out)
    run_git(path, "update-ref", "--no-deref", "HEAD", commit)
    run_git(path, "reset", "--quiet", "--hard", "--no-recurse-submodules", commit, settings=CHECKOUT_SETTINGS)


def remove_worktree(path: Path) -> None:
    """Remove a checkout, and the repository's entry for it, whatever state they are in.

    `git worktree remove` refuses trees with submodules and trees whose repository has moved, and
    `git worktree prune` would also drop entries of the user's. So exactly two folders are removed: the
    checkout, and the entry that names it.
    """
    entry = _entry_of(path)
    if path.exists():
        shutil.rmtree(path)
    if entry is not None:
        shutil.rmtree(entry, ignore_errors=True)
        with suppress(OSError):  # not empty: other worktrees are registered
            entry.parent.rmdir()


def why_unusable(path: Path, commit: str) -> str | None:
    """Say why the checkout at ``path`` is not one of ``commit`` any more, or ``None``."""
    if not path.is_dir():
        return "its folder is gone"
    head = ask_git(path, "rev-parse", "--verify", "HEAD")
    if head.code:
        return "its repository was moved or removed"
    if head.line != commit:
        return f"it stands at {head.line[:12]} instead of {commit[:12]}"
    return None


def _can_hold_worktrees(common_dir: Path) -> bool:
    folder = common_dir / "worktrees"
    return not folder.exists() or os.access(folder, os.W_OK)


def _entry_of(path: Path) -> Path | None:
    """Return the folder ``worktrees/NAME`` that registers ``path``, if it is really the one of ``path``."""
    try:
        text = (path / ".git").read_text(encoding="utf-8")
        entry = Path(text.removeprefix("gitdir:").strip())
        back = (entry / "gitdir").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    same = Path(back).resolve() == (path / ".git").resolve()
    return entry if same and entry.parent.name == "worktrees" else None
