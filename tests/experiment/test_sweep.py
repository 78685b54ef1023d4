"""The course of a sweep: scouting, the grid that it leads to, limits, and carrying on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from fake_clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st
from made_records import killed
from planned_experiment import ScriptedExecutor, interrupted, record_of

from envdyno.experiment.experiment import OUT_OF_TIME, Ending, Limits, Made
from envdyno.experiment.history import CanaryUnit, History
from envdyno.experiment.scouting import LEAST_STEPS, chosen_num_envs, scouted_rates, why_no_further
from envdyno.experiment.sweep import Sweep, SweepHooks
from envdyno.experiment.sweep_course import SweepCourse, course_of, swept_workload
from envdyno.judge.best_settings import Standing, judge_sweep
from envdyno.judge.sweep_from_records import sweep_evidence
from envdyno.plan.cases import Catalogue, Unknown
from envdyno.plan.expand import PlannedRun
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.plan_error import PlanError
from envdyno.plan.sweep_grid import Room, Rooms
from envdyno.plan.usage_error import UsageError
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting, scouted_num_envs
from envdyno.record.status import Status

ROOMS: Rooms = {1: Room(1, 4), 2: Room(2, 2)}
Rate = Callable[[PlannedRun, int], float]


def saturating(run: PlannedRun, _number: int) -> float:
    """More environments bring less and less; twice the threads bring half more."""
    workers = run.workers_per_node or 1
    threads = (run.threads or 1) * workers
    return 1e5 * run.num_envs / (run.num_envs + 400) * threads**0.6


class Bench:
    """A sweep, its executor and what it has written."""

    def __init__(
        self,
        rate: Rate = saturating,
        *,
        earlier: Sequence[RunRecord] = (),
        rooms: Rooms = ROOMS,
        script: Callable[[PlannedRun, int], Made | Exception | None] = lambda _run, _attempt: None,
        canary: Callable[[int], float] = lambda _number: 700.0,
        memory_bytes: int | None = None,
        window_s: float = 10.0,
        sweep: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        self.plan = ExperimentPlan.model_validate(
            {"experiment": {"cases": ["synthetic"]}, "sweep": {"repeats": 3, **(sweep or {})}}
        )
        self.written: list[RunRecord] = list(earlier)
        self.grids: list[SweepCourse] = []
        self.rooms = rooms

        def make(run: PlannedRun, attempt: int) -> Made | Exception:
            number = len(self.executor.made)
            found = script(run, attempt)
            return found or Made(record_of(run, rate(run, number)), canary_per_s=canary(number))

        self.executor = ScriptedExecutor(make)
        self.sweep = Sweep(
            course=self.course_after(earlier),
            course_after=self.course_after,
            executor=self.executor,
            keep=self.written.append,
            left_out=why_no_further(lambda: memory_bytes, window_s),
            hooks=SweepHooks(grid=self.grids.append),
            history=History.of(earlier, CanaryUnit.BLOCK),
            **more,
        )

    def course_after(self, records: Sequence[RunRecord]) -> SweepCourse:
        assert self.plan.sweep is not None
        return course_of(self.plan, self.plan.sweep, "synthetic", self.rooms, records)

    def run(self) -> Ending:
        return self.sweep.run_all()

    def scouted(self) -> list[int]:
        """Batch sizes of the scouting runs that were made."""
        made = [one for one in self.written if one.status is not Status.SKIPPED and one.experiment]
        return [size for one in made if (size := scouted_num_envs(one.experiment.case))]

    def reasons(self) -> set[str]:
        """Why runs were left out."""
        return {one.failure.message for one in self.written if one.status is Status.SKIPPED and one.failure}


EXPLICIT = {"num_envs": [64, 256], "threads": [1, 4], "workers_per_node": [1]}


def test_with_batch_sizes_there_is_no_scouting_and_every_setting_is_run_in_every_block() -> None:
    bench = Bench(sweep=EXPLICIT)
    assert bench.run() is Ending.COMPLETE
    assert bench.scouted() == []
    assert [name for name, _ in bench.executor.made] == [run.id for run in bench.sweep.course.runs]
    assert len(bench.executor.made) == 4 * 3


def test_scouting_goes_on_until_more_environments_bring_nothing_and_the_grid_lies_around_the_knee() -> None:
    bench = Bench()
    assert bench.run() is Ending.COMPLETE
    assert bench.scouted() == [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
    (course,) = bench.grids
    assert course.grid is not None
    sizes = sorted({setting.num_envs for setting in course.grid.settings})
    assert sizes == [2048, 4096, 8192, 16384, 32768]
    assert any("brought less than 5 % more, twice in a row" in reason for reason in bench.reasons())


def test_every_planned_run_ends_in_a_final_record() -> None:
    bench = Bench()
    bench.run()
    final = [one.experiment.planned_id for one in bench.written if one.experiment and one.experiment.final]
    assert sorted(final) == sorted(bench.sweep.course.ids)


def test_scouting_runs_are_not_judged() -> None:
    bench = Bench()
    bench.run()
    evidence = sweep_evidence(bench.written, bench.sweep.course.cases, 3)
    assert len(evidence.runs) == 3 * len(evidence.settings)


def test_scouting_ends_before_memory_does() -> None:
    def make(run: PlannedRun, _attempt: int) -> Made | None:
        record = record_of(run, 100.0 * run.num_envs)
        used = [
            one.use.model_copy(update={"rss_bytes": run.num_envs * 2**20})
            for one in record.workers
            if one.use
        ]
        workers = [one.model_copy(update={"use": use}) for one, use in zip(record.workers, used, strict=True)]
        return Made(record.model_copy(update={"workers": tuple(workers)}), canary_per_s=700.0)

    workers = len(record_of(Bench(sweep=EXPLICIT).sweep.course.runs[0]).workers)
    bench = Bench(script=make, memory_bytes=workers * 1000 * 2**20)
    bench.run()
    assert bench.scouted() == [64, 128, 256, 512]
    assert any("GiB are free" in reason for reason in bench.reasons())


def test_scouting_ends_before_a_window_holds_too_few_steps() -> None:
    def make(run: PlannedRun, _attempt: int) -> Made | None:
        record = record_of(run, 100.0 * run.num_envs)
        assert record.throughput is not None
        assert record.totals is not None
        steps = max(1, 12_800 // run.num_envs)
        elapsed = {"elapsed_s": 2.0 / len(record.workers), "transitions_per_s": 100.0 * run.num_envs}
        return Made(
            record.model_copy(
                update={
                    "throughput": record.throughput.model_copy(update=elapsed),
                    "totals": record.totals.model_copy(update={"vector_steps": steps}),
                }
            ),
            canary_per_s=700.0,
        )

    bench = Bench(script=make, window_s=10.0)
    bench.run()
    # A step of n environments takes 2 s over 12,800 / n: 50 of them fill 10 s at 1,280.
    assert bench.scouted() == [64, 128, 256, 512, 1024]
    assert any(f"fewer than {LEAST_STEPS}" in reason for reason in bench.reasons())


def test_a_batch_that_fails_ends_scouting_and_smaller_ones_make_the_grid() -> None:
    def fail_large(run: PlannedRun, _attempt: int) -> Made | None:
        if run.num_envs < 512:
            return None
        return Made(record_of(run, status=Status.KILLED, failure=killed()), canary_per_s=700.0)

    bench = Bench(script=fail_large)
    assert bench.run() is Ending.COMPLETE
    assert bench.scouted() == [64, 128, 256, 512]
    assert "512 environments failed already." in bench.reasons()
    assert chosen_num_envs(bench.written) == (64, 128, 256)


def test_where_not_even_the_smallest_batch_runs_there_is_no_grid() -> None:
    bench = Bench(script=lambda run, _: Made(record_of(run, status=Status.KILLED, failure=killed())))
    assert bench.run() is Ending.COMPLETE
    assert bench.grids == []
    assert scouted_rates(bench.written) == {}


def test_drift_of_the_machine_is_not_taken_for_a_difference_between_settings() -> None:
    bench = Bench(lambda _run, number: 1e5 * 0.99**number, sweep={**EXPLICIT, "repeats": 6})
    bench.run()
    result = judge_sweep(sweep_evidence(bench.written, bench.sweep.course.cases, 6))
    assert result.named(Standing.SLOWER) == ()


def test_what_is_faster_by_much_is_found_in_spite_of_drift() -> None:
    def rate(run: PlannedRun, number: int) -> float:
        return (2e5 if run.threads == 4 else 1e5) * 0.98**number

    bench = Bench(rate, sweep=EXPLICIT)
    bench.run()
    result = judge_sweep(sweep_evidence(bench.written, bench.sweep.course.cases, 3))
    assert {one.setting.threads for one in result.named(Standing.SLOWER)} == {1}
    assert result.cheapest is not None
    assert result.cheapest.setting == Setting(64, 1, 4)


def test_a_disturbed_run_is_repeated_so_often_and_every_try_is_kept() -> None:
    bench = Bench(
        script=lambda run, _: Made(record_of(run), canary_per_s=700.0, disturbed=True),
        sweep=EXPLICIT,
        limits=Limits(disturbed_repeats=2),
    )
    bench.run()
    assert len(bench.executor.made) == 3 * 12
    assert sum(one.experiment.disturbed for one in bench.written if one.experiment) == 3 * 12


def test_a_canary_is_held_against_the_run_before_in_the_same_block() -> None:
    bench = Bench(sweep=EXPLICIT, canary=lambda number: 700.0 + number)
    bench.run()
    told = bench.executor.canaries
    assert [told[place] for place in (0, 4, 8)] == [None] * 3
    assert told[1:4] == [701.0, 702.0, 703.0]


def test_the_budget_is_that_of_scouting_and_grid_together() -> None:
    clock = FakeClock()

    def slow(run: PlannedRun, _number: int) -> float:
        clock.advance(10 * 10**9)
        return saturating(run, 0)

    bench = Bench(slow, limits=Limits(budget_s=125.0), clock=clock.s)
    assert bench.run() is Ending.BUDGET
    assert len(bench.executor.made) == 13
    assert OUT_OF_TIME in bench.reasons()
    again = Bench(earlier=bench.written)
    assert again.run() is Ending.COMPLETE
    assert len(again.executor.made) + 13 == len(again.sweep.course.runs) - len(bench_skipped(again))


def bench_skipped(bench: Bench) -> set[str]:
    """Ids of the runs that were left out for good."""
    return {
        one.experiment.planned_id
        for one in bench.written
        if one.status is Status.SKIPPED and one.experiment and one.experiment.final
    }


@given(stop=st.integers(0, 45))
def test_a_sweep_that_was_stopped_anywhere_goes_on_with_the_same_runs(stop: int) -> None:
    whole = Bench()
    whole.run()
    cut = Bench(earlier=whole.written[:stop])
    assert cut.run() is Ending.COMPLETE
    assert cut.sweep.course.ids == whole.sweep.course.ids
    made = {one.experiment.planned_id for one in cut.written if one.experiment and one.experiment.final}
    assert made == set(whole.sweep.course.ids)
    settled = {one.experiment.planned_id for one in whole.written[:stop] if one.experiment}
    assert not settled & {name for name, _ in cut.executor.made}


def test_an_interruption_keeps_what_was_made() -> None:
    bench = Bench(script=lambda run, _: interrupted(run) if run.num_envs == 256 else None)
    assert bench.run() is Ending.INTERRUPTED
    assert bench.scouted() == [64, 128, 256]
    assert bench.grids == []


def test_the_course_before_its_grid_is_that_of_scouting() -> None:
    bench = Bench()
    before = bench.sweep.course
    bench.run()
    assert bench.sweep.course.before_grid() == replace(before)
    assert bench.sweep.course.ids[: len(before.ids)] == before.ids


def test_settings_that_cannot_be_are_cases_with_a_reason() -> None:
    bench = Bench(sweep={"num_envs": [64], "threads": [2, 8]})
    found = bench.sweep.course.cannot_run
    assert "a worker has 4 CPUs" in found[Setting(64, 1, 8).case_name("synthetic")]


@pytest.mark.parametrize(
    ("sweep", "rooms", "said"),
    [
        ({"threads": [8]}, ROOMS, "--threads 8 was asked for, and a worker has 4 CPUs"),
        ({"threads": [8], "num_envs": [64]}, ROOMS, "No setting of this sweep can be"),
        ({}, {1: "No worker can be placed.", 2: "No worker can be placed."}, "No worker can be placed"),
    ],
)
def test_a_sweep_of_nothing_is_refused(sweep: dict[str, Any], rooms: Rooms, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Bench(sweep=sweep, rooms=rooms)


def test_a_sweep_is_of_one_workload() -> None:
    known = Catalogue(("a/x", "a/y"), {})
    plan = ExperimentPlan.model_validate({"experiment": {"cases": ["a/*"]}, "sweep": {}})
    with pytest.raises(PlanError, match=r"one workload, and these are 2: a/x, a/y"):
        swept_workload(plan, known, Unknown.REFUSE)
    one = ExperimentPlan.model_validate({"experiment": {"cases": ["*/y"]}, "sweep": {}})
    assert swept_workload(one, known, Unknown.REFUSE) == "a/y"
