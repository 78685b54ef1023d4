from __future__ import annotations

import sys
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.phase_recorder import CpuTiming
from envdyno.agent.measure.phase_window import PhaseWindow
from envdyno.agent.workloads.built import BuiltWorkload, accept, settle_counting
from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 4
NO = np.zeros(NUM_ENVS, dtype=bool)


class VectorEnv:
    """Gymnasium's vector interface, as far as it is looked at."""

    def __init__(self, num_envs: int = NUM_ENVS, mode: str | None = "SAME_STEP") -> None:
        self.num_envs = num_envs
        self.single_action_space = SimpleNamespace()
        self.metadata = {} if mode is None else {"autoreset_mode": SimpleNamespace(name=mode)}
        self.seeds: list[int] = []
        self.closed = False

    def reset(self, *, seed: int) -> None:
        self.seeds.append(seed)

    def step(self, actions: Any) -> Any:
        return np.ones((self.num_envs, 2)), np.ones(self.num_envs), NO, NO, {}

    def close(self) -> None:
        self.closed = True


def returning(outcome: Any, autoreset: Autoreset | None = None) -> BuiltWorkload:
    """A workload whose steps return ``outcome``."""
    built = SimpleNamespace(spec=WorkloadSpec(NUM_ENVS, autoreset=autoreset), step=lambda actions: outcome)
    return accept(built, "mine:build", NUM_ENVS, 0)


def test_a_workload_that_follows_the_contract_keeps_its_parts() -> None:
    spec = WorkloadSpec(NUM_ENVS)
    built = SimpleNamespace(
        spec=spec, step=lambda actions: None, reset=lambda: None, work=dict, phases=7, observation=list
    )
    workload = accept(built, "mine:build", NUM_ENVS, 0)
    assert workload.spec is spec
    assert (workload.step, workload.reset, workload.work) == (built.step, built.reset, built.work)
    assert workload.observation is built.observation
    assert workload.phases is None, "what cannot be called is no part"
    assert (workload.synchronize, workload.make_actions, workload.close) == (None, None, None)


def test_a_bare_callable_is_a_workload_of_as_many_environments_as_were_asked_for() -> None:
    def step(actions: Any) -> None:
        return None

    workload = accept(step, "mine:build", NUM_ENVS, 0)
    assert workload.step is step
    assert workload.spec == WorkloadSpec(NUM_ENVS)
    assert workload.reset is None


def test_a_vector_environment_is_reset_with_the_seed_and_counted_by_its_rows() -> None:
    env = VectorEnv(mode="NEXT_STEP")
    workload = accept(env, "mine:build", NUM_ENVS, 11)
    assert workload.reset is not None
    workload.reset()
    assert env.seeds == [11]
    assert workload.spec.autoreset is Autoreset.NEXT_STEP
    counted = settle_counting(workload, workload.step(None))
    assert counted.step(None) == Tally(NUM_ENVS, 0, 0, None, float(NUM_ENVS))
    assert counted.assumption is None
    assert counted.observation is not None
    assert counted.observation().shape == (NUM_ENVS, 2)


@pytest.mark.parametrize("built", [object(), 5, "env", SimpleNamespace(step=3)])
def test_what_cannot_be_stepped_is_refused_with_its_type(built: object) -> None:
    with pytest.raises(WorkloadError, match=rf"'mine:build' returned a {type(built).__name__}"):
        accept(built, "mine:build", NUM_ENVS, 0)


@pytest.mark.parametrize(
    "built", [VectorEnv(2), SimpleNamespace(spec=WorkloadSpec(2), step=lambda actions: None)]
)
def test_another_number_of_environments_than_was_asked_for_is_refused(built: Any) -> None:
    with pytest.raises(WorkloadError, match="asked for 4 environments and built 2"):
        accept(built, "mine:build", NUM_ENVS, 0)


@pytest.mark.parametrize("outcome", [Tally(3, 1), 4, np.int64(2), 0])
def test_a_workload_that_counts_is_taken_at_its_word(outcome: Any) -> None:
    workload = returning(outcome, Autoreset.MASKED)
    counted = settle_counting(workload, outcome)
    assert counted.step is workload.step
    assert (counted.assumption, counted.autoreset) == (None, Autoreset.MASKED)


@pytest.mark.parametrize("outcome", [5, -1, Tally(5), Tally(3, 2)])
def test_a_count_that_cannot_be_is_refused_at_the_first_step(outcome: Any) -> None:
    with pytest.raises(WorkloadError, match="of its 4 environments"):
        settle_counting(returning(outcome), outcome)


@pytest.mark.parametrize("mode", [Autoreset.SAME_STEP, Autoreset.NONE, Autoreset.DISABLED])
def test_silence_means_that_every_row_was_a_transition_where_the_mode_allows_it(mode: Autoreset) -> None:
    assert settle_counting(returning(None, mode), None).assumption is None


@pytest.mark.parametrize("mode", [None, Autoreset.NEXT_STEP, Autoreset.MASKED])
def test_silence_is_an_assumption_where_some_rows_may_only_have_reset(mode: Autoreset | None) -> None:
    assumption = settle_counting(returning(None, mode), None).assumption
    assert assumption is not None
    assert "every row of every step is taken for a transition" in assumption


TimeStep = namedtuple("TimeStep", "step_type reward discount observation")  # noqa: PYI024 (dm_env's own)


@pytest.mark.parametrize(
    "outcome",
    [True, "done", {"obs": 1}, [1, 2, 3, 4, 5], (1, 2, 3), TimeStep(1, np.ones(4), np.ones(4), np.ones(4))],
)
def test_an_outcome_that_tells_no_counts_is_an_assumption_and_is_thrown_away(outcome: Any) -> None:
    workload = returning(outcome, Autoreset.SAME_STEP)
    counted = settle_counting(workload, outcome)
    assert counted.step(None) is None
    assert counted.assumption is not None
    assert counted.assumption.startswith(f"step() returns {type(outcome).__name__}, which tells no counts")


@pytest.mark.parametrize(
    ("reward", "found"),
    [(1.0, "a single reward"), (np.float64(1.0), "a single reward"), (np.ones(1), "rewards of 1 rows")],
)
def test_a_single_environment_is_not_counted_as_many(reward: Any, found: str) -> None:
    """Gymnasium's plain ``Env`` has the same five values, and NumPy scalars even have a ``sum``."""
    outcome = (np.zeros(2), reward, np.bool_(False), np.bool_(False), {})
    with pytest.raises(WorkloadError, match=f"returned {found} where 4 environments"):
        settle_counting(returning(outcome), outcome)


class UnresetVectorEnv(VectorEnv):
    """Does not reset itself: row k ends after k + 2 steps, and knows what was done with it."""

    def __init__(self) -> None:
        super().__init__(mode="DISABLED")
        self.ages = np.zeros(NUM_ENVS, int)
        self.lengths: list[int] = []
        self.stepped_beyond_the_end = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        mask = np.ones(NUM_ENVS, bool) if options is None else options["reset_mask"]
        assert mask.any(), "as Gymnasium asserts"
        self.ages[mask] = 0
        return self.ages.copy(), {}

    def step(self, actions: Any) -> Any:
        limits = np.arange(NUM_ENVS) + 2
        self.stepped_beyond_the_end += int((self.ages >= limits).sum())
        self.ages += 1
        over = self.ages >= limits
        self.lengths += self.ages[over].tolist()
        return self.ages.copy(), np.ones(NUM_ENVS), over & (limits % 2 == 0), over & (limits % 2 == 1), {}


def test_rows_of_a_vector_environment_that_does_not_reset_itself_are_reset_when_they_end() -> None:
    env = UnresetVectorEnv()
    workload = accept(env, "mine:build", NUM_ENVS, 0)
    assert workload.reset is not None
    workload.reset()
    first = workload.step(None)
    counted = settle_counting(workload, first)
    tallies = [counted.step(None) for _ in range(30)]
    assert env.stepped_beyond_the_end == 0
    assert (counted.autoreset, counted.assumption) == (Autoreset.DISABLED, None)
    assert all((tally.transitions, tally.reset_rows) == (NUM_ENVS, 0) for tally in tallies)
    assert (
        sum(tally.episodes for tally in tallies) == len(env.lengths) == 31 // 2 + 31 // 3 + 31 // 4 + 31 // 5
    )
    assert set(env.lengths) == {2, 3, 4, 5}
    assert counted.observation is not None
    np.testing.assert_array_equal(counted.observation(), env.ages)


def test_rows_that_ended_in_the_very_first_step_are_reset_before_the_second() -> None:
    env = UnresetVectorEnv()
    workload = accept(env, "mine:build", NUM_ENVS, 0)
    env.ages[:] = 1
    counted = settle_counting(workload, workload.step(None))
    counted.step(None)
    assert env.stepped_beyond_the_end == 0


def test_the_resets_of_rows_that_ended_are_timed_as_their_phase() -> None:
    env = UnresetVectorEnv()
    workload = accept(env, "mine:build", NUM_ENVS, 0)
    counted = settle_counting(workload, workload.step(None))
    window = PhaseWindow(None, None, CpuTiming.OFF)
    window.open()
    resets = sum(bool(counted.step(None).episodes) for _ in range(12))
    (found,) = (total for total in window.close(12).totals if total.path == "reset_done")
    assert found.calls == resets > 0


def test_rows_that_nobody_resets_are_refused() -> None:
    rows = (np.zeros((4, 1)), np.ones(4), NO, NO, {})
    with pytest.raises(WorkloadError, match="do not reset themselves"):
        settle_counting(returning(rows, Autoreset.DISABLED), rows)


@pytest.mark.parametrize(("mode", "assumed"), [(None, "not told"), (Autoreset.MASKED, "does not tell")])
def test_rows_without_a_mode_that_decides_are_counted_on_an_assumption(
    mode: Autoreset | None, assumed: str
) -> None:
    rows = (np.zeros((NUM_ENVS, 1)), np.ones(NUM_ENVS), NO, NO, {})
    counted = settle_counting(returning(rows, mode), rows)
    assert counted.assumption is not None
    assert assumed in counted.assumption


def test_a_vector_of_gymnasium_without_a_mode_is_counted_by_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium.vector", SimpleNamespace(VectorEnv=VectorEnv))
    workload = accept(VectorEnv(mode=None), "mine:build", NUM_ENVS, 0)
    ended = np.array([True, False, False, False])
    counted = settle_counting(workload, (np.zeros((NUM_ENVS, 1)), np.ones(NUM_ENVS), ended, NO, {}))
    assert counted.step(None) == Tally(NUM_ENVS - 1, 1, 0, None, float(NUM_ENVS))
    assert workload.spec.autoreset is None, "it was not told"
    assert counted.assumption is not None
    assert "step after the one that ends them" in counted.assumption


def test_a_workload_that_counts_on_an_assumption_says_so_itself() -> None:
    spec = WorkloadSpec(NUM_ENVS)
    built = SimpleNamespace(
        spec=spec, step=lambda actions: Tally(4), counting_assumption="mine", check_notes=("a", "b")
    )
    workload = accept(built, "mine:build", NUM_ENVS, 0)
    assert settle_counting(workload, Tally(4)).assumption == "mine"
    assert workload.notes == ("a", "b")


def test_the_first_step_is_remembered_for_the_count_of_the_second() -> None:
    ended = np.array([True, False, True, False])
    first = (np.zeros((4, 1)), np.ones(4), ended, NO, {})
    later = (np.zeros((4, 1)), np.ones(4), NO, NO, {})
    workload = returning(later, Autoreset.NEXT_STEP)
    counted = settle_counting(workload, first)
    assert counted.step(None) == Tally(2, 2, 0, None, 4.0)
    assert counted.step(None) == Tally(4, 0, 0, None, 4.0)


def test_the_workloads_own_observation_is_preferred_to_that_of_the_rows() -> None:
    rows = (np.zeros((4, 1)), np.ones(4), NO, NO, {})
    built = SimpleNamespace(
        spec=WorkloadSpec(4, autoreset=Autoreset.SAME_STEP), step=lambda actions: rows, observation=dict
    )
    counted = settle_counting(accept(built, "mine", 4, 0), rows)
    assert counted.observation is dict
