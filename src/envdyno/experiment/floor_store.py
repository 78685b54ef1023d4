"""Noise floors of this user's machines, kept between experiments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors

FILE = "noise-floors.json"


def floor_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where noise floors are kept: the user's folder for state (XDG Base Directory, 0.8)."""
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME") or "/") / ".local" / "state"
    return base / "envdyno" / FILE


def read_floors(path: Path | None = None) -> NoiseFloors:
    """Return the noise floors that are known; none where the file is not there or cannot be read."""
    return _floors(_read(path or floor_path()))


def keep_floors(measured: NoiseFloors, experiment_id: str, path: Path | None = None) -> Path:
    """Add the floors of one A/A experiment to those that are known; return the file.

    Where a case is known already the figures are pooled. An experiment that is told again, as after a
    resume, is not counted twice.

    Raises:
        OSError: the file cannot be written.
    """
    target = path or floor_path()
    body = _read(target)
    experiments = list(body.get("experiments", ()))
    if experiment_id in experiments:
        return target
    merged = _floors(body).merged_with(measured.floors)
    kept = {"experiments": [*experiments, experiment_id], "floors": [asdict(one) for one in merged.floors]}
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    partial.replace(target)
    return target


def _read(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return body if isinstance(body, dict) else {}


def _floors(body: Mapping[str, Any]) -> NoiseFloors:
    try:
        return NoiseFloors(tuple(NoiseFloor(**one) for one in body.get("floors", ())))
    except TypeError:
        return NoiseFloors()
