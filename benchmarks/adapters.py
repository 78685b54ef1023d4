"""What adapters cost: an environment by envdyno over its framework's bare loop. Prints, asserts nothing.

    python benchmarks/adapters.py [--processes N] [--blocks N] [CASE ...]

Each process steps two instances of the same environment, with the same prepared actions and in turn: by the
adapter in envdyno's loop, and by a loop that knows nothing of envdyno; see ``in_turn.py``. A ratio of 0.98
means that envdyno's figure is 2 % too low. The environments of the frameworks are those of
tests/adapters/run_families.py, which are made where they are not there. What is compared is adjacent in time,
so that foreign load widens the spread and moves the median little; run nothing else all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "adapters"))

from families import FAMILIES, Family  # noqa: E402 - beside the tests
from run_families import environment, find_uv  # noqa: E402

from adapter_cases import CASES, Case  # noqa: E402 - beside this file

Pair = tuple[tuple[float, float], tuple[float, float]]
"""Seconds and CPU seconds of a vector step: of the bare loop, and by the adapter."""


def prepared(family: Family, python: Path) -> Path:
    """Return the folder that a family's preparation fills, filled."""
    folder = python.parents[1] / "prepared"
    if family.prepare:
        script = ROOT / "tests" / "adapters" / family.prepare
        subprocess.run([str(python), str(script), str(folder)], check=True, capture_output=True)
    return folder


def in_turn(case: Case, family: Family, python: Path, blocks: int, block_s: float) -> list[Pair]:
    """Return the pairs of blocks of one process."""
    options = {
        name: value.replace("{prepared}", str(prepared(family, python))) if isinstance(value, str) else value
        for name, value in case.options.items()
    }
    asked = {
        "workload": case.workload,
        "options": options,
        "num_envs": case.num_envs,
        "make": case.make,
        "step": case.step,
        "finish": case.finish,
        "blocks": blocks,
        "block_s": block_s,
    }
    folder = ROOT / family.folder
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(folder)))}
    command = [str(python), str(Path(__file__).with_name("in_turn.py"))]
    done = subprocess.run(
        command,
        input=json.dumps(asked),
        env=environ,
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    if "PAIRS" not in done.stdout:
        sys.exit(f"{case.name} failed:\n{done.stderr[-3000:]}")
    pairs: list[Pair] = json.loads(done.stdout.rpartition("PAIRS")[2])
    return pairs


def report(case: Case, processes: list[list[Pair]]) -> None:
    """Print one case: the median over all pairs of blocks, and those of each process from least to most."""
    shown = []
    for clock in (0, 1):
        ratios = [[bare[clock] / adapter[clock] for bare, adapter in pairs] for pairs in processes]
        medians = [statistics.median(one) for one in ratios]
        whole = statistics.median([ratio for one in ratios for ratio in one])
        shown.append(f"{whole:.3f} [{min(medians):.3f}, {max(medians):.3f}]")
    bare_us = 1e6 * statistics.median([bare[0] for pairs in processes for bare, _ in pairs])
    added_us = 1e6 * statistics.median(
        [adapter[1] - bare[1] for pairs in processes for bare, adapter in pairs]
    )
    print(
        f"{case.name:<40}{case.num_envs:>6}{bare_us:>11,.0f}   {shown[0]}   {shown[1]}{added_us:>9.1f}",
        flush=True,
    )


def main() -> None:
    """Print everything that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="part of a case's name")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=24, help="pairs of blocks in a process")
    parser.add_argument("--block-seconds", type=float, default=0.25)
    asked = parser.parse_args()
    families, uv = {family.name: family for family in FAMILIES}, find_uv()
    print("envdyno over the bare loop: median [least, most of the processes]   (bound: >= 0.98)")
    print(f"{'':<40}{'envs':>6}{'µs a step':>11}   {'wall':<20}   {'CPU':<20}{'µs added':>9}")
    for case in CASES:
        if asked.cases and not any(part in case.name for part in asked.cases):
            continue
        family = families[case.family]
        python = environment(family, uv)
        report(
            case,
            [
                in_turn(case, family, python, asked.blocks, asked.block_seconds)
                for _ in range(asked.processes)
            ],
        )


if __name__ == "__main__":
    main()
