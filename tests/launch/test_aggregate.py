"""The figures of a run against the exact answer: workers of all speeds, staggered and straggling."""

from __future__ import annotations

from fractions import Fraction

import hand_made_run
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from simulated_worker import Pace, SimulatedWorker, through_synchronised_window, through_window

from envdyno.agent.workloads.contract import Autoreset
from envdyno.agent.workloads.synthetic import Distribution
from envdyno.host.machine import read_facts
from envdyno.launch import aggregate, fingerprinting
from envdyno.launch.aggregate import WorkerWindow, add_totals, edge_share, elapsed_s
from envdyno.launch.run_record import make_record
from envdyno.record.run_record import RunRecord
from envdyno.record.worker import Totals

START_NS = 1_000_000
FACTS = read_facts()

paces = st.builds(
    Pace,
    num_envs=st.integers(1, 9),
    step_ns=st.sampled_from([300, 1_000, 7_000, 40_000, 400_000]),
    distribution=st.sampled_from(Distribution),
    noise=st.floats(0, 0.3),
    drift=st.floats(0, 0.01),
    reset_rate=st.floats(0, 1),
    autoreset=st.sampled_from([Autoreset.SAME_STEP, Autoreset.NEXT_STEP]),
    begins_ns=st.integers(START_NS - 50_000, START_NS - 1),
    seed=st.integers(0, 99),
)
teams = st.lists(paces, min_size=1, max_size=4)
spans = st.integers(1, 300_000)


def record_of(workers: list[SimulatedWorker], **changes: object) -> RunRecord:
    """The record of a run of simulated workers."""
    outcome = hand_made_run.outcome(
        [hand_made_run.measured_by(worker) for worker in workers],
        shares=[worker.num_envs for worker in workers],
        ready_changes={"synchronized": changes.pop("synchronized", False)},
        **changes,  # type: ignore[arg-type]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprinting, "read_facts", lambda: FACTS)
        return make_record(outcome, ("envdyno", "run"))


@given(teams, spans)
def test_the_headline_is_everything_completed_in_the_common_window_over_its_length(
    team: list[Pace], span: int
) -> None:
    end_ns = START_NS + span
    workers = [through_window(pace, START_NS, end_ns) for pace in team]
    record = record_of(workers)
    inside = [tally for worker in workers for tally in worker.inside(START_NS, end_ns)]
    exact = Fraction(sum(tally.transitions for tally in inside) * 10**9, span)
    assert record.totals is not None
    assert record.throughput is not None
    assert record.totals.transitions == sum(tally.transitions for tally in inside)
    assert record.totals.reset_rows == sum(tally.reset_rows for tally in inside)
    assert record.totals.episodes == sum(tally.episodes or 0 for tally in inside)
    assert record.totals.vector_steps == len(inside)
    assert record.throughput.transitions_per_s == pytest.approx(float(exact), rel=1e-12)
    assert record.throughput.vector_steps_per_s == pytest.approx(len(inside) * 1e9 / span, rel=1e-12)
    assert record.throughput.elapsed_s == pytest.approx(span / 1e9, rel=1e-12)


@given(teams, spans)
def test_the_workers_parts_add_up_to_the_whole(team: list[Pace], span: int) -> None:
    record = record_of([through_window(pace, START_NS, START_NS + span) for pace in team])
    assert record.totals is not None
    assert record.throughput is not None
    assert sum(worker.totals.transitions for worker in record.workers if worker.totals) == (
        record.totals.transitions
    )
    assert sum(sum(worker.series) for worker in record.workers) == record.totals.transitions
    assert sum(worker.transitions_per_s or 0 for worker in record.workers) == pytest.approx(
        record.throughput.transitions_per_s, rel=1e-9
    )
    if record.totals.transitions:
        assert sum(worker.share or 0 for worker in record.workers) == pytest.approx(1)


@given(teams, st.integers(0, 5_000), spans)
def test_synchronised_workers_are_divided_by_the_time_from_the_first_start_to_the_last_end(
    team: list[Pace], device_ns: int, span: int
) -> None:
    end_ns = START_NS + span
    workers = [through_synchronised_window(pace, device_ns, START_NS, end_ns) for pace in team]
    record = record_of(workers, synchronized=True)
    first = min(worker.edges.start_ns for worker in workers)
    last = max(worker.edges.end_ns for worker in workers)
    done = sum(
        tally.transitions
        for worker in workers
        for tally in worker.inside(worker.edges.start_ns, worker.edges.end_ns)
    )
    assert record.throughput is not None
    assert record.throughput.edge_mode == "synchronized"
    assert record.throughput.elapsed_s == pytest.approx((last - first) / 1e9, rel=1e-12)
    assert record.throughput.transitions_per_s == pytest.approx(done * 1e9 / (last - first), rel=1e-12)
    assert "last worker's end" in record.throughput.formula


def latency_messages(spans_ns: list[tuple[int, int]], steps: int) -> list[dict[str, object]]:
    """Workers of two environments that took ``steps`` steps each, between instants of their own."""
    return [
        hand_made_run.measured(
            {"steps": steps, "transitions": 2 * steps},
            edges={"start_ns": start, "end_ns": end},
            series=[],
            first_ns=None,
        )
        for start, end in spans_ns
    ]


instants = st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)).map(lambda pair: (pair[0], sum(pair)))


@given(st.lists(instants, min_size=2, max_size=4), st.integers(1, 1000))
def test_rates_over_spans_that_do_not_coincide_are_never_added_up(
    spans_ns: list[tuple[int, int]], steps: int
) -> None:
    assume(len(set(spans_ns)) > 1)
    outcome = hand_made_run.outcome(
        latency_messages(spans_ns, steps),
        shares=[2] * len(spans_ns),
        request={"mode": "latency", "steps": steps},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprinting, "read_facts", lambda: FACTS)
        record = make_record(outcome, ("envdyno",))
    first = min(start for start, _ in spans_ns)
    last = max(end for _, end in spans_ns)
    exact = Fraction(2 * steps * len(spans_ns) * 10**9, last - first)
    added_up = sum(Fraction(2 * steps * 10**9, end - start) for start, end in spans_ns)
    assert record.throughput is not None
    assert record.throughput.transitions_per_s == pytest.approx(float(exact), rel=1e-12)
    assert exact < added_up, "the sum of the rates is another figure"
    assert record.throughput.formula == aggregate.FORMULA_OWN_SPANS
    assert record.throughput.edge_share is None
    assert record.throughput.start_skew_s is None


def test_a_straggler_lowers_the_total_by_what_it_did_not_do() -> None:
    fast = Pace(num_envs=8, step_ns=1_000, begins_ns=START_NS - 500)
    slow = Pace(num_envs=8, step_ns=4_000, begins_ns=START_NS - 500)
    alike = record_of([through_window(pace, START_NS, START_NS + 10**6) for pace in (fast, fast)])
    unlike = record_of([through_window(pace, START_NS, START_NS + 10**6) for pace in (fast, slow)])
    assert alike.throughput is not None
    assert unlike.throughput is not None
    assert unlike.throughput.transitions_per_s / alike.throughput.transitions_per_s == pytest.approx(
        5 / 8, rel=0.01
    )
    assert unlike.throughput.straggler_index == pytest.approx(4, rel=0.02)
    assert alike.throughput.straggler_index == 1


def sums(steps: int, transitions: int) -> Totals:
    """Totals of a worker that tells nothing more."""
    return Totals(
        vector_steps=steps,
        transitions=transitions,
        reset_rows=0,
        episodes=None,
        nonfinite_rows=0,
        reward_sum=None,
        nonfinite_rewards=0,
    )


def window(num_envs: int, steps: int, start_ns: int = 0, end_ns: int = 100) -> WorkerWindow:
    """A worker whose every step moved all its environments."""
    return WorkerWindow(num_envs, start_ns, end_ns, sums(steps, steps * num_envs), start_ns + 1)


def test_a_sum_that_one_worker_does_not_tell_is_not_told() -> None:
    told = sums(1, 4).model_copy(update={"episodes": 3, "reward_sum": 2.0})
    total = add_totals([told, sums(1, 4)])
    assert (total.episodes, total.reward_sum, total.nonfinite_rows) == (None, None, 0)
    assert add_totals([told, told]).episodes == 6


def test_elapsed_time_reaches_from_the_first_start_to_the_last_end() -> None:
    windows = [window(1, 1, 0, 50), window(1, 1, 40, 90), window(1, 1, 10, 60)]
    assert elapsed_s(windows) == 90e-9


def test_a_straggler_is_told_by_transitions_of_an_environment_not_of_a_worker() -> None:
    assert aggregate.straggler_index([window(4, 10), window(8, 10)]) == 1
    assert aggregate.straggler_index([window(4, 10), window(4, 5)]) == 2
    assert aggregate.straggler_index([window(4, 10)]) is None
    assert aggregate.straggler_index([window(4, 10), window(4, 0)]) is None


def test_the_share_of_the_edges_is_one_step_of_every_worker() -> None:
    assert edge_share([window(4, 10), window(4, 10)]) == pytest.approx(0.1)
    assert edge_share([window(4, 10), window(4, 0)]) is None
    assert edge_share([window(4, 0)]) is None


def test_the_skew_is_between_the_first_completions_of_all_workers() -> None:
    def entered(first_ns: int | None) -> WorkerWindow:
        return WorkerWindow(1, 0, 100, sums(1, 1), first_ns)

    assert aggregate.start_skew_s([entered(30), entered(10), entered(25)]) == 20e-9
    assert aggregate.start_skew_s([entered(30)]) is None
    assert aggregate.start_skew_s([entered(30), entered(None)]) is None
