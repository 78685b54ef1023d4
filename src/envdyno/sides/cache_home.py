"""Where envdyno keeps worktrees, environments and compiled code between experiments."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from envdyno.sides.problems import SideError, SideNotice, SideProblem


class CacheHome(NamedTuple):
    """The cache folder and, where it is not the usual one, why."""

    path: Path
    notice: SideNotice | None = None


def cache_home(environ: Mapping[str, str] | None = None) -> CacheHome:
    """Return a cache folder that can be written.

    In this order: ``ENVDYNO_CACHE_DIR``; ``$XDG_CACHE_HOME/envdyno``; ``~/.cache/envdyno``; and where the
    home directory is missing or read-only, a private folder below the system's folder for temporary files.

    Raises:
        SideError: ``ENVDYNO_CACHE_DIR`` is set to a folder that cannot be written, or no folder can be.
    """
    environ = os.environ if environ is None else environ
    asked = environ.get("ENVDYNO_CACHE_DIR")
    if asked:
        path = Path(asked).expanduser().absolute()
        fault = _why_unwritable(path)
        if fault:
            raise SideError(
                SideProblem.CACHE, f"ENVDYNO_CACHE_DIR is {path}, which cannot be written: {fault}."
            )
        return CacheHome(_resolved(path))
    usual = _xdg_cache_home(environ) / "envdyno"
    fault = _why_unwritable(usual)
    if fault is None:
        return CacheHome(_resolved(usual))
    private = _private_temporary_folder()
    return CacheHome(
        private,
        SideNotice(
            f"The cache folder {usual} cannot be written ({fault}), so {private} is used. It may not "
            "outlive a restart of the machine; set ENVDYNO_CACHE_DIR to choose another."
        ),
    )


def _xdg_cache_home(environ: Mapping[str, str]) -> Path:
    """Follow the XDG Base Directory Specification, which has relative values ignored."""
    given = environ.get("XDG_CACHE_HOME", "")
    if given.startswith("/"):
        return Path(given)
    home = environ.get("HOME") or "~"
    return Path(home).expanduser() / ".cache"


def _why_unwritable(path: Path) -> str | None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _private_temporary_folder() -> Path:
    path = Path(tempfile.gettempdir()) / f"envdyno-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        facts = path.lstat()
    except OSError as error:
        raise SideError(
            SideProblem.CACHE,
            f"No cache folder can be written, not even {path} ({error.strerror}). Set ENVDYNO_CACHE_DIR to "
            "a folder that can be.",
        ) from error
    # Code is run from this folder, so nobody else may have made it first.
    if path.is_symlink() or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise SideError(
            SideProblem.CACHE,
            f"The folder {path} belongs to another user or can be written by others, so it is not used as a "
            "cache. Set ENVDYNO_CACHE_DIR to a folder of your own.",
        )
    return _resolved(path)


def _resolved(path: Path) -> Path:
    """Resolve links, so that later comparisons of paths are comparisons of places."""
    return path.resolve()
