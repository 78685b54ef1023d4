"""From a sweep to every run of it, in order.

First, where batch sizes are left to ``auto``, scouting runs: one of each power of two, smallest first. Then
the grid, block by block: a block has one run of every setting. Blocks come in twos, the second in the reverse
order of the first, so that a steady drift of the machine falls on all settings alike; every two are shuffled
anew. A last single block is shuffled.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from envdyno.agent.job import Timing
from envdyno.plan.expand import Need, PlannedRun, slug
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.sweep_section import SweepSection
from envdyno.record.setting import Setting, scouting_case_name

SCOUTED = tuple(2**power for power in range(6, 18))
"""Batch sizes that scouting tries, up to 131,072; it ends where more environments bring no more."""
SCOUTING_WINDOW_S = 2.0
"""Longest window of a scouting run."""


def scouting_runs(plan: ExperimentPlan, workload: str, setting: Setting) -> tuple[PlannedRun, ...]:
    """Return the scouting runs of a sweep.

    Args:
        plan: the plan.
        workload: its workload.
        setting: workers and threads, and the smallest batch that can be.
    """
    window_s = min(plan.measure.window, SCOUTING_WINDOW_S)
    return tuple(
        _run(
            plan,
            workload,
            setting._replace(num_envs=size),
            case=scouting_case_name(workload, size),
            index=index,
            window_s=window_s,
        )
        for index, size in enumerate(size for size in SCOUTED if size >= setting.num_envs)
    )


def grid_runs(
    plan: ExperimentPlan, section: SweepSection, workload: str, settings: Sequence[Setting], first: int = 0
) -> tuple[PlannedRun, ...]:
    """Return the runs of a sweep's grid; ``first`` is the index of the first one."""
    found: list[PlannedRun] = []
    for block, order in enumerate(block_orders(len(settings), section.repeats, plan.experiment.order_seed)):
        for position, place in enumerate(order):
            setting = settings[place]
            found.append(
                _run(
                    plan,
                    workload,
                    setting,
                    case=setting.case_name(workload),
                    index=first + len(found),
                    pair=block + 1,
                    position=position,
                )
            )
    return tuple(found)


def block_orders(settings: int, blocks: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return the order of the settings in every block; more blocks later do not change the earlier ones."""
    orders: list[tuple[int, ...]] = []
    for block in range(blocks):
        if block % 2:
            orders.append(tuple(reversed(orders[-1])))
            continue
        places = list(range(settings))
        random.Random(f"{seed} sweep {block}").shuffle(places)
        orders.append(tuple(places))
    return tuple(orders)


def _run(
    plan: ExperimentPlan,
    workload: str,
    setting: Setting,
    *,
    case: str,
    index: int,
    pair: int = 1,
    position: int = 0,
    window_s: float | None = None,
) -> PlannedRun:
    (side,) = plan.sides
    options: dict[str, Any] = {**plan.options, **plan.sides[side].options}
    return PlannedRun(
        id=f"{slug(case)}-r{pair:03d}",
        index=index,
        case=case,
        workload=workload,
        num_envs=setting.num_envs,
        options=options,
        side=side,
        pair=pair,
        position=position,
        timing=Timing.THROUGHPUT,
        need=Need.ALWAYS,
        seed=plan.experiment.seed,
        workers_per_node=setting.workers_per_node,
        threads=setting.threads,
        window_s=window_s,
    )
