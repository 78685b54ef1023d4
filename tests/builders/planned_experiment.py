"""Experiments without processes: a plan in a few words, and an executor that makes records from a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hand_made_run import failed_outcome, outcome

from envdyno.agent.job import Timing
from envdyno.experiment.experiment import Executor, Made
from envdyno.launch.failure import Interrupted
from envdyno.launch.run_record import make_record
from envdyno.plan.cases import Case
from envdyno.plan.expand import PlannedRun, expand
from envdyno.plan.experiment import ExperimentPlan
from envdyno.record.experiment import ExperimentEntry, ExperimentRecord, SideRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord, Status

FAILURE = FailureRecord(kind="signal", worker=0, stage="window", message="Worker 0 was killed by SIGKILL.")


def plan_of(
    sides: Sequence[str] = ("a", "b"), *, gate: Mapping[str, Any] | None = None, **experiment: Any
) -> ExperimentPlan:
    """A plan whose sides differ in an option; few pairs and no attribution, unless asked for."""
    settings = {"cases": ["synthetic"], "pairs": 3, "attribution_pairs": 0, "disturbed_repeats": 0}
    body: dict[str, Any] = {
        "experiment": {**settings, **experiment},
        "sides": {name: {"options": {"kind": name}} for name in sides},
    }
    return ExperimentPlan.model_validate(body if gate is None else {**body, "gate": dict(gate)})


def entry_of(run: PlannedRun, *, final: bool = True, disturbed: bool = False) -> ExperimentEntry:
    """The place of a run's first attempt in its experiment."""
    return ExperimentEntry(
        planned_id=run.id,
        case=run.case,
        side=run.side,
        pair=run.pair,
        position=run.position,
        attempt=0,
        final=final,
        disturbed=disturbed,
        canary_per_s=None,
    )


def runs_of(plan: ExperimentPlan, cases: Sequence[str] = ("one",)) -> tuple[PlannedRun, ...]:
    """All runs of a plan, of cases with these names."""
    return expand(plan, [Case(name, name, 8, {}) for name in cases])


@cache
def _record(failed: bool) -> RunRecord:
    return make_record(failed_outcome() if failed else outcome(), ("envdyno", "run", "synthetic"))


def record_of(run: PlannedRun, rate: float = 1000.0, status: Status = Status.OK, **changes: Any) -> RunRecord:
    """The record of a planned run, before it is given its place in the experiment."""
    template = _record(status is not Status.OK)
    case = template.case.model_copy(
        update={
            "workload": run.workload,
            "timing": run.timing.value,
            "options": dict(run.options),
            "num_envs": run.num_envs,
        }
    )
    found = template.throughput
    fields: dict[str, Any] = {
        "run_id": f"{run.id}-{status.value}",
        "status": status,
        "case": case,
        "config_hash": case.config_hash(),
        "failure": None if status is Status.OK else FAILURE,
        "throughput": found.model_copy(update={"transitions_per_s": rate}) if found else None,
        **changes,
    }
    return template.model_copy(update=fields)


Script = Callable[[PlannedRun, int], Made | Exception]


def steady(run: PlannedRun, _attempt: int) -> Made:
    """Every run goes well; side ``a`` is a little faster than the others, without any noise."""
    return Made(record_of(run, 1000.0 if run.side == "a" else 950.0), canary_per_s=100.0)


@dataclass
class ScriptedExecutor(Executor):
    """Makes records as a script says, and remembers what it was asked for."""

    script: Script = steady
    made: list[tuple[str, int]] = field(default_factory=list)
    """Id and attempt of every run that was asked for."""
    canaries: list[float | None] = field(default_factory=list)
    """What it was told of the canary beside the partner."""

    def make(self, run: PlannedRun, attempt: int, canary_of_pair: float | None) -> Made:
        self.made.append((run.id, attempt))
        self.canaries.append(canary_of_pair)
        found = self.script(run, attempt)
        if isinstance(found, Exception):
            raise found
        return found

    def skip(self, run: PlannedRun, reason: str) -> RunRecord:
        failure = FailureRecord(kind="skipped", worker=None, stage=None, message=reason)
        return record_of(run, status=Status.SKIPPED, failure=failure, throughput=None, totals=None)


def failing(run: PlannedRun) -> Made:
    """A run whose worker was killed."""
    return Made(record_of(run, status=Status.KILLED), canary_per_s=100.0)


def disturbed(run: PlannedRun) -> Made:
    """A run beside other work."""
    return steady(run, 0)._replace(disturbed=True)


def interrupted(run: PlannedRun) -> Made:
    """A run that the user stopped."""
    return Made(record_of(run, status=Status.INTERRUPTED))


def interrupted_before() -> Interrupted:
    """The user asked to end before the run began."""
    return Interrupted(2)


def head_of(plan: ExperimentPlan, runs: Sequence[PlannedRun], **changes: Any) -> ExperimentRecord:
    """The head of the bundle of an experiment."""
    cases = tuple(sorted({run.case for run in runs}))
    fields: dict[str, Any] = {
        "experiment_id": "e" * 32,
        "created_at": "2026-07-01T12:00:00.000+00:00",
        "envdyno_version": "0.1.0",
        "command": ("envdyno", "ab"),
        "directory": str(Path.cwd()),
        "working_directory": str(Path.cwd()),
        "plan": plan.to_json(),
        "plan_digest": plan.digest,
        "sides": tuple(
            SideRecord(name=name, label=f"kind={name}", digest=name * 8, identity={"code": None})
            for name in plan.sides
        ),
        "cases": cases,
        "orders": dict.fromkeys(cases, "AB BA AB"),
        "planned": tuple(run.id for run in runs),
        "differences": dict.fromkeys(list(plan.sides)[1:], ("options",)),
        **changes,
    }
    return ExperimentRecord(**fields)


def throughput_ids(runs: Sequence[PlannedRun]) -> list[str]:
    """Ids of the runs with phases off."""
    return [run.id for run in runs if run.timing is Timing.THROUGHPUT]
