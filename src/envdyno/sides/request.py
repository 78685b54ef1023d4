"""What an experiment asks of a side, before anything is resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

OptionValue = str | bool | int | float | None
"""What an option of a workload may be."""


class SubmodulePolicy(str, Enum):
    """What to do about the submodules of a commit."""

    LOCAL = "local"
    """Check them out from objects that are on this machine; refuse where they are not."""
    SKIP = "skip"
    """Leave their folders empty."""


class LfsPolicy(str, Enum):
    """What to do about Git LFS pointer files in a commit."""

    LOCAL = "local"
    """Put the objects of the repository's LFS store in their place; refuse where they are not."""
    SKIP = "skip"
    """Leave the pointers as they are."""


@dataclass(frozen=True)
class GitRef:
    """The code of one commit."""

    ref: str
    """Whatever git resolves to a commit: branch, tag, SHA, ``HEAD~3``."""
    repository: Path
    """Any folder of the repository."""
    submodules: SubmodulePolicy = SubmodulePolicy.LOCAL
    lfs: LfsPolicy = LfsPolicy.LOCAL


@dataclass(frozen=True)
class WorkingTree:
    """The files of a checkout as they are now, committed or not."""

    repository: Path


@dataclass(frozen=True)
class Requirements:
    """Packages for an isolated environment, in the language of pip's requirements files."""

    lines: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    dependencies: bool = True
    """Whether what the packages depend on is installed too."""


@dataclass(frozen=True)
class SideRequest:
    """One side as the plan asks for it. Everything may be combined."""

    name: str
    directory: Path
    """Relative paths start here: the folder of the plan file, or the current one."""
    code: GitRef | WorkingTree | None = None
    python: str | None = None
    """Path of an interpreter, folder of an environment, or a version such as ``3.12``."""
    requirements: Requirements | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables to set. ``{tree}`` stands for the folder of the side's code."""
    unset: tuple[str, ...] = ()
    """Variables to take away."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Options of the workload, on this side only."""
    pythonpath: tuple[str, ...] | None = None
    """Folders to import from, relative to the side's code. ``None``: ``src`` if there, else the root."""
    setup: tuple[str, ...] = ()
    """Shell commands, run once a commit in the folder of the side's code."""
    setup_deadline_s: float = 1800.0
    cwd: str | None = None
    """Working directory of the run, relative to the side's code."""
    origins: tuple[Path, ...] = ()
    """Further folders that modules under test may come from, e.g. that of an editable install."""
    data: tuple[str, ...] = ()
    """Files and folders outside the packages that the workload reads, relative to the side's code."""
    modules: tuple[str, ...] = ()
    """Modules under test, beside those that the workload names and those found in the side's code."""

    @property
    def installs(self) -> bool:
        """Whether this side has an environment that envdyno builds."""
        return self.requirements is not None
