"""The worker itself and the record of a run, in fake time, against what a witness saw."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import hand_made_run
import pytest
import simulated_workload
from fake_clock import FakeClock
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_worker import Pace

from envdyno.agent import stages
from envdyno.agent.job import Job
from envdyno.agent.placement.outcome import Fact, Outcome, State
from envdyno.agent.protocol import FromWorker, ToWorker, decode, encode
from envdyno.agent.stages import Stage
from envdyno.agent.worker import Worker
from envdyno.agent.workloads.contract import Autoreset
from envdyno.agent.workloads.synthetic import Distribution
from envdyno.host.machine import read_facts
from envdyno.launch import fingerprinting
from envdyno.launch.run_record import make_record
from envdyno.record.run_record import RunRecord

ORDER_AT_NS = 2_000_000
START_NS = 3_000_000
FACTS = read_facts()
OFF = Outcome(Fact(State.OFF), Fact(State.OFF))

paces = st.builds(
    Pace,
    num_envs=st.integers(1, 9),
    step_ns=st.sampled_from([2_000, 9_000, 20_000]),
    distribution=st.sampled_from(Distribution),
    noise=st.floats(0, 0.3),
    reset_rate=st.floats(0, 1),
    autoreset=st.sampled_from([Autoreset.SAME_STEP, Autoreset.NEXT_STEP]),
    begins_ns=st.integers(0, 50_000),
    seed=st.integers(0, 99),
)
teams = st.lists(paces, min_size=1, max_size=3)


class ScriptedChannel:
    """The control's orders, each arriving at an instant of the worker's clock."""

    def __init__(self, clock: FakeClock, script: Sequence[tuple[int, ToWorker, dict[str, Any]]]) -> None:
        self._clock, self._script = clock, list(script)
        self.sent: dict[FromWorker, dict[str, Any]] = {}

    def waiting(self) -> bool:
        return self._clock.ns() >= self._script[0][0]

    def receive(self) -> dict[str, Any]:
        _at, kind, body = self._script.pop(0)
        return decode(encode(kind, body))

    def send(self, kind: FromWorker, **body: Any) -> None:
        self.sent[kind] = decode(encode(kind, body))


def run_of(
    team: list[Pace], order: ToWorker, body: dict[str, Any], stop_at_ns: int, **request: Any
) -> RunRecord:
    """Let every worker of a team follow the same order, and make the record of the run."""
    outcome = hand_made_run.outcome(
        shares=[pace.num_envs for pace in team],
        request={"workload": "simulated_workload:build", **request},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "_current", Stage.START)
        patch.setattr(Worker, "_audit", lambda self: {"findings": []})
        patch.setattr(Worker, "_loaded", lambda self, workload: hand_made_run.loaded())
        patch.setattr(fingerprinting, "read_facts", lambda: FACTS)
        for index, pace in enumerate(team):
            clock = simulated_workload.CLOCKS[index] = FakeClock(pace.begins_ns)
            simulated_workload.PACES[index] = pace
            patch.setattr(time, "monotonic_ns", clock.ns)
            script = [(ORDER_AT_NS, order, body), (stop_at_ns, ToWorker.STOP, {})]
            channel = ScriptedChannel(clock, script)
            job = Job(
                worker=index,
                workers=len(team),
                workload="simulated_workload:build",
                num_envs=pace.num_envs,
                seed=pace.seed,
                cpus=(0,),
                threads=1,
                warmup_steps=5,
            )
            placement = outcome.site.choice.placements[index]
            Worker(job, channel, placement, OFF).run()  # type: ignore[arg-type]
            outcome.states[index].messages |= channel.sent
        return make_record(outcome, ("envdyno", "run"))


def seen_inside(workers: int, start_ns: int, end_ns: int) -> list[Any]:
    """What the witness saw complete after the start and not after the end, over all workers."""
    return [
        seen.tally
        for index in range(workers)
        for seen in simulated_workload.SEEN[index]
        if start_ns < seen.at_ns <= end_ns
    ]


@settings(max_examples=25)
@given(teams, st.integers(50_000, 1_000_000), st.integers(0, 200_000))
def test_a_run_counts_exactly_what_was_completed_in_its_window(
    team: list[Pace], span: int, wait: int
) -> None:
    end_ns = START_NS + span
    window = {"start_ns": START_NS, "end_ns": end_ns}
    record = run_of(team, ToWorker.WINDOW, window, end_ns + wait)
    inside = seen_inside(len(team), START_NS, end_ns)
    assert record.totals is not None
    assert record.throughput is not None
    assert record.totals.vector_steps == len(inside)
    assert record.totals.transitions == sum(tally.transitions for tally in inside)
    assert record.totals.reset_rows == sum(tally.reset_rows for tally in inside)
    assert record.totals.episodes == sum(tally.episodes for tally in inside)
    exact = Fraction(record.totals.transitions * 10**9, span)
    assert record.throughput.transitions_per_s == pytest.approx(float(exact), rel=1e-12)
    for index, worker in enumerate(record.workers):
        own = [seen.at_ns for seen in simulated_workload.SEEN[index] if START_NS < seen.at_ns <= end_ns]
        assert worker.raw_kept == len(own)
        assert sum(worker.series) == (worker.totals.transitions if worker.totals else None)
        assert worker.entered_s == ((own[0] - START_NS) / 1e9 if own else None)
        if len(own) > 1:
            assert worker.step_time is not None
            gaps = [later - earlier for earlier, later in pairwise(own)]
            assert worker.step_time.mean_ms == pytest.approx(sum(gaps) / len(gaps) / 1e6)
        assert worker.work is not None
        assert worker.work.totals["dispatches"] == worker.work.vector_steps


@settings(max_examples=15)
@given(teams, st.integers(1, 60))
def test_a_latency_run_divides_by_the_time_from_the_first_start_to_the_last_end(
    team: list[Pace], steps: int
) -> None:
    stop_at_ns = START_NS + 100 * steps * max(pace.step_ns for pace in team)
    order = {"start_ns": START_NS, "steps": steps}
    record = run_of(team, ToWorker.LATENCY, order, stop_at_ns, mode="latency", steps=steps)
    starts, ends, done = [], [], 0
    for index in range(len(team)):
        seen = simulated_workload.SEEN[index]
        first = next(place for place, one in enumerate(seen) if one.at_ns >= START_NS) + 1
        starts.append(seen[first - 1].at_ns)
        ends.append(seen[first + steps - 1].at_ns)
        done += sum(one.tally.transitions for one in seen[first : first + steps])
    assert record.totals is not None
    assert record.throughput is not None
    assert record.totals.vector_steps == steps * len(team)
    assert record.totals.transitions == done
    exact = Fraction(done * 10**9, max(ends) - min(starts))
    assert record.throughput.transitions_per_s == pytest.approx(float(exact), rel=1e-12)


def test_an_order_that_comes_after_its_start_is_not_followed() -> None:
    window = {"start_ns": ORDER_AT_NS, "end_ns": ORDER_AT_NS + 10**6}
    pace = Pace(step_ns=9_000)
    with pytest.MonkeyPatch.context() as patch:
        sent: dict[FromWorker, dict[str, Any]] = {}
        patch.setattr(ScriptedChannel, "send", lambda self, kind, **body: sent.update({kind: body}))
        run_of([pace], ToWorker.WINDOW, window, ORDER_AT_NS + 2 * 10**6)
    assert sent[FromWorker.PASSED] == {"late": True}
    assert "totals" not in sent[FromWorker.MEASURED]
