"""From a sweep's bundle to its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from envdyno.agent.measure.quantile import median
from envdyno.experiment.judging import plan_of
from envdyno.experiment.scouting import scouted_rates
from envdyno.judge.best_settings import SettingResult, SweepResult, judge_sweep
from envdyno.judge.knee import knee_of
from envdyno.judge.sweep_from_records import setting_of, sweep_evidence
from envdyno.record.bundle import BundleError
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting
from envdyno.record.status import Status


@dataclass(frozen=True)
class SettingFigures:
    """What stands beside the rate of a setting; ``None`` where no run told it."""

    step_p50_ms: float | None
    """Median over the runs of the slowest worker's median vector step."""
    rss_bytes: int | None
    """Most that all workers together had resident at the end of a window."""
    transitions_per_cpu_s: float | None
    """Median over the runs."""
    failure: str | None
    """Why its last run gave no figure, where none did."""
    failed: bool
    """Whether the workload itself did not do what was asked."""


@dataclass(frozen=True)
class SweepAnswer:
    """What a sweep tells, and all that is shown with it."""

    workload: str
    result: SweepResult
    figures: Mapping[Setting, SettingFigures]
    workers: Mapping[Setting, int]
    """Workers in all."""
    knees: Mapping[tuple[int, int], int]
    """By workers a node and threads, the knee of the curve over batch sizes, where it has three or more."""
    scouted: Mapping[int, float]
    """Rates of the scouting runs that went well, by batch size."""
    impossible: Mapping[str, int]
    """Why settings cannot be, and how many."""
    planned: int
    """Settings of the grid; 0 where scouting did not end."""


def answer_of(head: ExperimentRecord, records: Sequence[RunRecord]) -> SweepAnswer:
    """Judge a sweep.

    Raises:
        BundleError: the bundle holds no plan, or no sweep.
    """
    plan = plan_of(head)
    if plan.sweep is None:
        raise BundleError("The bundle holds an experiment that compares sides, and no sweep.")
    evidence = sweep_evidence(records, head.cases, plan.sweep.repeats)
    result = judge_sweep(evidence)
    by_setting: dict[Setting, list[RunRecord]] = {setting: [] for setting in evidence.settings}
    for record in records:
        setting = setting_of(record)
        if setting in by_setting:
            by_setting[setting].append(record)
    impossible: dict[str, int] = {}
    for reason in head.cannot_run.values():
        impossible[reason] = impossible.get(reason, 0) + 1
    return SweepAnswer(
        workload=plan.experiment.cases[0],
        result=result,
        figures={setting: _figures(runs) for setting, runs in by_setting.items()},
        workers=dict(evidence.workers),
        knees=dict(_knees(result.settings)),
        scouted=scouted_rates(records),
        impossible=impossible,
        planned=len(evidence.settings),
    )


def _figures(records: Sequence[RunRecord]) -> SettingFigures:
    good = [record for record in records if record.status is Status.OK and record.throughput is not None]
    steps = [value for record in good if (value := _step_p50_ms(record)) is not None]
    resident = [value for record in good if (value := _rss_bytes(record)) is not None]
    cpu = [
        record.throughput.transitions_per_cpu_s
        for record in good
        if record.throughput is not None and record.throughput.transitions_per_cpu_s is not None
    ]
    last = records[-1] if records and not good else None
    return SettingFigures(
        step_p50_ms=median(steps) if steps else None,
        rss_bytes=max(resident, default=None),
        transitions_per_cpu_s=median(cpu) if cpu else None,
        failure=last.failure.message if last is not None and last.failure is not None else None,
        failed=any(record.status not in (Status.OK, Status.SKIPPED, Status.INTERRUPTED) for record in records)
        and not good,
    )


def _step_p50_ms(record: RunRecord) -> float | None:
    told = [worker.step_time.p50_ms for worker in record.workers if worker.step_time is not None]
    return max(told) if told and len(told) == len(record.workers) else None


def _rss_bytes(record: RunRecord) -> int | None:
    told = [worker.use.rss_bytes for worker in record.workers if worker.use is not None]
    return sum(told) if told and len(told) == len(record.workers) else None


def _knees(settings: Sequence[SettingResult]) -> Iterator[tuple[tuple[int, int], int]]:
    curves: dict[tuple[int, int], dict[int, float]] = {}
    for one in settings:
        if one.median_per_s is not None:
            key = one.setting.workers_per_node, one.setting.threads
            curves.setdefault(key, {})[one.setting.num_envs] = one.median_per_s
    yield from ((key, knee_of(rates)) for key, rates in curves.items() if len(rates) >= 3)
