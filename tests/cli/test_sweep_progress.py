"""What a sweep tells while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from made_sweeps import scouted
from planned_experiment import entry_of, failing, record_of

from envdyno.cli import planned_progress
from envdyno.cli.sweep_progress import SweepProgress
from envdyno.experiment.sweep_course import SweepCourse, course_of
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.sweep_grid import Room
from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord, Status


class Heard:
    """The progress of a sweep, and what it showed and told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.titles: list[str] = []
        self.notes: list[list[str]] = []
        self.told: list[str] = []
        self.now = 0.0
        self.interrupts = SimpleNamespace(arrived=[])
        monkeypatch.setattr(planned_progress, "time", SimpleNamespace(monotonic=lambda: self.now))
        line = SimpleNamespace(begin=self.begin, tick=lambda: None)
        output = SimpleNamespace(tell=self.told.append, tell_progress=self.told.append, keep=lambda _: None)
        self.progress = SweepProgress(line, output, self.interrupts)  # type: ignore[arg-type]

    def begin(self, title: str, notes: Sequence[str] = ()) -> None:
        self.titles.append(title)
        self.notes.append(list(notes))


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    return Heard(monkeypatch)


def course(records: Sequence[RunRecord] = (), **sweep: Any) -> SweepCourse:
    plan = ExperimentPlan.model_validate({"experiment": {"cases": ["synthetic"]}, "sweep": sweep})
    assert plan.sweep is not None
    return course_of(plan, plan.sweep, "synthetic", {1: Room(1, 4), 2: Room(2, 2)}, records)


def placed(record: RunRecord, run: PlannedRun, *, final: bool = True, disturbed: bool = False) -> RunRecord:
    entry = entry_of(run, final=final, disturbed=disturbed)
    return record.model_copy(update={"experiment": entry})


def test_a_run_of_the_grid_is_told_with_its_number_and_its_setting(heard: Heard) -> None:
    found = course(num_envs=[64], threads=[4], workers_per_node=[1], repeats=3)
    heard.progress.begin_measuring(found, 0)
    assert heard.told == ["1 setting, 3 runs."]
    first, second, _ = found.runs
    heard.progress.begin(first, 0, 3)
    heard.now = 20.0
    heard.progress.end(placed(record_of(first, 1234.5), first))
    assert heard.told[-1] == "[1/3] 64 envs, 1 worker a node, 4 threads  1,234 transitions/s"
    heard.progress.begin(second, 1, 3)
    assert heard.titles[-1] == "2 of 3, about 40 s left   64 envs, 1 worker a node, 4 threads"
    assert heard.notes[-1] == ["highest so far 1,234 transitions/s: 64 envs, 1 worker a node, 4 threads"]


def test_scouting_runs_have_no_number_and_their_end_is_told_once(heard: Heard) -> None:
    found = course()
    heard.progress.begin_measuring(found, 0)
    heard.progress.begin(found.runs[0], 0, len(found.runs))
    heard.progress.end(placed(record_of(found.runs[0], 500.0), found.runs[0]))
    why = FailureRecord(kind="skipped", worker=None, stage=None, message="It does not fit.")
    for run in found.runs[1:3]:
        skipped = record_of(run, status=Status.SKIPPED, failure=why, throughput=None)
        heard.progress.end(placed(skipped, run))
    assert heard.titles == ["scouting   64 envs"]
    assert heard.told == [
        "Scouting for batch sizes, smallest first.",
        "scouting 64 envs  500 transitions/s",
        "No further batch size: It does not fit.",
    ]


def test_the_grid_after_scouting_counts_its_own_runs(heard: Heard) -> None:
    scouting = course().scouting
    by_size = {run.num_envs: run for run in scouting}
    rates = dict.fromkeys(by_size, 100.0)
    records = [
        placed(record, by_size[record.case.num_envs]) for record in scouted(rates) if record.experiment
    ]
    found = course(records, threads=[4], workers_per_node=[1])
    assert found.grid is not None
    heard.progress.begin_measuring(found, len(scouting))
    heard.progress.begin(found.runs[len(scouting)], len(scouting), len(found.runs))
    assert heard.titles[-1].startswith(f"1 of {len(found.runs) - len(scouting)}  ")


def test_a_run_that_failed_or_is_repeated_says_so(heard: Heard) -> None:
    found = course(num_envs=[64], threads=[4], workers_per_node=[1], repeats=3)
    heard.progress.begin_measuring(found, 0)
    run = found.runs[0]
    heard.progress.begin(run, 0, 3)
    heard.progress.end(placed(failing(run).record, run, final=False))
    assert heard.told[-1].endswith("killed: Worker 0 was killed by SIGKILL. It is tried again.")
    heard.progress.end(placed(record_of(run, 10.0), run, final=False, disturbed=True))
    assert "cores of other work, is repeated" in heard.told[-1]


def test_runs_that_are_settled_already_are_told_when_a_sweep_is_carried_on(heard: Heard) -> None:
    found = course(num_envs=[64], threads=[4], workers_per_node=[1], repeats=3)
    heard.progress.begin_measuring(found, 2)
    assert heard.told[-1] == "2 of 3 runs are settled already."


def test_the_first_ctrl_c_is_answered_once_and_only_while_measuring(heard: Heard) -> None:
    heard.interrupts.arrived.append(2)
    heard.progress.tick()
    assert heard.told == []
    heard.progress.begin_measuring(course(num_envs=[64], threads=[4]), 0)
    heard.progress.tick()
    heard.progress.tick()
    assert sum("Ctrl-C again" in text for text in heard.told) == 1
