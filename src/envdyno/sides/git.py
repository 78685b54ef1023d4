"""Running git so that nothing of the caller's repository is changed and nothing is downloaded."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from envdyno.sides.problems import SideError, SideProblem

_SETTINGS = (
    # No transport at all: a partial clone must not fetch what is missing behind the user's back.
    "protocol.allow=never",
    "protocol.file.allow=always",
    # The user's hooks are meant for the user's own checkouts.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
)
CHECKOUT_SETTINGS = (
    # `git worktree add` would copy the patterns and check out a part of the tree.
    "core.sparseCheckout=false",
    # A missing git-lfs would fail the checkout; pointers are handled after it.
    "filter.lfs.smudge=",
    "filter.lfs.clean=",
    "filter.lfs.process=",
    "filter.lfs.required=false",
)
"""Further settings for the checkouts that envdyno makes itself."""
IN_STORE = ("--git-dir=.", "--work-tree=.")
"""First arguments for reading a git directory whose checkout may be gone, as that of a removed submodule."""
_ENVIRON = {
    "GIT_OPTIONAL_LOCKS": "0",  # reading must not refresh, and so write, the user's index
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "LC_ALL": "C",
}
_DEADLINE_S = 1800.0


class GitOutput(NamedTuple):
    """What a git command printed."""

    code: int
    out: str
    error: str

    @property
    def line(self) -> str:
        """The output without the final line end."""
        return self.out.rstrip("\n")


def git_environ(caller: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without the caller's ``GIT_*``, which would point at other repositories."""
    caller = os.environ if caller is None else caller
    kept = {name: value for name, value in caller.items() if not name.startswith("GIT_")}
    return {**kept, **_ENVIRON}


def ask_git(folder: Path, *arguments: str, settings: tuple[str, ...] = (), text: str = "") -> GitOutput:
    """Run git in ``folder`` with ``text`` as its input, and return what it said, whatever its exit code.

    Output is decoded with ``surrogateescape``, for paths are bytes.

    Raises:
        SideError: git is not installed, ``folder`` is not there, or git does not end.
    """
    command = ["git", "-C", str(folder)]
    for setting in (*_SETTINGS, *settings):
        command += ["-c", setting]
    try:
        done = subprocess.run(
            [*command, *arguments],
            env=git_environ(),
            input=os.fsencode(text),
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise SideError(
            SideProblem.GIT_MISSING,
            "A side names a git ref, but the program `git` is not on the PATH. Install git, or give the "
            "side an interpreter or requirements instead.",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise SideError(
            SideProblem.GIT,
            f"`git {' '.join(arguments)}` in {folder} did not end within {_DEADLINE_S:.0f} s.",
        ) from error
    return GitOutput(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr).strip())


def run_git(folder: Path, *arguments: str, settings: tuple[str, ...] = (), text: str = "") -> GitOutput:
    """Run git in ``folder`` with ``text`` as its input, and return what it said.

    Raises:
        SideError: git failed; its own text is passed on.
    """
    output = ask_git(folder, *arguments, settings=settings, text=text)
    if output.code:
        raise SideError(
            SideProblem.GIT,
            f"`git {' '.join(arguments)}` failed in {folder} with exit code {output.code}. Git says:\n"
            + indented(output.error),
        )
    return output


def indented(text: str) -> str:
    """Set git's own words apart in a message."""
    return "\n".join(f"    {line}" for line in text.splitlines())
