"""How often does a sweep leave out the setting that is truly the best? Simulated grids with known truth.

    python benchmarks/sweep.py            # about a minute; prints the table of docs/sweep.md
    python benchmarks/sweep.py --quick    # fewer grids, coarser figures

Every run's log speed is the truth plus noise of one kind, in the order in which a sweep makes its runs. All
settings are equally fast, which is the hardest case: any of them may come out ahead by luck. A second figure
is the smallest loss that a typical grid shows. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.judge.best_settings import ALPHA, compare_with_best
from envdyno.plan.sweep_runs import block_orders
from noise_kinds import SHARED, Draw, Floats, Noise, bimodal

LEAST = 1 - ALPHA


class Grid(NamedTuple):
    """Settings, blocks, and the place in time of every run, shape (settings, blocks)."""

    settings: int
    blocks: int
    time: npt.NDArray[np.int_]


def grid(settings: int, blocks: int, seed: int) -> Grid:
    """Return a grid with the order that a sweep with this seed has."""
    time = np.empty((settings, blocks), dtype=int)
    for block, order in enumerate(block_orders(settings, blocks, seed)):
        time[list(order), block] = np.arange(settings) + block * settings
    return Grid(settings, blocks, time)


def unlike(scatter: float) -> Draw:
    """Every setting has noise of its own size, log-normal about 1 %."""

    def draw(rng: np.random.Generator, size: int, of: Grid) -> Floats:
        sigma = 0.01 * np.exp(scatter * rng.standard_normal((size, of.settings, 1)))
        return np.asarray(sigma * rng.standard_normal((size, *of.time.shape)))

    return draw


NOISES = (
    *SHARED,
    Noise("bimodal 30 %", bimodal(0.5, 0.30)),
    Noise("unlike settings", unlike(0.5)),
    Noise("very unlike settings", unlike(1.0), in_bars=False),
)
SIZES = ((2, 3), (6, 3), (24, 3), (24, 5), (60, 3))
"""Settings and blocks."""
SEEDS = 8
"""Orders that the grids of one size are spread over."""


class Found(NamedTuple):
    """What became of one kind of noise in grids of one size."""

    kept: float
    """Share of the grids in which the truly best setting is among those named."""
    loss: float
    """Median over grids and settings of the smallest loss that shows."""


def simulate(noise: Noise, settings: int, blocks: int, grids: int, seed: int = 1) -> Found:
    """Judge simulated grids; setting 0 counts as the truly best one."""
    kept: list[Floats] = []
    widths: list[Floats] = []
    for number in range(SEEDS):
        rng = np.random.default_rng([seed, number, settings, blocks])
        speeds = noise.draw(rng, grids // SEEDS, grid(settings, blocks, number))
        found = compare_with_best(speeds)
        is_best = found.best == 0
        kept.append(is_best | (found.log_ratio[:, 0] + found.half_width[:, 0] >= 0))
        others = np.arange(settings)[None] != found.best[:, None]
        widths.append(found.half_width[others])
    loss = 1 - math.exp(-float(np.median(np.concatenate(widths))))
    return Found(float(np.concatenate(kept).mean()), loss)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the bar."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the grids")
    grids = 800 if parser.parse_args(arguments).quick else 8_000
    print(
        "The truly best setting is named, in per cent of the grids / smallest loss that shows, in per cent.\n"
    )
    heads = [f"{settings} settings, {blocks} repeats" for settings, blocks in SIZES]
    print(f"| noise | {' | '.join(heads)} |\n|---|{'---|' * len(SIZES)}")
    worst = 1.0
    for noise in NOISES:
        found = [simulate(noise, settings, blocks, grids) for settings, blocks in SIZES]
        print(
            f"| {noise.name} | "
            + " | ".join(f"{100 * f.kept:.1f} / {100 * f.loss:.1f}" for f in found)
            + " |"
        )
        if noise.in_bars:
            worst = min(worst, *(f.kept for f in found))
    error = 3 * math.sqrt(LEAST * ALPHA / grids)
    holds = worst >= LEAST - error
    print(f"\n{'ok    ' if holds else 'MISSED'} the truly best setting is named: {worst:.1%} >= {LEAST:.0%}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
