"""The Python interpreter of a side: found, checked, and described by itself."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from envdyno.sides.packages import PackageSet, package_set
from envdyno.sides.problems import SideError, SideProblem

OLDEST = (3, 10)
_SCRIPT = Path(__file__).with_name("scripts") / "describe_interpreter.py"
_DEADLINE_S = 120.0
_VERSION = re.compile(r"3\.\d+(\.\d+)?t?")


@dataclass(frozen=True)
class Interpreter:
    """One interpreter, by its own account."""

    path: Path
    """How it is started. Not resolved: the path tells Python which environment it is in."""
    version: str
    implementation: str
    soabi: str
    """Tag of the extension modules that it loads, e.g. ``cpython-311-x86_64-linux-gnu``."""
    free_threaded: bool
    prefix: str
    base_prefix: str
    """Differs from :attr:`prefix` in a virtual environment."""
    platform: str
    libc: str

    @property
    def is_virtual(self) -> bool:
        """Whether it runs in a virtual environment."""
        return self.prefix != self.base_prefix


class Description(NamedTuple):
    """What an interpreter said of itself."""

    interpreter: Interpreter
    packages: PackageSet
    user_site: str | None
    """Folder of the user's own packages, where the interpreter uses one."""


def find_interpreter(asked: str | None, directory: Path) -> Path:
    """Turn what the user wrote into the path of an interpreter.

    Args:
        asked: a path of an interpreter or of an environment's folder, a command, a version such as
            ``3.12``, or ``None`` for the interpreter that envdyno runs in.
        directory: where relative paths start.

    Raises:
        SideError: there is no such interpreter.
    """
    if asked is None:
        return Path(sys.executable)
    if _VERSION.fullmatch(asked):
        return _by_version(asked)
    given = Path(asked).expanduser()
    if given.name == asked and not (directory / given).exists():
        command = shutil.which(asked)
        if command is None:
            raise SideError(
                SideProblem.INTERPRETER,
                f"The interpreter {asked!r} is neither a command nor a path below {directory}.",
            )
        return Path(command)
    path = Path(os.path.normpath(directory / given))
    if path.is_dir():
        inside = path / "bin" / "python"
        if not inside.exists():
            raise SideError(
                SideProblem.INTERPRETER,
                f"{path} is a folder without bin/python, so it is no Python environment. Give an "
                "interpreter or the folder of an environment.",
            )
        return inside
    if not path.exists():
        target = f", a link to {path.readlink()}, which is gone" if path.is_symlink() else ""
        raise SideError(SideProblem.INTERPRETER, f"The interpreter {path} does not exist{target}.")
    if not os.access(path, os.X_OK):
        raise SideError(SideProblem.INTERPRETER, f"The interpreter {path} is not executable.")
    return path


def describe(path: Path, environ: Mapping[str, str], sys_path: Sequence[Path] = ()) -> Description:
    """Start the interpreter once and ask what it is and which packages it sees.

    Args:
        path: the interpreter.
        environ: the whole environment that a run would have.
        sys_path: folders that a run would have first on its import path.

    Raises:
        SideError: it does not start, is no Python, or is older than 3.10.
    """
    marker = f"envdyno-{secrets.token_hex(8)}:"
    arguments = ["-B", str(_SCRIPT), marker, *map(str, sys_path)]
    done = _started(path, arguments, dict(environ), late="describe itself")
    # A sitecustomize may print; only what follows the marker is ours.
    _, found, answer = os.fsdecode(done.stdout).partition(marker)
    if done.returncode or not found:
        if "SyntaxError" in os.fsdecode(done.stderr):
            raise SideError(
                SideProblem.INTERPRETER,
                f"{path} cannot read what Python {OLDEST[0]}.{OLDEST[1]} can. A side needs that version or "
                "a newer one.",
            )
        said = (os.fsdecode(done.stderr) or os.fsdecode(done.stdout)).strip().splitlines()[-5:]
        raise SideError(
            SideProblem.INTERPRETER,
            f"{path} does not behave like a Python interpreter (exit code {done.returncode}). It says:\n"
            + "\n".join(f"    {line}" for line in said),
        )
    return _read(path, json.loads(answer.splitlines()[0]))


def _started(
    path: Path, arguments: Sequence[str], environ: Mapping[str, str] | None, *, late: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; ``late`` says what it did not do in time.

    Raises:
        SideError: it does not start, or does not end.
    """
    try:
        return subprocess.run(
            [str(path), *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except OSError as error:
        raise SideError(SideProblem.INTERPRETER, f"{path} cannot be started: {error.strerror}.") from error
    except subprocess.TimeoutExpired as error:
        raise SideError(
            SideProblem.INTERPRETER, f"{path} did not {late} within {_DEADLINE_S:.0f} s."
        ) from error


@lru_cache
def check_starts(path: Path) -> None:
    """Start a program once and see that it is a Python that workers can run in; each only once.

    Raises:
        SideError: it does not start, is no Python, or is older than 3.10.
    """
    marker = f"envdyno-{secrets.token_hex(8)}:"
    code = f"import sys; sys.stdout.write('{marker}%d.%d' % sys.version_info[:2])"
    done = _started(path, ["-I", "-S", "-c", code], None, late="answer as Python does")
    _, _, version = os.fsdecode(done.stdout).partition(marker)
    if re.fullmatch(r"\d+\.\d+", version) is None:
        said = (os.fsdecode(done.stderr) or os.fsdecode(done.stdout)).strip().splitlines()
        # What a program says that only repeats the question explains nothing.
        answer = f" and says: {said[0][:200]}" if said and marker not in said[0] else "."
        raise SideError(
            SideProblem.INTERPRETER,
            f"{path} is not a Python interpreter: asked for its version it ends with exit code "
            f"{done.returncode}{answer}",
        )
    _check_version(path, version)


class Descriptions:
    """Descriptions of interpreters, each asked for once: to start Python and read metadata takes a while."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Description] = {}

    def of(self, path: Path, environ: Mapping[str, str], sys_path: Sequence[Path] = ()) -> Description:
        """As :func:`describe`; folders without package metadata change no answer and are left out."""
        telling = tuple(folder for folder in sys_path if _has_metadata(folder))
        key = (path, telling, tuple(sorted(environ.items())))
        if key not in self._known:
            self._known[key] = describe(path, environ, telling)
        return self._known[key]


def _has_metadata(folder: Path) -> bool:
    return any(child.suffix in (".dist-info", ".egg-info") for child in folder.iterdir())


def _read(path: Path, body: dict[str, Any]) -> Description:
    version = body["interpreter"]["version"]
    _check_version(path, version)
    facts = {name: value for name, value in body["interpreter"].items() if name != "executable"}
    return Description(
        Interpreter(path=path, **facts),
        package_set(body["distributions"], body["markers"]),
        body["user_site"],
    )


def _check_version(path: Path, version: str) -> None:
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise SideError(
            SideProblem.INTERPRETER,
            f"{path} is Python {version}. A side needs Python {OLDEST[0]}.{OLDEST[1]} or newer.",
        )


def _by_version(version: str) -> Path:
    command = shutil.which(f"python{version}")
    if command is not None:
        return Path(command)
    uv = find_uv()
    if uv is not None:
        answer = subprocess.run(
            [str(uv), "python", "find", "--no-project", "--no-python-downloads", version],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
        if answer.returncode == 0 and answer.stdout.strip():
            return Path(answer.stdout.strip())
    raise SideError(
        SideProblem.INTERPRETER,
        f"There is no Python {version} on this machine: no command python{version}, and none that uv knows. "
        f"Install it, e.g. `uv python install {version}`.",
    )


def find_uv() -> Path | None:
    """Return the program uv: the one that started us, one beside our interpreter, or one on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    for candidate in (os.environ.get("UV"), beside, shutil.which("uv")):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    return None
