"""Measured experiments made by hand: cases from two lists of rates, in counterbalanced pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from envdyno.judge.evidence import CaseEvidence, ExperimentEvidence, RunSample, Side

TODAY = date(2026, 6, 1)

REFERENCE: Mapping[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    "flashsac/go2_joystick_flat/mujoco": ((309_302, 312_512, 316_332), (201_020, 201_133, 201_382)),
    "flashsac/g1_walk_flat/mujoco": ((113_602, 113_794, 114_097), (60_912, 61_673, 62_869)),
    "flashsac/g1_walk_flat/motrix": ((100_253, 100_799, 101_546), (76_192, 81_535, 82_014)),
    "sac/g1_walk_flat/mujoco": ((110_508, 110_693, 110_794), (61_830, 66_299, 66_431)),
    "sac/g1_walk_flat/motrix": ((92_271, 102_037, 102_501), (63_724, 74_630, 75_652)),
    "sac/g1_motion_tracking/mujoco": ((82_153, 82_191, 82_951), (50_682, 53_504, 54_089)),
    "sac/g1_motion_tracking/motrix": ((86_184, 88_351, 88_362), (38_094, 40_110, 44_494)),
}
"""Published minimum, median and maximum of three runs a side, taken as the three runs."""

NOISY_CASE = "sac/g1_walk_flat/motrix"


def run(case: str, side: Side, pair: int, **fields: Any) -> RunSample:
    """One run of the pair AB, or of BA in pairs with an odd number."""
    head_first = pair % 2 == 1
    position = int((side is Side.HEAD) != head_first)
    defaults = {"position": position, "started_at_s": float(2 * pair + fields.get("position", position))}
    return RunSample(case=case, side=side, pair=pair, **{**defaults, **fields})


def case_of(
    base: Sequence[float],
    head: Sequence[float],
    name: str = "case",
    base_fields: Mapping[str, Any] | None = None,
    head_fields: Mapping[str, Any] | None = None,
    **fields: Any,
) -> CaseEvidence:
    """A case with one pair for each two rates."""
    runs = []
    for pair, (ours, theirs) in enumerate(zip(base, head, strict=True)):
        for side, rate, own in ((Side.BASE, ours, base_fields), (Side.HEAD, theirs, head_fields)):
            runs.append(run(name, side, pair, transitions_per_s=rate, **{**fields, **(own or {})}))
    return CaseEvidence(case=name, runs=tuple(runs))


def noisy_case(
    ratio: float, pairs: int = 6, sd: float = 0.01, seed: int = 0, name: str = "case", **fields: Any
) -> CaseEvidence:
    """A case with a known ratio and normal noise on every run's log rate."""
    log_rates = np.random.default_rng(seed).normal(0.0, sd, (2, pairs)) + np.log(100_000.0)
    base, head = np.exp(log_rates[0]), ratio * np.exp(log_rates[1])
    return case_of(base.tolist(), head.tolist(), name, **fields)


def experiment(*cases: CaseEvidence, **fields: Any) -> ExperimentEvidence:
    """An experiment on one machine."""
    return ExperimentEvidence(cases=cases, **{"machine": "machine-1", **fields})


def reference_experiment(pairing: Sequence[int] = (0, 1, 2)) -> ExperimentEvidence:
    """The seven reference cases; which run of one side belongs to which of the other was not published."""
    cases = (case_of(base, [head[i] for i in pairing], name) for name, (base, head) in REFERENCE.items())
    return experiment(*cases)
