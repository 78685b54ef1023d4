"""The recipe for an isolated environment: built once from a requirement text, with uv or with pip."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from envdyno.sides.interpreter import Interpreter, describe, find_uv
from envdyno.sides.logged_command import Ending, run_logged
from envdyno.sides.prepared import child_environ
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.requirement_text import RequirementText
from envdyno.sides.store import Kind, discard_folder

_DEADLINE_S = 3600.0
_REDIRECTING = (
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "UV_TARGET",
    "UV_PREFIX",
    "UV_SYSTEM_PYTHON",
)
"""Settings of the caller that would install into another place than the new environment."""


class Sharing(str, Enum):
    """Who uses an environment."""

    SHARED = "shared"
    """Every side with this text, interpreter and platform. Nothing may be installed into it later."""
    PRIVATE = "private"
    """One commit, whose setup commands install into it."""


@dataclass(frozen=True)
class EnvironmentRecipe:
    """One environment in the cache."""

    requirements: RequirementText
    dependencies: bool
    base: Interpreter
    log: Path
    sharing: Sharing = Sharing.SHARED
    owner: str = ""
    """What a private environment belongs to: commit and setup commands."""

    @property
    def kind(self) -> Kind:
        """Environments."""
        return Kind.ENVIRONMENTS

    @property
    def key(self) -> str:
        """Hash of all that decides the content: text, interpreter, platform."""
        base = self.base
        parts = [
            self.requirements.digest,
            str(self.dependencies),
            *(base.implementation, base.version, base.soabi, base.base_prefix, base.platform, base.libc),
            *(self.sharing.value, self.owner),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]

    @property
    def title(self) -> str:
        """For sentences."""
        lines = self.requirements.lines
        shown = ", ".join(lines[:3]) + (", …" if len(lines) > 3 else "")
        return f"the environment with {shown or 'no packages'} (Python {self.base.version})"

    @staticmethod
    def python(path: Path) -> Path:
        """Return the interpreter of the entry ``path``."""
        return path / "env" / "bin" / "python"

    def build(self, path: Path) -> Mapping[str, Any]:
        """Make the environment and install into it."""
        self.log.unlink(missing_ok=True)
        uv = find_uv()
        environ = child_environ(
            {name: value for name, value in os.environ.items() if name not in _REDIRECTING}, isolated=True
        )
        self._make(path, uv, environ)
        self._install(path, uv, environ)
        found = describe(self.python(path), environ)
        return {
            "installer": "pip" if uv is None else "uv",
            "python": found.interpreter.version,
            "packages": found.packages.digest,
            "requirements": self.requirements.text,
        }

    def fault(self, path: Path, facts: Mapping[str, Any]) -> str | None:
        """Say how the environment has changed since it was made."""
        python = self.python(path)
        if not python.exists():
            return "the interpreter that it was made from is gone"
        found = describe(python, child_environ(os.environ, isolated=True))
        if found.interpreter.version != facts["python"]:
            return f"its Python was {facts['python']} and is {found.interpreter.version} now"
        if self.sharing is Sharing.SHARED and found.packages.digest != facts["packages"]:
            return "packages in it were changed"
        return None

    def discard(self, path: Path) -> None:
        """Remove the environment."""
        discard_folder(path)

    def _make(self, path: Path, uv: Path | None, environ: Mapping[str, str]) -> None:
        target = str(path / "env")
        # Setup commands expect a pip of this environment; without one they would find another's.
        if uv is not None and self.sharing is Sharing.SHARED:
            command = [str(uv), "venv", "--no-project", "--python", str(self.base.path), target]
        else:
            command = [str(self.base.path), "-m", "venv", target]
        remedy = "Install uv (`pip install uv`), which needs nothing of the interpreter"
        if uv is None or self.sharing is Sharing.PRIVATE:
            remedy = (
                "Where the interpreter lacks ensurepip, install it (Debian: python3-venv), or use another"
            )
        self._run(command, path, environ, f"An isolated environment could not be made. {remedy}.")

    def _install(self, path: Path, uv: Path | None, environ: Mapping[str, str]) -> None:
        if not self.requirements.lines:
            return
        (path / "requirements.txt").write_text("\n".join(self.requirements.lines) + "\n", encoding="utf-8")
        python = str(self.python(path))
        if uv is not None:
            command = [str(uv), "pip", "install", "--python", python]
        else:
            command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        command += ["--requirement", "requirements.txt"]
        if self.requirements.constraints:
            lines = "\n".join(self.requirements.constraints) + "\n"
            (path / "constraints.txt").write_text(lines, encoding="utf-8")
            command += ["--constraint", "constraints.txt"]
        if not self.dependencies:
            command.append("--no-deps")
        self._run(command, path, environ, f"The requirements of {self.title} could not be installed.")

    def _run(self, command: Sequence[str], path: Path, environ: Mapping[str, str], failure: str) -> None:
        result = run_logged(command, log=self.log, cwd=path, environ=environ, deadline_s=_DEADLINE_S)
        if result.ending is not Ending.DONE:
            raise SideError(
                SideProblem.REQUIREMENTS,
                f"{failure} `{' '.join(command)}` ended with {result.detail}. Its log is {self.log}, and "
                f"ends with:\n{result.log_tail}",
            )
