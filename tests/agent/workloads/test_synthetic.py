from __future__ import annotations

import random
import statistics
from typing import Any

import pytest
from fake_clock import FakeClock
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_worker import Pace, synthetic

from envdyno.agent import stages
from envdyno.agent.measure.observation import observation_hash
from envdyno.agent.stages import Stage
from envdyno.agent.workloads.contract import Autoreset, BuildContext, Tally
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.synthetic import (
    Distribution,
    IdleWorkload,
    StepTime,
    SyntheticWorkload,
    build,
    import_framework,
)


def context(worker: int = 0) -> BuildContext:
    """What a worker tells the factory."""
    return BuildContext(worker, 4, (0,), 1, attribution=False)


def times(
    distribution: Distribution, noise: float = 0.2, drift: float = 0.0, count: int = 4000
) -> list[float]:
    """Durations of consecutive steps of a mean of 1 ms."""
    step_time = StepTime(1e-3, distribution, noise, drift, random.Random(1))
    return [step_time.next_s() for _ in range(count)]


@pytest.mark.parametrize("distribution", [kind for kind in Distribution if kind is not Distribution.BIMODAL])
def test_scatter_leaves_the_mean_where_it_is(distribution: Distribution) -> None:
    assert statistics.fmean(times(distribution)) == pytest.approx(1e-3, rel=0.02)


def test_each_distribution_has_its_shape() -> None:
    assert set(times(Distribution.CONSTANT)) == {1e-3}
    assert set(times(Distribution.BIMODAL)) == {1e-3, 1.2e-3}
    assert statistics.stdev(times(Distribution.NORMAL)) == pytest.approx(0.2e-3, rel=0.05)
    heavy = times(Distribution.HEAVY)
    assert max(heavy) - statistics.median(heavy) > 10 * (statistics.median(heavy) - min(heavy))


@settings(max_examples=40)
@given(st.sampled_from(Distribution), st.floats(0, 50), st.floats(-1, 1))
def test_no_step_takes_less_than_no_time(distribution: Distribution, noise: float, drift: float) -> None:
    assert min(times(distribution, noise, drift, count=50)) >= 0


def test_drift_grows_with_every_step() -> None:
    drifting = times(Distribution.CONSTANT, drift=0.001, count=1001)
    assert drifting[0] == 1e-3
    assert drifting[1000] == pytest.approx(2e-3)


@settings(max_examples=40)
@given(
    st.integers(1, 9),
    st.floats(0, 1),
    st.sampled_from([Autoreset.SAME_STEP, Autoreset.NEXT_STEP]),
    st.integers(0, 99),
)
def test_rows_are_transitions_or_reset_rows_as_the_mode_says(
    num_envs: int, reset_rate: float, mode: Autoreset, seed: int
) -> None:
    workload = synthetic(Pace(num_envs, reset_rate=reset_rate, autoreset=mode, seed=seed), FakeClock())
    ended_before = 0
    for _ in range(20):
        tally = workload.step(None)
        assert tally.reset_rows == (ended_before if mode is Autoreset.NEXT_STEP else 0)
        assert tally.transitions + tally.reset_rows == num_envs
        assert tally.episodes is not None
        assert 0 <= tally.episodes <= tally.transitions
        ended_before = tally.episodes


def test_the_share_of_rows_that_end_is_the_one_asked_for() -> None:
    workload = synthetic(Pace(10, reset_rate=0.23), FakeClock())
    ended = sum(workload.step(None).episodes or 0 for _ in range(4000))
    assert ended / 40_000 == pytest.approx(0.23, rel=0.05)


def test_a_step_passes_the_time_it_was_told_to(fake_clock: FakeClock) -> None:
    workload = synthetic(Pace(step_ns=5_000), fake_clock)
    before = fake_clock.ns()
    workload.step(None)
    assert 5_000 <= fake_clock.ns() - before <= 5_002


def test_equal_runs_have_equal_observations_and_work() -> None:
    first, second = (synthetic(Pace(seed=seed), FakeClock()) for seed in (0, 1))
    for workload in (first, second):
        for _ in range(5):
            workload.step(None)
    assert observation_hash(first.observation()) == observation_hash(second.observation())
    assert first.work() == {"substeps": 3 * 4 * 5, "dispatches": 5}
    first.step(None)
    assert observation_hash(first.observation()) != observation_hash(second.observation())


def test_its_specification_tells_what_it_was_built_with() -> None:
    workload = build(8, 0, context(), substeps=4, action_dim=3, action_low=-2.0, autoreset="next_step")
    assert isinstance(workload, SyntheticWorkload)
    assert workload.spec.num_envs == 8
    assert workload.spec.substeps == 4
    assert workload.spec.autoreset is Autoreset.NEXT_STEP
    assert workload.spec.action is not None
    assert (workload.spec.action.shape, workload.spec.action.low) == ((3,), -2.0)


def test_without_a_step_time_it_does_nothing_and_tells_nothing() -> None:
    workload = build(8, 0, context(), step_ms=0)
    assert isinstance(workload, IdleWorkload)
    assert workload.step(None) is None


def test_a_straggler_is_slower_by_its_number() -> None:
    durations = []
    for worker in (0, 2):
        built = build(1, 0, context(worker), step_ms=10.0, slower_by=0.25)
        assert isinstance(built, SyntheticWorkload)
        durations.append(built._step_time.next_s())
    assert durations == [pytest.approx(0.01), pytest.approx(0.015)]


@pytest.mark.parametrize("step_ms", [1.0, 0.0])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("distribution", "gauss"),
        ("wait", "busy"),
        ("autoreset", "sometimes"),
        ("fault", "explode"),
        ("fault_stage", "lunch"),
    ],
)
def test_a_value_that_an_option_does_not_have_is_met_with_those_it_has(
    option: str, value: str, step_ms: float
) -> None:
    with pytest.raises(WorkloadError, match=f"synthetic has no {option}='{value}'"):
        build(1, 0, context(), step_ms=step_ms, **{option: value})


def test_nan_is_told_by_the_tally_and_shown_in_the_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = build(2, 0, context(), step_ms=1e-6, fault="nan", fault_after=1)
    assert isinstance(workload, SyntheticWorkload)
    monkeypatch.setattr(stages, "_current", Stage.WINDOW)
    assert workload.step(None).nonfinite_rows == 0
    assert workload.step(None).nonfinite_rows == 1
    assert workload.observation()[0][0] != workload.observation()[0][0]


def test_children_are_ended_when_it_is_closed() -> None:
    workload = build(1, 0, context(), children=1)
    assert isinstance(workload, SyntheticWorkload)
    (child,) = workload._children
    assert child.poll() is None
    workload.close()
    assert child.poll() is not None


def test_importing_it_commits_no_fault_of_another_stage() -> None:
    import_framework(fault="raise", fault_stage="window")


def test_a_tally_of_a_step_tells_everything(fake_clock: FakeClock) -> None:
    assert synthetic(Pace(4), fake_clock).step(None) == Tally(4, 0, 0, 0, 4.0)


@pytest.mark.parametrize(("threads", "expected_s"), [(1, 0.012), (4, 0.0045)])
def test_what_rows_cost_is_shared_by_the_threads_that_it_was_told(
    threads: int, expected_s: float, fake_clock: FakeClock
) -> None:
    told = context()._replace(threads=threads)
    workload = build(500, 0, told, step_ms=2.0, row_us=20.0)
    assert isinstance(workload, SyntheticWorkload)
    workload._clock, workload._sleep = fake_clock.s, fake_clock.sleep
    before = fake_clock.s()
    workload.step(None)
    assert fake_clock.s() - before == pytest.approx(expected_s)
    assert workload.spec.threads == threads


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"step_ms": -1.0}, "step_ms"),
        ({"step_ms": "fast"}, "step_ms"),
        ({"reset_rate": 1.5}, "reset_rate"),
        ({"noise": -0.1}, "noise"),
        ({"action_dim": 0}, "action_dim"),
        ({"children": -1}, "children"),
        ({"fault_after": "soon"}, "fault_after"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(WorkloadError, match=said):
        build(1, 0, context(), **changes)
