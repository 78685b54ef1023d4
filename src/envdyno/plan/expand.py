"""From a plan to every run that it asks for, in order."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from envdyno.agent.job import Timing
from envdyno.plan.cases import Case
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.ordering import label, side_order
from envdyno.plan.sections import Order


class Need(str, Enum):
    """Whether a run is part of the experiment in any case."""

    ALWAYS = "always"
    IF_UNDECIDED = "if_undecided"
    """Only while the case's verdict is open and time is left."""


@dataclass(frozen=True)
class PlannedRun:
    """One run as planned. Its id is the same whenever the same plan is expanded."""

    id: str
    """Unique in the experiment; good as a file name."""
    index: int
    """Place in the whole order, from 0."""
    case: str
    workload: str
    num_envs: int
    options: Mapping[str, Any]
    """Of plan, axes and side together."""
    side: str
    pair: int
    """Number of the pair within its case and kind, from 1."""
    position: int
    """Place within the pair, from 0."""
    timing: Timing
    need: Need
    seed: int
    workers_per_node: int | None = None
    """Where it is not the plan's, as in a sweep; so are the next two."""
    threads: int | None = None
    window_s: float | None = None


def expand(plan: ExperimentPlan, cases: Sequence[Case]) -> tuple[PlannedRun, ...]:
    """List every run of an experiment in the order in which it is to be done.

    Counterbalanced: round after round, each with one pair of every case, so that all cases have had all
    but one of their pairs at any time; the order of the cases is shuffled anew in every round, and the
    order of the sides alternates. First the pairs that are always done, then those with phases timed, then
    those for cases still undecided. Blocked: case after case, all runs of one side before the other.
    """
    blocked = plan.experiment.order is Order.BLOCKED
    slots = _blocked_slots(plan, cases) if blocked else _counterbalanced_slots(plan, cases)
    return tuple(_run(plan, index, slot) for index, slot in enumerate(slots))


def order_of(runs: Sequence[PlannedRun], plan: ExperimentPlan, case: str, timing: Timing) -> str:
    """Write the order of the sides in the pairs of one case: ``AB BA AB``."""
    numbers = {name: number for number, name in enumerate(plan.sides)}
    pairs: dict[int, list[int]] = {}
    for run in runs:
        if run.case == case and run.timing is timing:
            pairs.setdefault(run.pair, []).append(numbers[run.side])
    return " ".join(label(tuple(sides)) for _, sides in sorted(pairs.items()))


@dataclass(frozen=True)
class _Slot:
    case: Case
    side: str
    pair: int
    position: int
    timing: Timing
    need: Need


def _counterbalanced_slots(plan: ExperimentPlan, cases: Sequence[Case]) -> Iterator[_Slot]:
    pairs = plan.experiment.pairs
    attribution = plan.experiment.attribution_pairs
    yield from _rounds(plan, cases, range(pairs.minimum), Timing.THROUGHPUT, Need.ALWAYS)
    yield from _rounds(plan, cases, range(attribution), Timing.ATTRIBUTION, Need.ALWAYS)
    further = range(pairs.minimum, pairs.maximum)
    yield from _rounds(plan, cases, further, Timing.THROUGHPUT, Need.IF_UNDECIDED)


def _rounds(
    plan: ExperimentPlan, cases: Sequence[Case], rounds: range, timing: Timing, need: Need
) -> Iterator[_Slot]:
    names = list(plan.sides)
    seed = plan.experiment.order_seed
    for pair in rounds:
        places = list(range(len(cases)))
        # A generator of its own for each round: more pairs later do not change the earlier ones.
        random.Random(f"{seed} {timing.value} {pair}").shuffle(places)
        for place in places:
            order = side_order(len(names), pair, place + seed, plan.experiment.order)
            for position, side in enumerate(order):
                yield _Slot(cases[place], names[side], pair + 1, position, timing, need)


def _blocked_slots(plan: ExperimentPlan, cases: Sequence[Case]) -> Iterator[_Slot]:
    kinds = (
        (Timing.THROUGHPUT, plan.experiment.pairs.minimum),
        (Timing.ATTRIBUTION, plan.experiment.attribution_pairs),
    )
    for case in cases:
        for timing, pairs in kinds:
            for position, side in enumerate(plan.sides):
                for pair in range(1, pairs + 1):
                    yield _Slot(case, side, pair, position, timing, Need.ALWAYS)


def _run(plan: ExperimentPlan, index: int, slot: _Slot) -> PlannedRun:
    case = slot.case
    kind = "-attribution" if slot.timing is Timing.ATTRIBUTION else ""
    return PlannedRun(
        id=f"{slug(case.name)}-p{slot.pair:03d}-{slot.side}{kind}",
        index=index,
        case=case.name,
        workload=case.workload,
        num_envs=case.num_envs,
        options={**case.options, **plan.sides[slot.side].options},
        side=slot.side,
        pair=slot.pair,
        position=slot.position,
        timing=slot.timing,
        need=slot.need,
        seed=plan.experiment.seed,
    )


def slug(name: str) -> str:
    """Return a file name made of a case's name; a hash keeps names apart that would become equal."""
    plain = re.sub(r"[^A-Za-z0-9._=-]+", "-", name)[:80].strip("-.")
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{plain}-{digest}"
