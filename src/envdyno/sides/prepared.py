"""A side that is ready to run, and what is known about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from envdyno.sides.interpreter import Interpreter
from envdyno.sides.packages import PackageSet
from envdyno.sides.request import OptionValue

_LEADS_ELSEWHERE = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONPLATLIBDIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "__PYVENV_LAUNCHER__",
)
"""Variables of the caller that would bring the caller's code or environment into a side."""


class CodeKind(str, Enum):
    """Where the code of a side comes from."""

    GIT_REF = "git_ref"
    WORKING_TREE = "working_tree"


@dataclass(frozen=True)
class CodeIdentity:
    """Which code a side is made of. ``None`` means not known, and :attr:`unknown` says why."""

    kind: CodeKind
    repository: str
    ref_asked: str | None
    ref_resolved: str | None
    """The full name of the ref that was used, where the ref is not a plain SHA."""
    commit: str | None
    """Full SHA of the commit; of a working tree, that of its HEAD."""
    tree: str | None
    """SHA of the commit's tree object."""
    dirty: bool
    """Whether files differ from the commit; files that git ignores do not count."""
    diff_sha256: str | None
    """Hash over the paths and contents of the files that differ; ``None`` when there are none."""
    changed_files: tuple[str, ...] = ()
    """At most the first hundred of the files that differ."""
    submodules: Mapping[str, str] = field(default_factory=dict)
    """Commit of each submodule by its path."""
    unpopulated: tuple[str, ...] = ()
    """Submodules and LFS files that were left out on request."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Git's hash of each module under test and each data path, by name; empty when the tree is dirty."""
    committed_at: str | None = None
    """UTC, ISO 8601."""
    subject: str | None = None
    unknown: str | None = None

    @property
    def label(self) -> str:
        """A short name for tables: the start of the SHA, marked when files differ from it."""
        if self.commit is None:
            return "unknown commit"
        return self.commit[:8] + ("-dirty" if self.dirty else "")


@dataclass(frozen=True)
class SideIdentity:
    """Everything that makes a side what it is, as far as it is known before it runs."""

    code: CodeIdentity | None
    interpreter: Interpreter
    packages: PackageSet
    requirements: str | None
    """The requirement text with all included files in place, or ``None`` for a given environment."""
    declared_packages: tuple[str, ...]
    """Canonical names of the packages that this side says are its own choice."""
    pythonpath: tuple[str, ...]
    """Relative to the code where the side has code."""
    setup: tuple[str, ...]
    """The setup commands that were run."""
    environ: Mapping[str, str]
    """Variables that the plan sets."""
    unset: tuple[str, ...]
    options: Mapping[str, OptionValue]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        body: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        body["packages"] = self.packages.to_json()
        return body

    @property
    def environment_digest(self) -> str:
        """SHA-256 over interpreter and packages, whatever the code."""
        interpreter = self.interpreter
        return _digest([str(interpreter.path), interpreter.version, interpreter.soabi, self.packages.digest])

    @property
    def digest(self) -> str:
        """SHA-256 over everything that may change what runs; equal for equal sides on one machine."""
        code = self.code
        state = code and (code.repository, code.commit, code.diff_sha256, code.unpopulated)
        relevant = {
            "code": state,
            "environment": self.environment_digest,
            "pythonpath": self.pythonpath,
            "setup": self.setup,
            "environ": dict(sorted(self.environ.items())),
            "unset": sorted(self.unset),
            "options": dict(sorted(self.options.items())),
        }
        return _digest(relevant)


@dataclass(frozen=True)
class PreparedSide:
    """Everything that a launcher needs to start a run of one side."""

    name: str
    python: Path
    """The interpreter to start; not resolved, for the path tells Python which environment it is in."""
    sys_path: tuple[Path, ...]
    """Folders to put first on the import path."""
    environ: Mapping[str, str]
    """Variables to set, caches included."""
    cwd: Path | None
    """Working directory of the run; ``None`` keeps the caller's."""
    options: Mapping[str, OptionValue]
    cache_dirs: Mapping[str, Path]
    """The side's own caches, by environment variable; also in :attr:`environ`."""
    identity: SideIdentity
    tree: Path | None = None
    """Folder of the side's code."""
    tree_guard: str | None = None
    """Hash of the changes in :attr:`tree` that could change what is imported, at preparation."""
    modules: Mapping[str, Path] = field(default_factory=dict)
    """Modules in the side's code, with the file, or for a namespace package the folder, of each."""
    named_modules: tuple[str, ...] = ()
    """Modules that the plan names as under test."""
    origins: tuple[Path, ...] = ()
    """Folders that modules which are not in the side's code may come from; empty means anywhere."""
    caches: tuple[Mapping[str, str | None], ...] = ()
    """For the record: each cache variable, its path, whose choice it was and what the caller had set."""

    def child_environ(self, caller: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment of a run, started by somebody whose environment is ``caller``.

        A side with code or an interpreter of its own does not inherit what would lead to other code
        (``PYTHONPATH`` and the like). ``GIT_*`` is never inherited: it names the caller's repository.
        """
        return child_environ(
            caller,
            isolated=self.tree is not None or self.identity.requirements is not None,
            unset=self.identity.unset,
            environ=self.environ,
        )


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def child_environ(
    caller: Mapping[str, str],
    *,
    isolated: bool,
    unset: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return ``caller`` without what would lead a side to other code, with ``environ`` set."""
    dropped = {*unset, *(_LEADS_ELSEWHERE if isolated else ())}
    kept = {
        name: value for name, value in caller.items() if name not in dropped and not name.startswith("GIT_")
    }
    kept.update(environ or {})
    return kept


def inherited_and_dropped(caller: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables of ``caller`` that an isolated side does not get and that may be missed."""
    return tuple(name for name in ("PYTHONPATH", "PYTHONHOME") if caller.get(name))
