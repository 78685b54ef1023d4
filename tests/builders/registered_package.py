"""A package that registers workloads by entry points: its files and its metadata, as pip would leave them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

POINTS = {
    "fam": "fam_pkg.envs:family",
    "one": "fam_pkg.envs:one",
    "fam_pkg": "fam_pkg.envs:one",
    "either": "fam_pkg.envs:either",
    "gone": "fam_pkg.nowhere:build",
    "breaks": "fam_pkg.breaks:build",
    "exits": "fam_pkg.exits:build",
    "no_factory": "fam_pkg.envs",
    "no name": "not a module",
    "synthetic": "fam_pkg.envs:one",
}
FILES = {
    "__init__.py": "def plain(num_envs, seed): ...\n",
    "envs.py": (
        "import sys\n"
        "print('printed at import')\n"
        "def family(num_envs, seed, target, size=1):\n"
        "    return lambda actions: num_envs\n"
        "def one(num_envs, seed):\n"
        "    return lambda actions: num_envs\n"
        "def either(num_envs, seed, target='small'):\n"
        "    return lambda actions: num_envs\n"
    ),
    "breaks.py": "raise RuntimeError('no display')\n",
    "exits.py": "import os\nos._exit(3)\n",
}


def install_package(folder: Path, points: Mapping[str, str] = POINTS) -> None:
    """Put the package into a folder of installed packages."""
    info, package = folder / "fam_pkg-0.3.dist-info", folder / "fam_pkg"
    info.mkdir(parents=True)
    package.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fam-pkg\nVersion: 0.3\n")
    written = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[envdyno.workloads]\n{written}")
    for name, text in FILES.items():
        (package / name).write_text(text)
