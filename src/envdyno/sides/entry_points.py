"""Workloads that an interpreter knows by entry points: asked of that interpreter, a process for each.

An entry point's module is code of others, which may print, hang, or end the process. It is never imported
into the control.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import envdyno
from envdyno.agent.workloads.registration import Naming, Registration
from envdyno.sides.problems import SideError, SideProblem

_SCRIPT = Path(__file__).with_name("scripts") / "inspect_entry_points.py"
_DEADLINE_S = 120.0


@dataclass(frozen=True)
class EntryPointFound:
    """One entry point, imported or found to be broken."""

    registration: Registration
    broken: str = ""
    """Why its factory cannot be had; empty where it can."""


def entry_points_of(python: Path, environ: Mapping[str, str]) -> tuple[EntryPointFound, ...]:
    """Return what distributions of an interpreter registered as workloads, each imported, by name.

    Args:
        python: the interpreter.
        environ: the whole environment that a run would have.

    Raises:
        SideError: the interpreter does not answer.
    """
    with _alone() as folder:
        listed = _listed(python, environ, folder)
        return tuple(_inspected(entry, _ask(python, environ, folder, entry.name)) for entry in listed)


def entry_point_names(python: Path, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the names that distributions of an interpreter registered, without importing what they name.

    Raises:
        SideError: the interpreter does not answer.
    """
    with _alone() as folder:
        return frozenset(entry.name for entry in _listed(python, environ, folder))


@contextmanager
def _alone() -> Iterator[str]:
    """Make a folder that holds envdyno's package, and nothing of what is installed beside it."""
    with tempfile.TemporaryDirectory(prefix="envdyno-") as folder:
        (Path(folder) / "envdyno").symlink_to(Path(envdyno.__file__).parent)
        yield folder


def _listed(python: Path, environ: Mapping[str, str], folder: str) -> list[Registration]:
    answer = _ask(python, environ, folder)
    if isinstance(answer, str):
        raise SideError(
            SideProblem.INTERPRETER,
            f"{python} does not tell which workloads are registered for it: {answer}.",
        )
    return [Registration(name, factory, summary, group="installed") for name, factory, summary in answer]


def _inspected(entry: Registration, answer: Any) -> EntryPointFound:
    if isinstance(answer, str):
        return EntryPointFound(entry, answer)
    naming, broken = answer
    return EntryPointFound(replace(entry, naming=Naming(naming)), broken)


def _ask(python: Path, environ: Mapping[str, str], folder: str, *names: str) -> Any:
    """Return the answer, or why there is none, as a text."""
    marker = f"envdyno-{secrets.token_hex(8)}:"
    try:
        done = subprocess.run(
            [str(python), "-B", str(_SCRIPT), marker, folder, *names],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"there was no answer within {_DEADLINE_S:.0f} s"
    except OSError as error:
        return f"{python} cannot be started: {error.strerror}"
    _, found, answer = os.fsdecode(done.stdout).partition(marker)
    if not found:
        return f"the process ended with exit code {done.returncode}{_last_line(done.stderr)}"
    return json.loads(answer.splitlines()[0])


def _last_line(stderr: bytes) -> str:
    lines = os.fsdecode(stderr).strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""
