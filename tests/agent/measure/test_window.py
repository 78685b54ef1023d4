from __future__ import annotations

from typing import Any

import pytest
from fake_clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st
from simulated_worker import Pace, through_synchronised_window, through_window

from envdyno.agent.measure import pulse, step_log, window
from envdyno.agent.measure.step_log import StepLog
from envdyno.agent.measure.window import Edges, Stepper
from envdyno.agent.workloads.contract import Autoreset, Tally
from envdyno.agent.workloads.synthetic import Distribution

START_NS = 100_000

paces = st.builds(
    Pace,
    num_envs=st.integers(1, 9),
    step_ns=st.integers(50, 30_000),
    distribution=st.sampled_from(Distribution),
    noise=st.floats(0, 0.5),
    drift=st.floats(0, 0.05),
    reset_rate=st.floats(0, 1),
    autoreset=st.sampled_from([Autoreset.SAME_STEP, Autoreset.NEXT_STEP]),
    begins_ns=st.integers(0, START_NS - 1),
    seed=st.integers(0, 99),
)
spans = st.integers(1, 200_000)


def stepper_of(durations: list[int], clock: FakeClock, **parts: Any) -> Stepper:
    """A loop around steps that take these durations in turn."""
    left = iter(durations)

    def step(actions: Any) -> None:
        clock.advance(next(left))

    return Stepper(step, [None], clock.ns, **parts)


@given(paces, spans)
def test_a_window_holds_exactly_what_a_witness_saw_complete_in_it(pace: Pace, span: int) -> None:
    worker = through_window(pace, START_NS, START_NS + span)
    inside = worker.inside(START_NS, START_NS + span)
    totals = worker.log.totals
    assert worker.edges == Edges(START_NS, START_NS + span)
    assert totals.steps == len(inside)
    assert totals.transitions == sum(tally.transitions for tally in inside)
    assert totals.reset_rows == sum(tally.reset_rows for tally in inside)
    assert totals.episodes == sum(tally.episodes or 0 for tally in inside)
    assert totals.reward_sum == sum(tally.reward_sum or 0 for tally in inside)
    assert sum(worker.log.series) == totals.transitions


@given(paces, spans, st.integers(1, 6), st.integers(1, 3))
def test_adding_up_inside_the_window_changes_nothing(
    pace: Pace, span: int, chunk_steps: int, pending_chunks: int
) -> None:
    at_once = through_window(pace, START_NS, START_NS + span)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "CHUNK_STEPS", chunk_steps)
        patch.setattr(step_log, "PENDING_CHUNKS", pending_chunks)
        in_parts = through_window(pace, START_NS, START_NS + span)
    assert in_parts.log.totals == at_once.log.totals
    assert in_parts.log.series == at_once.log.series
    assert in_parts.log.raw_times_ns == at_once.log.raw_times_ns


@given(paces, spans)
def test_next_step_autoreset_counts_no_row_that_only_resets(pace: Pace, span: int) -> None:
    worker = through_window(pace, START_NS, START_NS + span)
    totals = worker.log.totals
    assert totals.transitions + totals.reset_rows == totals.steps * pace.num_envs
    if pace.autoreset is Autoreset.SAME_STEP:
        assert totals.reset_rows == 0
    else:
        # Every episode that ended is followed by one reset row, up to one step on each side of the edges.
        assert abs(totals.reset_rows - (totals.episodes or 0)) <= pace.num_envs


@given(paces, st.integers(0, 5000), spans, st.booleans())
def test_between_synchronised_edges_everything_that_was_handed_over_has_completed(
    pace: Pace, device_ns: int, span: int, small_chunks: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if small_chunks:
            patch.setattr(window, "CHUNK_STEPS", 3)
            patch.setattr(step_log, "PENDING_CHUNKS", 1)
        worker = through_synchronised_window(pace, device_ns, START_NS, START_NS + span)
    edges = worker.edges
    assert edges.start_ns > START_NS
    assert edges.end_ns > START_NS + span
    inside = worker.inside(edges.start_ns, edges.end_ns)
    assert worker.log.totals.transitions == len(inside) * pace.num_envs
    assert worker.log.totals.steps == len(inside)
    assert sum(worker.log.series) == worker.log.totals.transitions


@pytest.mark.parametrize(
    ("durations", "steps"),
    [
        ([100, 50, 51], 1),  # ends exactly at the start, exactly at the end, and after it
        ([101, 48, 2], 2),
        ([99, 1, 50, 1], 1),
        ([300, 1], 0),  # one step covers the whole window
        ([120, 20, 11], 2),
    ],
)
def test_the_edges_belong_to_the_step_that_ends_at_the_end_only(durations: list[int], steps: int) -> None:
    clock = FakeClock(0)
    log = StepLog(4, 100, 150, 5)
    stepper_of(durations, clock).log_window(log)
    log.fold()
    assert log.totals.steps == steps


def test_a_worker_steps_before_the_start_and_until_after_the_end() -> None:
    clock = FakeClock(0)
    log = StepLog(4, 100, 150, 5)
    times: list[int] = []

    def step(actions: Any) -> None:
        clock.advance(30)
        times.append(clock.ns())

    Stepper(step, [None], clock.ns).log_window(log)
    assert times == [30, 60, 90, 120, 150, 180]


class StepReader:
    """Reads a number of steps at both edges, and keeps the number it was told."""

    def __init__(self, taken: list[int]) -> None:
        self.taken = taken
        self.reads: list[int] = []
        self.told = 0

    def open(self) -> None:
        self.reads.append(len(self.taken))

    def close(self, vector_steps: int) -> None:
        self.reads.append(len(self.taken))
        self.told = vector_steps


@given(st.integers(1, 40), st.integers(1, 400), st.integers(1, 5))
def test_readers_are_told_how_many_steps_lie_between_their_two_reads(
    step_ns: int, span: int, chunk_steps: int
) -> None:
    clock = FakeClock(0)
    taken: list[int] = []

    def step(actions: Any) -> None:
        clock.advance(step_ns)
        taken.append(clock.ns())

    reader = StepReader(taken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "CHUNK_STEPS", chunk_steps)
        Stepper(step, [None], clock.ns, readers=[reader]).log_window(StepLog(1, 100, 100 + span, 5))
    opened, closed = reader.reads
    assert reader.told == closed - opened
    assert taken[opened - 1] > 100
    assert taken[closed - 1] > 100 + span


@given(st.integers(1, 40), st.integers(1, 400), st.integers(1, 5), st.integers(1, 300))
def test_a_window_that_is_watched_logs_the_same_steps(
    step_ns: int, span: int, chunk_steps: int, pulse_ns: int
) -> None:
    logs = []
    told: list[float] = []
    for tell in (None, told.append):
        clock = FakeClock(0)
        log = StepLog(1, 100, 100 + span, 5)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(window, "CHUNK_STEPS", chunk_steps)
            patch.setattr(pulse, "PULSE_NS", pulse_ns)
            stepper = Stepper(lambda actions, clock=clock: clock.advance(step_ns), [None], clock.ns)
            stepper.log_window(log, tell)
        log.fold()
        logs.append(log)
    assert logs[0] == logs[1]
    assert all(rate == pytest.approx(1e9 / step_ns) for rate in told)
    assert len(told) <= span // pulse_ns + 1


def test_readers_are_closed_in_the_reverse_order() -> None:
    """What is opened last, such as the phases, is not on while another is read."""
    clock = FakeClock(0)
    calls: list[str] = []

    class Reader:
        def __init__(self, name: str) -> None:
            self.name = name

        def open(self) -> None:
            calls.append(f"open {self.name}")

        def close(self, vector_steps: int) -> None:
            calls.append(f"close {self.name}")

    readers = [Reader("work"), Reader("phases")]
    Stepper(lambda actions: clock.advance(30), [None], clock.ns, readers=readers).log_window(
        StepLog(1, 100, 200, 5)
    )
    assert calls == ["open work", "open phases", "close phases", "close work"]


def test_actions_are_used_in_turn_without_end() -> None:
    used: list[Any] = []
    stepper = Stepper(used.append, ["a", "b", "c"], FakeClock().ns)
    for _ in range(7):
        stepper.once()
    assert used == ["a", "b", "c", "a", "b", "c", "a"]


def test_a_timed_step_lasts_until_the_work_in_flight_is_done(fake_clock: FakeClock) -> None:
    stepper = stepper_of([100], fake_clock, synchronize=lambda: fake_clock.advance(900))
    assert stepper.timed_once() == (1000, None)


def test_stepping_goes_on_until_it_is_told_to_stop(fake_clock: FakeClock) -> None:
    taken: list[Any] = []
    stepper = Stepper(taken.append, [None], fake_clock.ns)
    stepper.until(lambda: len(taken) >= 5)
    assert len(taken) == 5


def test_an_order_that_has_already_come_is_obeyed_without_another_step(fake_clock: FakeClock) -> None:
    def never(actions: Any) -> Tally:
        raise AssertionError("a step was taken")

    Stepper(never, [None], fake_clock.ns).until(lambda: True)
