"""The course of an experiment: order, repeats, budget, resume, and a record for every planned run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from fake_clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st
from planned_experiment import (
    Script,
    ScriptedExecutor,
    disturbed,
    failing,
    interrupted,
    interrupted_before,
    plan_of,
    record_of,
    runs_of,
    steady,
)

from envdyno.agent.job import Timing
from envdyno.experiment.experiment import OUT_OF_TIME, Ending, Experiment, Hooks, Limits, Made
from envdyno.experiment.history import GIVEN_UP_AFTER, History
from envdyno.plan.expand import Need, PlannedRun
from envdyno.record.experiment import ExperimentEntry
from envdyno.record.journal import JournalError
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

Course = Callable[[PlannedRun], Made]


class Bench:
    """An experiment, its executor and what it has written."""

    def __init__(
        self,
        runs: Sequence[PlannedRun],
        script: Script = steady,
        *,
        earlier: Sequence[RunRecord] = (),
        **more: object,
    ) -> None:
        self.runs = runs
        self.executor = ScriptedExecutor(script)
        self.written: list[RunRecord] = list(earlier)
        self.experiment = Experiment(
            runs=runs,
            executor=self.executor,
            keep=self.written.append,
            history=History.of(earlier),
            **more,  # type: ignore[arg-type]
        )

    def run(self) -> Ending:
        return self.experiment.run_all()

    def final(self) -> list[str]:
        """Ids of the planned runs that have their final record, in the order in which they got it."""
        return [r.experiment.planned_id for r in self.written if r.experiment and r.experiment.final]

    def statuses(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for record in self.written:
            assert record.experiment is not None
            found.setdefault(record.experiment.planned_id, []).append(record.status.value)
        return found

    def skipped(self) -> dict[str, str]:
        """Reason by id."""
        return {
            r.experiment.planned_id: r.failure.message
            for r in self.written
            if r.status is Status.SKIPPED and r.experiment and r.failure
        }

    def entries(self, run: PlannedRun) -> list[ExperimentEntry]:
        """Places in the experiment of all records of one planned run."""
        entries = (record.experiment for record in self.written)
        return [entry for entry in entries if entry is not None and entry.planned_id == run.id]


def only(wanted: PlannedRun, course: Sequence[Course]) -> Script:
    """One planned run takes a course of its own, try by try; all others go well."""

    def make(run: PlannedRun, attempt: int) -> Made:
        own = run is wanted and attempt < len(course)
        return course[attempt](run) if own else steady(run, 0)

    return make


def ids(runs: Sequence[PlannedRun]) -> list[str]:
    return [run.id for run in runs]


def test_every_planned_run_is_made_once_and_in_the_planned_order() -> None:
    runs = runs_of(plan_of(pairs=4, attribution_pairs=2), ("one", "two"))
    bench = Bench(runs)
    assert bench.run() is Ending.COMPLETE
    assert bench.executor.made == [(run.id, 0) for run in runs]
    assert bench.final() == ids(runs)


def test_a_record_holds_the_place_of_its_run_in_the_experiment() -> None:
    runs = runs_of(plan_of())
    bench = Bench(
        runs, lambda run, _: steady(run, 0)._replace(folder="runs/x", canary_per_s=7.0, canary_tries=3)
    )
    bench.run()
    for run, record in zip(runs, bench.written, strict=True):
        entry = record.experiment
        assert entry is not None
        assert (entry.planned_id, entry.case, entry.side) == (run.id, run.case, run.side)
        assert (entry.pair, entry.position, entry.attempt, entry.final) == (run.pair, run.position, 0, True)
        assert (entry.folder, entry.canary_per_s, entry.canary_tries) == ("runs/x", 7.0, 3)
        assert not entry.disturbed


def test_a_failed_run_is_not_retried_unless_the_plan_says_so() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs, only(runs[0], [failing]))
    assert bench.run() is Ending.COMPLETE
    assert bench.statuses()[runs[0].id] == ["killed"]
    assert bench.final() == ids(runs)


def test_a_failed_run_is_retried_as_often_as_the_plan_says_and_every_try_is_recorded() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs, only(runs[2], [failing, failing]), limits=Limits(retries=5))
    bench.run()
    assert bench.statuses()[runs[2].id] == ["killed", "killed", "ok"]
    assert [(entry.attempt, entry.final) for entry in bench.entries(runs[2])] == [
        (0, False),
        (1, False),
        (2, True),
    ]


def test_retries_end_with_a_final_failure() -> None:
    runs = runs_of(plan_of())
    bench = Bench(
        runs, lambda run, _: failing(run) if run is runs[0] else steady(run, 0), limits=Limits(retries=2)
    )
    bench.run()
    assert bench.statuses()[runs[0].id] == ["killed"] * 3
    assert bench.final() == ids(runs)


def test_a_disturbed_run_is_kept_and_repeated_until_it_is_calm() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs, only(runs[1], [disturbed, disturbed]), limits=Limits(disturbed_repeats=3))
    bench.run()
    found = [(entry.disturbed, entry.final) for entry in bench.entries(runs[1])]
    assert found == [(True, False), (True, False), (False, True)]


def test_a_run_that_stays_disturbed_is_settled_after_the_allowed_repeats() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs, lambda run, _: disturbed(run), limits=Limits(disturbed_repeats=2))
    assert bench.run() is Ending.COMPLETE
    assert all(statuses == ["ok"] * 3 for statuses in bench.statuses().values())
    assert bench.final() == ids(runs)


def test_repeats_for_load_and_retries_of_failures_are_counted_apart() -> None:
    runs = runs_of(plan_of())
    course = [failing, disturbed, failing, disturbed]
    bench = Bench(runs, only(runs[0], course), limits=Limits(retries=2, disturbed_repeats=2))
    bench.run()
    assert bench.statuses()[runs[0].id] == ["killed", "ok", "killed", "ok", "ok"]


def test_whether_a_run_is_repeated_never_depends_on_its_figures() -> None:
    runs = runs_of(plan_of())
    rates = iter([1000.0, 1.0, 1e9, 0.001, 5.0, 7.0])
    bench = Bench(runs, lambda run, _: Made(record_of(run, next(rates))), limits=Limits(3600, 3, 3))
    bench.run()
    assert [attempt for _, attempt in bench.executor.made] == [0] * 6


def test_a_side_that_keeps_failing_is_given_up_and_the_rest_of_its_case_is_recorded_as_skipped() -> None:
    runs = runs_of(plan_of(pairs=6, attribution_pairs=1), ("bad", "good"))
    bench = Bench(
        runs, lambda run, _: failing(run) if (run.case, run.side) == ("bad", "b") else steady(run, 0)
    )
    assert bench.run() is Ending.COMPLETE
    assert bench.final() == ids(runs)
    tried = [run for run, _ in bench.executor.made if run.startswith("bad") and "-b" in run]
    assert len(tried) == GIVEN_UP_AFTER
    reasons = {reason for run, reason in bench.skipped().items()}
    assert reasons == {"Side b failed 2 times in a row. The first cause: Worker 0 was killed by SIGKILL."}
    assert all(run.startswith("bad") for run in bench.skipped())


def test_a_side_that_fails_now_and_then_is_not_given_up() -> None:
    runs = runs_of(plan_of(pairs=6))
    bench = Bench(runs, lambda run, _: failing(run) if run.side == "b" and run.pair % 2 else steady(run, 0))
    bench.run()
    assert bench.skipped() == {}


def test_failing_attribution_runs_do_not_cost_the_case_its_further_pairs() -> None:
    runs = runs_of(plan_of(pairs="3..4", attribution_pairs=3))
    bench = Bench(runs, lambda run, _: failing(run) if run.timing is Timing.ATTRIBUTION else steady(run, 0))
    bench.run()
    further = [run.id for run in runs if run.need is Need.IF_UNDECIDED]
    assert set(further) <= {run for run, _ in bench.executor.made}
    assert len(bench.skipped()) == 6 - 2 * GIVEN_UP_AFTER + 1


def test_cases_that_cannot_be_measured_are_recorded_with_the_reason_and_start_nothing() -> None:
    runs = runs_of(plan_of(), ("one", "two"))
    bench = Bench(runs, not_measured={"one": "Side b cannot build it."})
    assert bench.run() is Ending.COMPLETE
    assert bench.skipped() == {run.id: "Side b cannot build it." for run in runs if run.case == "one"}
    assert {run for run, _ in bench.executor.made} == {run.id for run in runs if run.case == "two"}
    assert bench.final() == ids(runs)


def test_further_pairs_are_made_only_for_cases_that_they_may_decide() -> None:
    runs = runs_of(plan_of(pairs="3..5"), ("open", "closed"))
    asked: list[int] = []

    def decided(records: Sequence[RunRecord]) -> dict[str, str]:
        asked.append(len(records))
        return (
            {"closed": "The verdict is PASS."} if len(asked) == 1 else {"closed": "x", "open": "It is FAIL."}
        )

    bench = Bench(runs, decided=decided)
    assert bench.run() is Ending.COMPLETE
    made = {run for run, _ in bench.executor.made}
    assert made == {run.id for run in runs if run.pair <= 3 or (run.case == "open" and run.pair == 4)}
    assert len(asked) == 2, "the judge is asked once a round"
    assert asked[0] == 12, "and not before the pairs that are made in any case"
    assert set(bench.skipped().values()) == {"The verdict is PASS.", "x", "It is FAIL."}
    assert bench.final() == ids(runs)


def clocked(clock: FakeClock, seconds: float) -> Script:
    """Every run takes so long."""

    def make(run: PlannedRun, _attempt: int) -> Made:
        clock.sleep(seconds)
        return steady(run, 0)

    return make


def test_no_pair_begins_after_the_budget_and_one_that_has_begun_is_completed(fake_clock: FakeClock) -> None:
    runs = runs_of(plan_of(pairs=6))
    bench = Bench(runs, clocked(fake_clock, 10.0), limits=Limits(budget_s=45.0), clock=fake_clock.s)
    assert bench.run() is Ending.BUDGET
    assert [run for run, _ in bench.executor.made] == ids(runs[:6]), "50 s: the third pair was begun at 40 s"
    assert bench.skipped() == {run.id: OUT_OF_TIME for run in runs[6:]}


def test_in_blocked_order_the_budget_leaves_no_run_without_its_partner(fake_clock: FakeClock) -> None:
    runs = runs_of(plan_of(pairs=6, order="blocked"))
    bench = Bench(runs, clocked(fake_clock, 10.0), limits=Limits(budget_s=25.0), clock=fake_clock.s)
    bench.run()
    made = [run for run in runs if run.id in {one for one, _ in bench.executor.made}]
    assert [(run.side, run.pair) for run in made] == [(side, pair) for side in "ab" for pair in (1, 2, 3)]


def test_runs_left_out_for_lack_of_time_are_made_when_the_experiment_is_resumed(
    fake_clock: FakeClock,
) -> None:
    runs = runs_of(plan_of(pairs=4))
    first = Bench(runs, clocked(fake_clock, 10.0), limits=Limits(budget_s=5.0), clock=fake_clock.s)
    first.run()
    second = Bench(runs, earlier=first.written)
    assert second.run() is Ending.COMPLETE
    assert sorted(second.final()) == sorted(ids(runs))
    assert set(second.executor.made) == {(run.id, 0) for run in runs[2:]}


def test_a_resume_without_time_does_not_record_the_same_skips_again(fake_clock: FakeClock) -> None:
    runs = runs_of(plan_of(pairs=4))
    late = Limits(budget_s=5.0)
    first = Bench(runs, clocked(fake_clock, 10.0), limits=late, clock=fake_clock.s)
    first.run()
    second = Bench(runs, clocked(fake_clock, 10.0), limits=late, clock=fake_clock.s, earlier=first.written)
    second.run()
    third_pair = [run.id for run in runs if run.pair == 3]
    assert [second.statuses()[run] for run in third_pair] == [["skipped"], ["skipped"]]


def test_a_first_interrupt_ends_the_experiment_after_the_run_in_hand() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs)
    bench.experiment.hooks = Hooks(asked_to_end=lambda: len(bench.executor.made) >= 2)
    assert bench.run() is Ending.INTERRUPTED
    assert bench.final() == ids(runs[:2])


def test_an_interrupt_that_comes_during_a_run_to_be_repeated_leaves_it_for_the_resume() -> None:
    runs = runs_of(plan_of())
    first = Bench(runs, lambda run, _: failing(run), limits=Limits(retries=3))
    first.experiment.hooks = Hooks(asked_to_end=lambda: bool(first.executor.made))
    assert first.run() is Ending.INTERRUPTED
    assert first.final() == []
    second = Bench(runs, limits=Limits(retries=3), earlier=first.written)
    assert second.run() is Ending.COMPLETE
    assert second.executor.made[0] == (runs[0].id, 1)


def test_a_run_that_was_interrupted_is_recorded_and_made_again() -> None:
    runs = runs_of(plan_of())
    first = Bench(runs, only(runs[3], [interrupted]))
    assert first.run() is Ending.INTERRUPTED
    assert first.statuses()[runs[3].id] == ["interrupted"]
    second = Bench(runs, earlier=first.written)
    assert second.run() is Ending.COMPLETE
    assert second.executor.made == [(runs[3].id, 1), (runs[4].id, 0), (runs[5].id, 0)]
    assert second.final() == ids(runs)


def test_an_interrupt_before_a_run_begins_records_nothing() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs, lambda run, _: interrupted_before() if run is runs[1] else steady(run, 0))
    assert bench.run() is Ending.INTERRUPTED
    assert len(bench.written) == 1


def test_an_interrupt_in_the_last_run_leaves_a_complete_experiment() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs)
    bench.experiment.hooks = Hooks(asked_to_end=lambda: len(bench.executor.made) == len(runs))
    assert bench.run() is Ending.COMPLETE


def test_a_changed_side_ends_the_experiment_and_its_run_is_made_again_when_it_is_put_back() -> None:
    runs = runs_of(plan_of())
    changed = only(runs[2], [lambda run: failing(run)._replace(side_changed=True)])
    first = Bench(runs, changed, limits=Limits(retries=3))
    assert first.run() is Ending.SIDE_CHANGED
    assert first.executor.made[-1] == (runs[2].id, 0), "a changed side is not retried"
    second = Bench(runs, earlier=first.written)
    assert second.run() is Ending.COMPLETE
    assert second.final() == ids(runs)


def test_a_record_that_cannot_be_written_stops_the_experiment_at_once() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs)

    def keep(record: RunRecord) -> None:
        if len(bench.written) == 2:
            raise JournalError("The disk is full.")
        bench.written.append(record)

    bench.experiment.keep = keep
    with pytest.raises(JournalError):
        bench.run()
    assert len(bench.executor.made) == 3
    assert bench.final() == ids(runs[:2])


def test_a_record_is_told_only_after_it_has_been_written() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs)
    told: list[int] = []
    bench.experiment.hooks = Hooks(end=lambda _: told.append(len(bench.written)))
    bench.run()
    assert told == [1, 2, 3, 4, 5, 6]


def test_a_run_is_told_the_canary_beside_its_partner_and_of_no_other_pair() -> None:
    runs = runs_of(plan_of())
    speeds = iter([100.0, 101.0, 102.0, 103.0, 104.0, 105.0])
    bench = Bench(runs, lambda run, _: steady(run, 0)._replace(canary_per_s=next(speeds)))
    bench.run()
    assert bench.executor.canaries == [None, 100.0, None, 102.0, None, 104.0]


def test_three_sides_make_triples_and_each_has_its_record() -> None:
    runs = runs_of(plan_of(sides=("a", "b", "c")))
    bench = Bench(runs)
    assert bench.run() is Ending.COMPLETE
    assert len(bench.final()) == 9
    assert bench.final() == ids(runs)


def test_resuming_a_complete_experiment_makes_nothing() -> None:
    runs = runs_of(plan_of())
    first = Bench(runs)
    first.run()
    second = Bench(runs, earlier=first.written)
    assert second.run() is Ending.COMPLETE
    assert second.executor.made == []


def test_records_of_no_experiment_are_passed_over() -> None:
    runs = runs_of(plan_of())
    bench = Bench(runs, earlier=[record_of(runs[0])])
    assert bench.run() is Ending.COMPLETE
    assert len(bench.executor.made) == 6


COURSES: tuple[Course, ...] = (lambda run: steady(run, 0), failing, disturbed, interrupted)


@given(
    courses=st.lists(st.sampled_from(COURSES), min_size=1, max_size=60),
    retries=st.integers(0, 2),
    repeats=st.integers(0, 2),
    torn=st.lists(st.integers(0, 3), max_size=12),
)
def test_whatever_happens_resuming_ends_with_every_planned_run_settled_exactly_once(
    courses: list[Course], retries: int, repeats: int, torn: list[int]
) -> None:
    """Sessions end by interrupts and by kills, which lose records that were not yet written."""
    runs = runs_of(plan_of(pairs="3..4", attribution_pairs=1), ("one", "two"))
    limits = Limits(retries=retries, disturbed_repeats=repeats)
    left = iter(courses)

    def script(run: PlannedRun, _attempt: int) -> Made:
        return next(left, COURSES[0])(run)

    written: list[RunRecord] = []
    kills = list(torn)
    for _ in range(len(courses) + len(torn) + 2):
        bench = Bench(runs, script, limits=limits, earlier=written)
        budget = kills.pop() if kills else None

        def keep(record: RunRecord, bench: Bench = bench, budget: int | None = budget) -> None:
            if budget is not None and len(bench.executor.made) > budget:
                raise KeyboardInterrupt  # killed before the record was on the disk
            bench.written.append(record)

        bench.experiment.keep = keep
        try:
            ending = bench.run()
        except KeyboardInterrupt:
            ending = Ending.INTERRUPTED
        before = [r.run_id for r in written]
        written = bench.written
        assert [r.run_id for r in written[: len(before)]] == before, "what was recorded stays"
        if ending is Ending.COMPLETE:
            break
    assert sorted(bench.final()) == sorted(ids(runs))
    for record in written:
        assert record.experiment is not None
        of_run = [
            r for r in written if r.experiment and r.experiment.planned_id == record.experiment.planned_id
        ]
        assert sum(r.status is Status.KILLED for r in of_run) <= 1 + retries
        assert sum(bool(r.experiment and r.experiment.disturbed) for r in of_run) <= 1 + repeats
