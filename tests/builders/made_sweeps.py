"""Bundles of sweeps made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from made_bundles import Made
from made_records import IDENTITY, killed, made_run

from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.sweep_runs import block_orders
from envdyno.record.experiment import ExperimentEntry, ExperimentRecord, SideRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting, scouting_case_name
from envdyno.record.status import Status

WORKLOAD = "g1_walk_flat/mujoco"
NOISE = (1.000, 1.006, 0.995)
FAILING = Setting(8192, 2, 8)

GRID: Mapping[Setting, float] = {
    Setting(1024, 1, 8): 41_000.0,
    Setting(2048, 1, 8): 52_000.0,
    Setting(4096, 1, 8): 54_500.0,
    Setting(8192, 1, 8): 55_000.0,
    Setting(1024, 1, 16): 63_000.0,
    Setting(2048, 1, 16): 84_000.0,
    Setting(4096, 1, 16): 92_000.0,
    Setting(8192, 1, 16): 92_400.0,
    Setting(1024, 2, 8): 61_000.0,
    Setting(2048, 2, 8): 80_000.0,
    Setting(4096, 2, 8): 91_500.0,
}
"""Transitions a second; a larger batch on two workers does not fit into memory."""


def sweep_plan(**sweep: Any) -> ExperimentPlan:
    """The plan of a sweep of a real workload."""
    return ExperimentPlan.model_validate({"experiment": {"cases": [WORKLOAD]}, "sweep": sweep})


def swept(
    rates: Mapping[Setting, float] = GRID,
    *,
    repeats: int = 3,
    failing: Sequence[Setting] = (FAILING,),
    impossible: Mapping[str, str] | None = None,
    disturbed: int = 0,
) -> Made:
    """A sweep.

    Args:
        rates: of each setting, before noise.
        repeats: blocks.
        failing: settings whose runs are killed.
        impossible: by case, why it cannot be.
        disturbed: so many of the first runs met other work.
    """
    settings = (*rates, *failing)
    records = []
    for block, order in enumerate(block_orders(len(settings), repeats, 0)):
        for position, place in enumerate(order):
            found = _run(settings[place], rates.get(settings[place]), block, position, len(records))
            if len(records) < disturbed and found.experiment is not None:
                entry = found.experiment.model_copy(update={"disturbed": True})
                found = found.model_copy(update={"experiment": entry})
            records.append(found)
    head = _head(
        sweep_plan(repeats=repeats, num_envs=sorted({one.num_envs for one in settings}) or "auto"),
        tuple(one.case_name(WORKLOAD) for one in settings),
        [record.experiment.planned_id for record in records if record.experiment],
        dict(impossible or {}),
    )
    return Made(head, tuple(records))


def scouted(rates: Mapping[int, float | None]) -> list[RunRecord]:
    """Scouting runs; ``None`` for one that was killed."""
    found = []
    for number, (size, rate) in enumerate(rates.items()):
        case = scouting_case_name(WORKLOAD, size)
        entry = _entry(case, 1, 0, f"scouting-{size}")
        more: dict[str, Any] = {} if rate else {"status": Status.KILLED, "failure": killed()}
        found.append(made_run(rate, number=number, num_envs=size, entry=entry, **more))
    return found


def _run(setting: Setting, rate: float | None, block: int, position: int, number: int) -> RunRecord:
    case = setting.case_name(WORKLOAD)
    entry = _entry(case, block + 1, position, f"{case}-{block + 1}")
    more: dict[str, Any] = {} if rate else {"status": Status.KILLED, "failure": killed()}
    noise = NOISE[(block + position) % len(NOISE)] * (0.97 if block == 1 else 1.0)
    record = made_run(
        None if rate is None else rate * noise,
        number=number,
        workload=WORKLOAD,
        num_envs=setting.num_envs,
        workers=setting.workers_per_node,
        entry=entry,
        **more,
    )
    case_record = record.case.model_copy(update={"threads": setting.threads})
    return record.model_copy(update={"case": case_record, "config_hash": case_record.config_hash()})


def _entry(case: str, pair: int, position: int, planned: str) -> ExperimentEntry:
    return ExperimentEntry(
        planned_id=planned,
        case=case,
        side="here",
        pair=pair,
        position=position,
        attempt=0,
        final=True,
        disturbed=False,
        canary_per_s=700.0,
    )


def _head(
    plan: ExperimentPlan, cases: tuple[str, ...], planned: Sequence[str], impossible: dict[str, str]
) -> ExperimentRecord:
    return ExperimentRecord(
        experiment_id="5" * 32,
        created_at="2026-07-01T12:00:00.000+00:00",
        envdyno_version="0.1.0",
        command=("envdyno", "sweep", WORKLOAD),
        plan=plan.to_json(),
        plan_digest=plan.digest,
        sides=(SideRecord(name="here", label="Python 3.11.7", digest="d" * 64, identity={"code": None}),),
        cases=cases,
        orders={},
        planned=tuple(planned),
        cannot_run=impossible,
        machine=dict(IDENTITY),
    )
