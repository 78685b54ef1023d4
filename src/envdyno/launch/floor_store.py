"""Noise floors of this user's machines, kept between experiments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors

FILE = "noise-floors.json"


def floor_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where noise floors are kept: the user's folder for state (XDG Base Directory, 0.8)."""
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "envdyno" / FILE


def read_floors(path: Path | None = None) -> NoiseFloors:
    """Return the noise floors that are known; none where the file is not there or cannot be read."""
    try:
        bodies = json.loads((path or floor_path()).read_text(encoding="utf-8"))
        return NoiseFloors(tuple(NoiseFloor(**body) for body in bodies))
    except (OSError, ValueError, TypeError):
        return NoiseFloors()


def keep_floors(measured: NoiseFloors, path: Path | None = None) -> Path:
    """Add floors to those that are known, pooled where a case is known already; return the file.

    Raises:
        OSError: the file cannot be written.
    """
    target = path or floor_path()
    merged = read_floors(target).merged_with(measured.floors)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps([asdict(floor) for floor in merged.floors], indent=1), encoding="utf-8")
    partial.replace(target)
    return target
