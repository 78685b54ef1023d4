"""What can be wrong with a side, and the error that says so."""

from __future__ import annotations

from enum import Enum


class SideProblem(str, Enum):
    """Reason codes of :class:`SideError`; they stand in records and decide exit codes."""

    GIT = "git"
    """A git command failed; its own text is in the message."""
    GIT_MISSING = "git_missing"
    NOT_A_REPOSITORY = "not_a_repository"
    DUBIOUS_OWNERSHIP = "dubious_ownership"
    UNKNOWN_REF = "unknown_ref"
    COMMIT_ABSENT = "commit_absent"
    """The commit exists, but not in this shallow or partial clone."""
    SUBMODULE = "submodule"
    LFS_POINTER = "lfs_pointer"
    WORKING_TREE = "working_tree"
    INTERPRETER = "interpreter"
    REQUIREMENTS = "requirements"
    SETUP = "setup"
    PATH = "path"
    """A folder or file that the side names is not there."""
    CACHE = "cache"
    """The cache folder cannot be used."""
    SHARED_CACHE = "shared_cache"
    """Both sides would write compiled code into one folder."""
    SAME_CODE = "same_code"
    ORIGIN = "origin"
    """A module under test was loaded from elsewhere."""
    CHANGED = "changed"
    """The side changed between its preparation and now."""
    PACKAGES = "packages"
    """Packages differ between sides and nothing says that they should."""
    DEPENDENCY = "dependency"
    """A side lacks what its own metadata asks for."""


class SideError(Exception):
    """A side cannot be prepared, or cannot be trusted. The message is a finished text for the user."""

    def __init__(self, problem: SideProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


class SideNotice(str):
    """One sentence about a side that the user should read, though nothing is wrong."""

    __slots__ = ()
