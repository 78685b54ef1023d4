"""Caches of compiled code that two sides must not share.

Each of these is keyed by less than all that decides its content, so that one side can run, or be tuned
by, what the other side left there. Every side gets folders of its own, kept between experiments so that
a side that was run before starts warm.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.store import Kind, discard_folder


class When(str, Enum):
    """When a cache is given to a side."""

    ALWAYS = "always"
    IF_SET = "if_set"
    """Only where the caller set it: setting it turns on a cache that is off by default."""


class Scope(str, Enum):
    """How long a cache may be kept."""

    CONTENT = "content"
    """As long as nothing of the side changes: these know little of what their entries were made from."""
    ENVIRONMENT = "environment"
    """As long as interpreter and packages stay, whichever commit runs. Bytecode is found by the whole path of
    its source, and each commit has a path of its own; so a new commit need not compile all packages anew."""


class _Cache(NamedTuple):
    variable: str
    place: str
    """Below the side's folder. With a suffix it is a file, else a folder."""
    when: When = When.ALWAYS
    scope: Scope = Scope.CONTENT


_WIDE = "XDG_CACHE_HOME"
"""Never divided at the caller's place: envdyno's own cache is below it already."""
CACHES = (
    _Cache("PYTHONPYCACHEPREFIX", "bytecode", scope=Scope.ENVIRONMENT),
    _Cache(_WIDE, "xdg"),
    _Cache("NUMBA_CACHE_DIR", "numba"),
    _Cache("TORCHINDUCTOR_CACHE_DIR", "inductor"),
    _Cache("TORCH_EXTENSIONS_DIR", "torch_extensions"),
    _Cache("TRITON_CACHE_DIR", "triton"),
    _Cache("WARP_CACHE_PATH", "warp"),
    _Cache("CUDA_CACHE_PATH", "cuda"),
    _Cache("CUPY_CACHE_DIR", "cupy"),
    _Cache("TI_OFFLINE_CACHE_FILE_PATH", "taichi"),
    _Cache("QD_OFFLINE_CACHE_FILE_PATH", "quadrants"),
    _Cache("GS_CACHE_FILE_PATH", "genesis"),
    _Cache("UNISIM_CHUNK_SIZE_CACHE", "unisim_chunk_size.json"),
    _Cache("JAX_COMPILATION_CACHE_DIR", "jax", When.IF_SET),
)
"""Variables of Python, Numba, PyTorch, Triton, Warp, CUDA, CuPy, Taichi, Quadrants, Genesis, unisim, JAX."""

_DATA = (
    ("HF_HOME", "huggingface"),
    ("TORCH_HOME", "torch"),
    ("ROBOT_DESCRIPTIONS_CACHE", "robot_descriptions"),
    ("UV_CACHE_DIR", "uv"),
    ("PIP_CACHE_DIR", "pip"),
)
"""Caches of downloads below ``XDG_CACHE_HOME``. They hold no compiled code and stay where they are."""


class Choice(str, Enum):
    """Whose choice the place of a cache was."""

    OWN = "own"
    """Below envdyno's cache folder."""
    BELOW_CALLER = "below_caller"
    """A folder of the side's below the one that the caller had set."""
    SIDE = "side"
    """The plan sets it for this side."""
    KEPT = "kept"
    """A cache of downloads, left at the caller's place."""


@dataclass(frozen=True)
class CacheDir:
    """Where one cache of one side is."""

    variable: str
    path: Path
    choice: Choice
    caller_value: str | None
    """What the caller's environment had."""

    def to_json(self) -> dict[str, str | None]:
        """Return plain JSON types."""
        return {
            "variable": self.variable,
            "path": str(self.path),
            "choice": self.choice.value,
            "caller_value": self.caller_value,
        }


@dataclass(frozen=True)
class CompiledRecipe:
    """The folder for what one side compiles; it starts empty and is filled by runs."""

    key: str
    """Names the side and its content or environment. Of equal length for all sides, see
    :attr:`envdyno.sides.checkout.CheckoutRecipe.key`."""
    title: str

    @property
    def kind(self) -> Kind:
        """Compiled code."""
        return Kind.COMPILED

    def build(self, path: Path) -> Mapping[str, Any]:
        """Leave the folder empty."""
        del path
        return {}

    def fault(self, path: Path, facts: Mapping[str, Any]) -> str | None:
        """Trust the folder: programs check their caches, and the key covers what they do not check."""
        del path, facts
        return None

    def discard(self, path: Path) -> None:
        """Remove the folder."""
        discard_folder(path)


class OwnFolder(NamedTuple):
    """A folder of a side in envdyno's cache, and the name for its twin at a place of the caller's."""

    path: Path
    key: str


def cache_dirs(
    own: Mapping[Scope, OwnFolder], caller: Mapping[str, str], side_environ: Mapping[str, str]
) -> tuple[CacheDir, ...]:
    """Give a side its caches; the folders exist afterwards.

    Args:
        own: the side's folders in envdyno's cache.
        caller: the caller's environment.
        side_environ: variables that the plan sets for the side; they win.

    Raises:
        SideError: a folder cannot be made.
    """
    given = [
        _place(cache, own[cache.scope], caller.get(cache.variable), side_environ.get(cache.variable))
        for cache in CACHES
        if cache.when is When.ALWAYS or caller.get(cache.variable) or cache.variable in side_environ
    ]
    kept = _kept_downloads(caller, side_environ)
    for cache in given:
        fault = _why_unusable(cache.path)
        if fault:
            raise SideError(
                SideProblem.CACHE,
                f"The cache {cache.path} for {cache.variable} cannot be made ({fault}). Set "
                f"{cache.variable} or ENVDYNO_CACHE_DIR to a place that can be written.",
            )
    return (*given, *kept)


def refuse_shared(
    first: str, first_dirs: tuple[CacheDir, ...], second: str, second_dirs: tuple[CacheDir, ...]
) -> None:
    """Raise if two sides would write compiled code into one place.

    Raises:
        SideError: the plan sets one cache to the same place for both.
    """
    places = {cache.path.resolve(): cache for cache in first_dirs if cache.choice is not Choice.KEPT}
    for cache in second_dirs:
        twin = places.get(cache.path.resolve())
        if twin is not None and cache.choice is not Choice.KEPT:
            raise SideError(
                SideProblem.SHARED_CACHE,
                f"The sides {first} and {second} would share the cache {cache.path} ({twin.variable} and "
                f"{cache.variable}), so one could run what the other compiled. Remove these variables from "
                "the plan, or give each side a folder of its own.",
            )


def _place(cache: _Cache, own: OwnFolder, caller_value: str | None, side_value: str | None) -> CacheDir:
    if side_value:
        return CacheDir(cache.variable, Path(side_value).absolute(), Choice.SIDE, caller_value)
    if caller_value and cache.variable != _WIDE:
        below = _below(Path(caller_value).expanduser().absolute(), cache.place, own.key)
        if below is not None:
            return CacheDir(cache.variable, below, Choice.BELOW_CALLER, caller_value)
    return CacheDir(cache.variable, own.path / cache.place, Choice.OWN, caller_value or None)


def _below(caller_path: Path, place: str, key: str) -> Path | None:
    """Return the side's own place below the caller's, if that can be written.

    Who sets such a variable usually does so because the home directory is slow or small, so the place is
    kept and only divided.
    """
    suffix = Path(place).suffix
    path = caller_path.with_name(f"envdyno-{key}{suffix}") if suffix else caller_path / f"envdyno-{key}"
    return None if _why_unusable(path) else path


def _why_unusable(path: Path) -> str | None:
    """Make the folder of a cache; return why that fails."""
    folder = path.parent if path.suffix else path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(folder, os.W_OK) else "it cannot be written"


def _kept_downloads(caller: Mapping[str, str], side_environ: Mapping[str, str]) -> list[CacheDir]:
    """Pin caches of downloads to where they are, for ``XDG_CACHE_HOME`` is about to move."""
    if "XDG_CACHE_HOME" in side_environ:
        return []
    home = Path(caller.get("HOME") or "~").expanduser()
    root = Path(caller.get("XDG_CACHE_HOME") or home / ".cache")
    return [
        CacheDir(variable, root / name, Choice.KEPT, None)
        for variable, name in _DATA
        if variable not in caller and variable not in side_environ and (root / name).is_dir()
    ]
