"""Make an environment for each family of frameworks, run its tests there, and measure it from outside.

    python tests/adapters/run_families.py [--quick] [--slow] [FAMILY ...]

Environments are cached by their requirements in $XDG_CACHE_HOME/envdyno-adapters (~/.cache by default). Needs
uv, on PATH or in .venv-uv, and PyPI when an environment is made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from families import FAMILIES, Family

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def cache() -> Path:
    """Return the folder of the environments."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "envdyno-adapters"


def find_uv() -> str:
    """Return the path of uv."""
    found = shutil.which("uv") or str(ROOT / ".venv-uv" / "bin" / "uv")
    if not Path(found).exists():
        sys.exit("uv is neither on PATH nor in .venv-uv; run `make`, or install it.")
    return found


def environment(family: Family, uv: str) -> Path:
    """Return the interpreter of a family's environment, made where it is not there yet."""
    folder = cache() / f"{family.name}-{family.digest}"
    python = folder / "bin" / "python"
    stamp = folder / "complete"
    if stamp.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    seed = ["--seed"] if family.first else []
    run([uv, "venv", "--quiet", *seed, "--python", sys.executable, str(folder)])
    if family.first:
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *family.first])
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    run([*install, *family.first, *family.requirements, "pytest"])
    if family.without_dependencies:
        run([*install, "--no-deps", *family.without_dependencies])
    stamp.touch()
    return python


def run(command: list[str]) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command, check=True)


def test_inside(family: Family, python: Path, *, slow: bool) -> bool:
    """Run the tests of a family in its own environment; return whether they passed."""
    command = [str(python), "-m", "pytest", "-q", "-c", str(HERE / "families.ini"), "--rootdir", str(HERE)]
    command += ["-p", "no:cacheprovider", "-W", "ignore", *(str(HERE / name) for name in family.tests)]
    if not slow:
        command += ["-m", "not slow"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode == 0


def test_outside(family: Family, python: Path, *, slow: bool) -> bool:
    """Measure and check a family's workloads from envdyno's own environment; return whether all went well."""
    prepared = python.parents[1] / "prepared"
    if family.prepare:
        run([str(python), str(HERE / family.prepare), str(prepared)])
    wanted = (*family.runs, *(family.slow_runs if slow else ()))
    runs = [[word.replace("{prepared}", str(prepared)) for word in words] for words in wanted]
    environ = {
        **os.environ,
        "ENVDYNO_FAMILY_PYTHON": str(python),
        "ENVDYNO_FAMILY_RUNS": json.dumps(runs),
        "ENVDYNO_FAMILY_FOLDER": str(ROOT / family.folder),
        "ENVDYNO_FAMILY_ROWS": str(family.rows),
    }
    command = [sys.executable, "-m", "pytest", "-q", str(HERE / "test_from_outside.py")]
    return subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Test the families that were asked for, one after the other; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(one.name for one in FAMILIES))
    parser.add_argument("--quick", action="store_true", help="those that install in a minute")
    parser.add_argument("--slow", action="store_true", help="the slow tests and runs too")
    asked = parser.parse_args()
    known = {family.name: family for family in FAMILIES}
    if unknown := set(asked.families) - known.keys():
        parser.error(f"there is no family {', '.join(sorted(unknown))}")
    wanted = [known[name] for name in asked.families] or [
        family for family in FAMILIES if family.quick or not asked.quick
    ]
    uv, results = find_uv(), []
    for family in wanted:
        began = time.monotonic()
        print(f"== {family.name}: {' '.join((*family.first, *family.requirements))}", flush=True)
        python = environment(family, uv)
        built_s = time.monotonic() - began
        passed = test_inside(family, python, slow=asked.slow)
        passed = test_outside(family, python, slow=asked.slow) and passed
        results.append((family.name, passed, built_s, time.monotonic() - began))
    print(f"\n{'family':<16}{'result':<9}{'environment':>12}{'in all':>9}")
    for name, passed, built_s, whole_s in results:
        print(f"{name:<16}{'passed' if passed else 'FAILED':<9}{built_s:>10.0f} s{whole_s:>7.0f} s")
    return 0 if all(passed for _, passed, _, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
