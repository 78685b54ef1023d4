"""How one planned run is made: canary, waiting, refusals, and a side that is not what it was."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hand_made_run import failed_outcome, outcome, site
from made_sides import side
from planned_experiment import head_of, plan_of, runs_of

from envdyno.experiment import planned_runs
from envdyno.experiment.planned_runs import PlannedRuns
from envdyno.experiment.side_watch import SideWatch
from envdyno.host.load import Load
from envdyno.host.procfs import MachineUse
from envdyno.launch.failure import Interrupted
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.usage_error import UsageError
from envdyno.record.status import Status
from envdyno.sides.problems import SideError, SideProblem

BUSY = Load(1.0, MachineUse({0: 0.0}, None), MachineUse({0: 2.0}, None))


class Workbench:
    """An executor whose processes, canary and pauses are a script."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, plan: ExperimentPlan, speeds: Sequence[float | None] = (1.0,)
    ) -> None:
        self.executed: list[str | None] = []
        self.pauses: list[float] = []
        self.interrupts = SimpleNamespace(arrived=[])
        self.outcome: Any = outcome(folder=Path("/x/runs/the-folder"))
        left = itertools.chain(speeds, itertools.repeat(speeds[-1]))
        head = head_of(plan, runs_of(plan))
        sides = {one.name: side(one.name, options={"kind": one.name}) for one in head.sides}
        self.runs = PlannedRuns(
            plan=plan,
            sides=sides,
            watches={one.name: SideWatch(sides[one.name], one) for one in head.sides},
            session=SimpleNamespace(interrupts=self.interrupts),  # type: ignore[arg-type]
            cwd=Path("/begun/here"),
            canary_limit=0.05,
            canary=lambda: next(left),
            sleep=self.pauses.append,
        )
        monkeypatch.setattr(planned_runs, "execute", self._execute)
        monkeypatch.setattr(planned_runs, "prepare", lambda _: site())
        monkeypatch.setattr(planned_runs, "survey", lambda _: site())

    def _execute(self, request: Any, *_: object, name: str | None = None) -> Any:
        self.executed.append(name)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def make(self, attempt: int = 0, canary_of_pair: float | None = None) -> planned_runs.Made:
        return self.runs.make(runs_of(self.runs.plan)[0], attempt, canary_of_pair)


def test_a_run_keeps_its_logs_in_a_folder_with_its_name_and_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of())
    made = bench.make(attempt=2)
    assert bench.executed == [f"{runs_of(plan_of())[0].id}.2"]
    assert made.folder == "runs/the-folder"
    assert made.record.status is Status.OK


def test_a_run_whose_canary_agrees_with_its_partner_begins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of(), [1.04])
    made = bench.make(canary_of_pair=1.0)
    assert (made.canary_per_s, made.canary_tries) == (1.04, 1)
    assert bench.pauses == []


def test_a_canary_that_moved_is_given_a_few_pauses_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of(), [0.7, 0.7, 0.99])
    made = bench.make(canary_of_pair=1.0)
    assert (made.canary_per_s, made.canary_tries) == (0.99, 3)
    assert len(bench.pauses) == 2


def test_a_canary_that_stays_away_is_recorded_and_the_run_is_made_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Workbench(monkeypatch, plan_of(), [0.7])
    made = bench.make(canary_of_pair=1.0)
    assert made.canary_per_s == 0.7
    assert len(bench.pauses) == len(planned_runs.CANARY_PAUSES_S)
    assert made.record.status is Status.OK


@pytest.mark.parametrize("of_pair", [None, 1.0])
def test_a_machine_on_which_no_canary_runs_is_measured_without(
    of_pair: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(monkeypatch, plan_of(), [None])
    assert bench.make(canary_of_pair=of_pair).canary_per_s is None
    assert bench.pauses == []


@pytest.mark.parametrize(("limit", "expected"), [(0.02, False), (0.019, True)])
def test_a_run_is_disturbed_only_above_the_limit_of_foreign_load(
    limit: float, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The made run had a foreign load of 0.02 cores."""
    plan = plan_of()
    measure = plan.measure.model_copy(update={"foreign_load_limit_cores": limit})
    bench = Workbench(monkeypatch, plan.model_copy(update={"measure": measure}))
    assert bench.make().disturbed is expected


def test_a_run_that_ended_before_its_window_is_not_called_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of())
    bench.outcome = failed_outcome()
    made = bench.make()
    assert (made.record.status, made.disturbed) == (Status.KILLED, False)


def test_what_cannot_be_had_in_the_middle_of_an_experiment_is_a_failed_run_and_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Workbench(monkeypatch, plan_of())
    bench.outcome = UsageError("The window is shorter than a step.")
    made = bench.make()
    assert made.record.status is Status.FAILED
    assert made.record.failure is not None
    assert (made.record.failure.kind, made.record.failure.message) == (
        "usage",
        "The window is shorter than a step.",
    )
    assert not made.side_changed


def test_a_side_whose_tree_was_edited_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of())

    def changed(_self: object) -> None:
        raise SideError(SideProblem.CHANGED, "Files were changed.")

    monkeypatch.setattr(SideWatch, "check_before", changed)
    made = bench.make()
    assert bench.executed == []
    assert made.side_changed
    assert made.record.failure is not None
    assert made.record.failure.message == "Files were changed."


def test_a_run_that_loaded_other_code_is_invalid_and_changes_the_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Workbench(monkeypatch, plan_of())

    def changed(_self: object, _record: object) -> None:
        raise SideError(SideProblem.CHANGED, "It loaded something else.")

    monkeypatch.setattr(SideWatch, "check_after", changed)
    made = bench.make()
    assert made.side_changed
    assert (made.record.status, made.record.throughput) == (Status.INVALID, None)


def test_a_busy_machine_is_waited_for_and_then_measured_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of(wait_idle="1s"))
    now = itertools.count()
    monkeypatch.setattr("envdyno.experiment.planned_runs.time.monotonic", lambda: 0.4 * next(now))
    monkeypatch.setattr(planned_runs, "sample_load", lambda: BUSY)
    assert bench.make().record.status is Status.OK


def test_a_ctrl_c_while_waiting_for_a_quiet_machine_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(monkeypatch, plan_of(wait_idle="10h"))
    bench.interrupts.arrived.append(2)
    monkeypatch.setattr(planned_runs, "sample_load", lambda: BUSY)
    with pytest.raises(Interrupted):
        bench.make()
    assert bench.executed == []


def test_a_skipped_run_has_its_reason_in_the_place_of_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(num_envs=1)
    bench = Workbench(monkeypatch, plan)
    record = bench.runs.skip(runs_of(plan)[0], "The case is decided.")
    assert record.status is Status.SKIPPED
    assert record.failure is not None
    assert record.failure.message == "The case is decided."
    assert record.absent["throughput"] == "The case is decided."


def test_a_batch_that_cannot_be_split_is_recorded_as_skipped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is the very reason for which such a case is not run."""
    plan = plan_of()
    bench = Workbench(monkeypatch, plan)
    run = runs_of(plan)[0]
    record = bench.runs.skip(type(run)(**{**vars(run), "num_envs": 1}), "It cannot be split.")
    assert record.case.shares == ()


def test_a_side_without_a_folder_of_its_own_runs_where_the_experiment_was_begun() -> None:
    plan = plan_of()
    request = planned_runs.request_of(plan, runs_of(plan)[0], side("a"), Path("/begun/here"))
    assert request.cwd == Path("/begun/here")
