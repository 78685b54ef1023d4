"""Finding a git repository, and turning what the user wrote into one commit of it."""

from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from envdyno.sides.git import GitOutput, ask_git, indented, run_git
from envdyno.sides.problems import SideError, SideNotice, SideProblem

_HEX = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_FULL_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)


@dataclass(frozen=True)
class Repository:
    """A git repository as it was found."""

    folder: Path
    """Where git is run: the root of the checkout, or the git directory of a bare repository."""
    git_dir: Path
    common_dir: Path
    """The git directory that all worktrees share."""
    bare: bool
    shallow: bool

    @property
    def name(self) -> str:
        """The folder name that people know the repository by."""
        return self.common_dir.parent.name if self.common_dir.name == ".git" else self.common_dir.stem

    @property
    def key(self) -> str:
        """File name for things of this repository: its name and a hash of its place, of constant length."""
        place = hashlib.sha256(str(self.common_dir).encode()).hexdigest()[:8]
        return re.sub(r"[^A-Za-z0-9_.-]", "_", self.name)[:32] + "-" + place


@dataclass(frozen=True)
class Commit:
    """One commit, resolved."""

    sha: str
    tree: str
    ref: str | None
    """Full name of the ref, e.g. ``refs/remotes/origin/x``; ``None`` for a SHA or an expression."""
    committed_at: str
    """UTC, ISO 8601."""
    subject: str
    notices: tuple[SideNotice, ...] = ()


def discover(folder: Path) -> Repository:
    """Find the repository that ``folder`` belongs to.

    Raises:
        SideError: there is none, or git refuses it; git's own text is passed on.
    """
    if not folder.is_dir():
        raise SideError(SideProblem.PATH, f"The repository folder {folder} does not exist.")
    questions = ("--absolute-git-dir", "--git-common-dir", "--is-bare-repository", "--is-shallow-repository")
    answer = ask_git(folder, "rev-parse", *questions)
    if answer.code:
        raise _refused(folder, answer)
    git_dir_text, common_text, bare, shallow = answer.out.splitlines()
    git_dir = Path(git_dir_text).resolve()
    common_dir = (folder / common_text).resolve()
    top = ask_git(folder, "rev-parse", "--show-toplevel")
    root = Path(top.line) if top.code == 0 and top.line else git_dir
    return Repository(root.resolve(), git_dir, common_dir, bare == "true", shallow == "true")


def resolve(repository: Repository, ref: str) -> Commit:
    """Resolve ``ref`` to one commit, once; never to anything else than what was asked.

    A branch that exists at a remote only is taken from there, with a notice.

    Raises:
        SideError: no such commit, or one that this clone does not have; the message says what to do.
    """
    if not ref or ref.startswith("-"):
        raise SideError(SideProblem.UNKNOWN_REF, f"{ref!r} is not a git ref. Give a branch, a tag or a SHA.")
    answer = _commit_of(repository, ref)
    if answer.code == 0:
        return _described(repository, answer.line, _full_name(repository, ref), answer.error)
    if "ambiguous" in answer.error:
        raise SideError(
            SideProblem.UNKNOWN_REF,
            f"{ref} names more than one object of {repository.folder}. Give more digits. Git says:\n"
            + indented(answer.error),
        )
    at_remote = _remote_branch(repository, ref)
    if at_remote is not None:
        name, notice = at_remote
        sha = _commit_of(repository, name)
        if sha.code == 0:
            commit = _described(repository, sha.line, name, "")
            return replace(commit, notices=(notice,))
    raise _not_found(repository, ref)


def part_hash(repository: Repository, commit: str, path: str) -> str | None:
    """Return git's hash of one file or folder of ``commit``, or ``None`` when it has none there."""
    spec = path.strip("/")
    answer = ask_git(
        repository.folder, "rev-parse", "--verify", "--quiet", f"{commit}:{spec if spec != '.' else ''}"
    )
    return answer.line if answer.code == 0 else None


def _commit_of(repository: Repository, ref: str) -> GitOutput:
    return ask_git(repository.folder, "rev-parse", "--verify", f"{ref}^{{commit}}")


def _described(repository: Repository, sha: str, ref: str | None, warning: str) -> Commit:
    shown = run_git(
        repository.folder, "show", "-s", "--no-show-signature", "--format=%T%n%ct%n%s", sha
    ).out.splitlines()
    notices = (SideNotice(f"Git says about {ref or sha}: {warning}"),) if warning else ()
    moment = datetime.fromtimestamp(int(shown[1]), timezone.utc).isoformat()
    return Commit(sha, shown[0], ref, moment, shown[2] if len(shown) > 2 else "", notices)


def _full_name(repository: Repository, ref: str) -> str | None:
    answer = ask_git(repository.folder, "rev-parse", "--symbolic-full-name", ref)
    return answer.line if answer.code == 0 and answer.line.startswith("refs/") else None


def _remote_branch(repository: Repository, ref: str) -> tuple[str, SideNotice] | None:
    """Look for a branch of this name at the remotes; between several, only ``origin`` is preferred."""
    listed = ask_git(
        repository.folder, "for-each-ref", "--format=%(refname)", f"refs/remotes/*/{ref}"
    ).out.split()
    if not listed:
        return None
    short = [name.removeprefix("refs/remotes/") for name in listed]
    chosen = f"origin/{ref}"
    if chosen not in short:
        if len(short) > 1:
            raise SideError(
                SideProblem.UNKNOWN_REF,
                f"There is no local branch {ref} in {repository.folder}, and several remotes have one. Say "
                f"which: {', '.join(short)}.",
            )
        chosen = short[0]
    others = [name for name in short if name != chosen]
    text = f"There is no local branch {ref}; {chosen} is used, as it was last fetched"
    return f"refs/remotes/{chosen}", SideNotice(
        text + (f" (also there: {', '.join(others)})." if others else ".")
    )


def _not_found(repository: Repository, ref: str) -> SideError:
    where = repository.folder
    remote = next(iter(ask_git(where, "remote").out.split()), None)
    if remote is not None and (repository.shallow or is_partial(repository)):
        kind = "a shallow" if repository.shallow else "a partial"
        remedy = _fetch_remedy(repository, ref, remote)
        return SideError(
            SideProblem.COMMIT_ABSENT,
            f"{ref} is not in {where}, which is {kind} clone. Fetch it first:\n    {remedy}",
        )
    if _FULL_SHA.fullmatch(ref):
        hint = f" Fetch it first:\n    git -C {where} fetch {remote} {ref}" if remote else ""
        return SideError(SideProblem.COMMIT_ABSENT, f"There is no commit {ref} in {where}.{hint}")
    answer = ask_git(
        where, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"
    )
    near = difflib.get_close_matches(ref, answer.out.split(), n=3)
    hints = [f"Nearest names: {', '.join(near)}." if near else ""]
    if remote:
        hints.append(f"If it was pushed since the last fetch: git -C {where} fetch {remote}")
    return SideError(
        SideProblem.UNKNOWN_REF,
        " ".join([f"{ref} is not a commit, branch or tag of {where}.", *filter(None, hints)]),
    )


def is_partial(repository: Repository) -> bool:
    """Whether objects may be missing that a remote promised to give later."""
    return ask_git(repository.folder, "config", "--get-regexp", r"^remote\..*\.promisor$").code == 0


def _fetch_remedy(repository: Repository, ref: str, remote: str) -> str:
    prefix = f"git -C {repository.folder} fetch"
    if _FULL_SHA.fullmatch(ref):
        return f"{prefix} {'--depth 1 ' if repository.shallow else ''}{remote} {ref}"
    if _HEX.fullmatch(ref) or not re.fullmatch(r"[\w./-]+", ref):
        return f"{prefix} {'--unshallow ' if repository.shallow else ''}{remote}"
    return f"{prefix} {remote} {ref}:refs/remotes/{remote}/{ref}"


def _refused(folder: Path, answer: GitOutput) -> SideError:
    """Pass git's own text on: it knows best why it does not trust or find a repository."""
    if "dubious ownership" in answer.error:
        return SideError(
            SideProblem.DUBIOUS_OWNERSHIP,
            f"Git refuses the repository at {folder}, because another user owns it. Git says:\n"
            + indented(answer.error),
        )
    marker = folder / ".git"
    if marker.is_file():
        target = marker.read_text(encoding="utf-8", errors="replace").strip()
        return SideError(
            SideProblem.NOT_A_REPOSITORY,
            f"{folder} is a worktree whose file .git says `{target}`, and that place is not there. If the "
            "main repository was moved, run `git worktree repair` in it; in a container, mount it at the "
            "same path. "
            "Git says:\n" + indented(answer.error),
        )
    return SideError(
        SideProblem.NOT_A_REPOSITORY,
        f"{folder} is not in a git repository. Run inside one, or name it with `repo`. Git says:\n"
        + indented(answer.error),
    )
