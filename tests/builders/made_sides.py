"""Prepared sides without a repository, an environment or a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envdyno.sides.interpreter import Interpreter
from envdyno.sides.packages import Distribution, PackageSet
from envdyno.sides.prepared import CodeIdentity, CodeKind, PreparedSide, SideIdentity

PYTHON = Interpreter(
    path=Path("/opt/side/bin/python"),
    version="3.11.7",
    implementation="cpython",
    soabi="cpython-311-x86_64-linux-gnu",
    free_threaded=False,
    prefix="/opt/side",
    base_prefix="/usr",
    platform="linux-x86_64",
    libc="glibc 2.36",
)


def packages(**versions: str) -> PackageSet:
    """Installed distributions by name."""
    found = {
        name: Distribution(name, version, (), "/opt/side/lib", None, editable=False)
        for name, version in versions.items()
    }
    return PackageSet(found, {})


def code(commit: str = "6" * 40, **changes: Any) -> CodeIdentity:
    """The code of a commit."""
    fields: dict[str, Any] = {
        "kind": CodeKind.GIT_REF,
        "repository": "/home/user/project/.git",
        "ref_asked": "main",
        "ref_resolved": "refs/heads/main",
        "commit": commit,
        "tree": "7" * 40,
        "dirty": False,
        "diff_sha256": None,
    }
    return CodeIdentity(**{**fields, **changes})


def side(
    name: str,
    *,
    at: CodeIdentity | None = None,
    options: Mapping[str, Any] | None = None,
    python: Mapping[str, Any] | None = None,
    **identity: Any,
) -> PreparedSide:
    """A side of this interpreter; without code, a side of mere options."""
    interpreter = replace(PYTHON, **(python or {}))
    fields: dict[str, Any] = {
        "code": at,
        "interpreter": interpreter,
        "packages": packages(numpy="2.4.6"),
        "requirements": None,
        "declared_packages": (),
        "pythonpath": (),
        "setup": (),
        "environ": {},
        "unset": (),
        "options": dict(options or {}),
    }
    return PreparedSide(
        name=name,
        python=interpreter.path,
        sys_path=(),
        environ={},
        cwd=None,
        options=dict(options or {}),
        cache_dirs={},
        identity=SideIdentity(**{**fields, **identity}),
    )
