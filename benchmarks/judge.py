"""How often does the judge err? Simulated experiments with known truth, judged by the code that ships.

    python benchmarks/judge.py            # about two minutes; prints the tables of docs/statistics.md
    python benchmarks/judge.py --quick    # fewer experiments, coarser figures

Every run's log speed is the truth plus noise of one kind. Pairs are counterbalanced (AB BA AB ...), half of
the experiments starting with each side. The gate is 0.90. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envdyno.judge.looks import Look, LookSchedule
from envdyno.judge.paired_ratio import PairedFit, VarianceSource, fit_pairs
from envdyno.judge.sequence import sequence_p_values, shows_below, shows_meets
from envdyno.judge.variance_sources import NoisePrior, least_spread, moderated
from noise_kinds import SHARED, Floats, Noise, bimodal, gaussian

GATE = 0.90
ALPHA = 0.05
RATIOS = (1.0, 0.95, 0.90, 0.89, 0.85, 0.64)
EDGE = 10
"""So many times as many experiments at the gate's edge, where the figures have to be exact."""
ADAPTIVE = LookSchedule.adaptive(3, 12)


class Plan(NamedTuple):
    """In which order runs are made, and for each run its place in time, shape (pairs, 2), base and head."""

    head_first: tuple[bool, ...]
    time: npt.NDArray[np.int_]


def paired(pairs: int, start_with_head: bool) -> Plan:
    """AB BA AB ..., or BA AB BA ..."""
    head_first = tuple((i % 2 == 1) != start_with_head for i in range(pairs))
    time = np.arange(2 * pairs).reshape(pairs, 2)
    return Plan(head_first, np.where(np.asarray(head_first)[:, None], time[:, ::-1], time))


def blocked(pairs: int) -> Plan:
    """All runs of base, then all of head."""
    return Plan((False,) * pairs, np.stack([np.arange(pairs), np.arange(pairs) + pairs], axis=1))


def positional(rng: np.random.Generator, size: int, plan: Plan) -> Floats:
    """The first run of each pair is 5 % slower."""
    is_first = plan.time == plan.time.min(axis=1, keepdims=True)
    return gaussian(0.01)(rng, size, plan) + math.log(0.95) * is_first[None]


NOISES = (
    *SHARED,
    Noise("first of pair -5 %", positional),
)
HARSH = Noise("bimodal 30 %", bimodal(0.5, 0.30), in_bars=False)


class Rates(NamedTuple):
    """How often each verdict was given."""

    fail: float
    passed: float
    pairs: float
    """Mean number of pairs used."""
    decided_by_six: float
    """Share decided after six pairs at most."""


def only_pairs(fit: PairedFit) -> Sequence[VarianceSource]:
    """No opinion on the noise but the pairs' own and the least spread: a first experiment on a machine."""
    del fit
    return [least_spread()]


def verdicts(
    d: Floats, plan: Plan, looks: Sequence[Look], known: Callable[..., Sequence[VarianceSource]]
) -> Rates:
    """Judge experiments, shape (experiments, pairs), look by look, and stop where one is decided."""
    decision = np.zeros(d.shape[0], dtype=int)
    used = np.full(d.shape[0], looks[-1].pairs)
    for i, look in enumerate(looks):
        p = sequence_p_values(
            d[:, : look.pairs], plan.head_first[: look.pairs], math.log(GATE), looks[i : i + 1], known
        )
        undecided = decision == 0
        below, meets = undecided & shows_below(p.below, ALPHA), undecided & shows_meets(p.meets, ALPHA)
        decision[below], decision[meets] = -1, 1
        used[below | meets] = look.pairs
    decided = decision != 0
    return Rates(
        fail=float((decision < 0).mean()),
        passed=float((decision > 0).mean()),
        pairs=float(used.mean()),
        decided_by_six=float((decided & (used <= 6)).mean()),
    )


def simulate(
    noise: Noise, ratio: float, plans: Sequence[Plan], looks: Sequence[Look], experiments: int, seed: int = 1
) -> Rates:
    """Judge simulated experiments, an equal share by each plan."""
    results = []
    for i, plan in enumerate(plans):
        speed = noise.draw(np.random.default_rng([seed, i]), experiments // len(plans), plan)
        d = speed[..., 1] - speed[..., 0] + math.log(ratio)
        results.append(verdicts(d, plan, looks, only_pairs))
    return Rates(*(float(np.mean(column)) for column in zip(*results, strict=True)))


def both_starts(pairs: int) -> tuple[Plan, Plan]:
    """Paired order, starting with either side."""
    return paired(pairs, start_with_head=False), paired(pairs, start_with_head=True)


def with_floor(
    noise: Noise, ratio: float, pairs: int, experiments: int, seed: int = 1
) -> tuple[float, float]:
    """P(FAIL) at a few pairs without and with the noise floor of an A/A experiment of six pairs."""
    rng = np.random.default_rng(seed)
    plan, aa = paired(pairs, start_with_head=False), paired(6, start_with_head=False)
    speed, aa_speed = noise.draw(rng, experiments, plan), noise.draw(rng, experiments, aa)
    d = speed[..., 1] - speed[..., 0] + math.log(ratio)
    floor = fit_pairs(aa_speed[..., 1] - aa_speed[..., 0], aa.head_first).residual

    def known(fit: PairedFit) -> Sequence[VarianceSource]:
        prior = NoisePrior("noise_floor", floor.variance, floor.df)  # type: ignore[arg-type]
        return [least_spread(), moderated(fit, prior)]

    once = LookSchedule.once(pairs).looks
    return verdicts(d, plan, once, only_pairs).fail, verdicts(d, plan, once, known).fail


class Table(NamedTuple):
    """One way of running experiments, over all kinds of noise and ratios."""

    title: str
    rows: dict[str, dict[float, Rates]]


def table(title: str, plans: Sequence[Plan], looks: Sequence[Look], experiments: int) -> Table:
    """Simulate one way of running experiments; more experiments at the gate's edge."""
    rows: dict[str, dict[float, Rates]] = {}
    for noise in (*NOISES, HARSH):
        rows[noise.name] = {
            ratio: simulate(noise, ratio, plans, looks, experiments * (EDGE if ratio == GATE else 1))
            for ratio in RATIOS
        }
    return Table(title, rows)


def show(result: Table, *, with_pairs: bool) -> None:
    """Print a table as Markdown: P(FAIL) / P(PASS) in per cent, the rest is UNDECIDED."""
    print(f"\n**{result.title}**\n")
    print("| noise | " + " | ".join(f"{ratio:.2f}" for ratio in RATIOS) + " |")
    print("|---|" + "---|" * len(RATIOS))
    for name, row in result.rows.items():
        cells = []
        for ratio in RATIOS:
            rates = row[ratio]
            pairs = f" ({rates.pairs:.1f})" if with_pairs else ""
            cells.append(f"{100 * rates.fail:.1f} / {100 * rates.passed:.1f}{pairs}")
        print(f"| {name} | " + " | ".join(cells) + " |")


class Bar(NamedTuple):
    """A promise and what was measured."""

    promise: str
    worst: float
    limit: float
    upper: bool
    error: float
    """Three standard errors of the simulation at the limit."""

    @property
    def holds(self) -> bool:
        """Whether the figure keeps the limit, within the simulation's own error."""
        return self.worst <= self.limit + self.error if self.upper else self.worst >= self.limit - self.error


def bars(tables: Sequence[Table], experiments: int) -> list[Bar]:
    """The promises of the design, over all tables in paired order."""
    names = [noise.name for noise in NOISES]
    rows = [t.rows[name] for t in tables for name in names]
    edge_error = 3 * math.sqrt(0.05 * 0.95 / (EDGE * experiments))
    aa_error = 3 * math.sqrt(0.01 * 0.99 / experiments)
    six, adaptive = tables[1].rows["Gaussian 2 %"], tables[3].rows["Gaussian 2 %"]
    power = [six[0.85].fail, six[1.0].passed, adaptive[0.85].decided_by_six, adaptive[1.0].decided_by_six]
    wrong = [adaptive[0.85].passed, adaptive[1.0].fail, six[0.85].passed, six[1.0].fail]
    return [
        Bar("P(FAIL) at the gate's edge", max(row[GATE].fail for row in rows), 0.05, True, edge_error),
        Bar("P(PASS) at the gate's edge", max(row[GATE].passed for row in rows), 0.05, True, edge_error),
        Bar("P(FAIL) of equal sides (A/A)", max(row[1.0].fail for row in rows), 0.01, True, aa_error),
        Bar("decided within six pairs, 2 % noise, 0.85 or 1.00", min(power), 0.95, False, 0.0),
        Bar("wrongly decided there", max(wrong), 0.01, True, 0.0),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and the bars."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the experiments")
    experiments = 1_000 if parser.parse_args(arguments).quick else 10_000
    fixed = [table(f"{n} pairs", both_starts(n), LookSchedule.once(n).looks, experiments) for n in (3, 6, 12)]
    adaptive = table(
        "3 to 12 pairs, until decided (mean pairs)", both_starts(12), ADAPTIVE.looks, experiments
    )
    contrast = table("6 runs a side in blocked order", [blocked(6)], LookSchedule.once(6).looks, experiments)
    print(f"P(FAIL) / P(PASS) in per cent by true ratio, gate {GATE:.2f}; the rest is UNDECIDED.")
    print(f"{experiments:,} experiments a cell, {EDGE * experiments:,} at {GATE:.2f}.")
    for result in fixed:
        show(result, with_pairs=False)
    show(adaptive, with_pairs=True)
    show(contrast, with_pairs=False)
    plain, floored = with_floor(HARSH, 1.0, 3, EDGE * experiments)
    print(
        f"\nEqual sides, {HARSH.name}, three pairs: P(FAIL) {plain:.1%}, with a noise floor {floored:.1%}.\n"
    )
    checked = bars([*fixed, adaptive], experiments)
    for bar in checked:
        sign = "<=" if bar.upper else ">="
        print(f"{'ok    ' if bar.holds else 'MISSED'} {bar.promise}: {bar.worst:.2%} {sign} {bar.limit:.0%}")
    return 0 if all(bar.holds for bar in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
