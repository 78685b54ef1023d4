"""Brax for real, on a CPU: counts against the episode steps that Brax keeps of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads.brax import build
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 4
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


@pytest.fixture(scope="module")
def workload() -> Any:
    """A batch of the environment that compiles fastest, with short episodes."""
    return build(NUM_ENVS, 3, "fast", CONTEXT._replace(check=True), episode_length=7)


def test_counts_are_those_of_the_steps_that_each_row_made(workload: Any) -> None:
    workload.reset()
    (actions,) = workload.make_actions(source="fixed", seed=1, batches=1)
    totals, moved, ended, ended_steps = Totals(), 0, 0, 0
    told_before = workload.work()["episode_steps"]
    ages, inside_before = np.zeros(NUM_ENVS), workload.count_inside()
    for _ in range(30):
        totals.add(as_tally(workload.step(actions), NUM_ENVS))
        workload.synchronize()
        after = np.asarray(workload._state.info["steps"])
        moved += int(((after == ages + 1) | (after == 1)).sum())
        over = np.asarray(workload._state.done) > 0.5
        ended += int(over.sum())
        ended_steps += int(after[over].sum())
        ages = np.where(over, 0, after)
    assert totals.transitions == moved == workload.count_inside() - inside_before == 30 * NUM_ENVS
    assert totals.episodes == ended == 4 * NUM_ENVS
    assert workload.work()["episode_steps"] - told_before == ended_steps == 7 * ended
    assert len(workload._waiting) == 0


def test_steps_do_not_pile_up_behind_the_device(workload: Any) -> None:
    workload.reset()
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    for _ in range(20):
        workload.step(actions)
        assert len(workload._waiting) <= 2


def test_episodes_that_a_reset_cuts_off_have_not_ended(workload: Any) -> None:
    workload.reset()
    before = workload.work()["episode_steps"]
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    for steps in (7, 3):
        for _ in range(steps):
            workload.step(actions)
        workload.reset()
    assert workload.work()["episode_steps"] - before == 7 * NUM_ENVS


def test_counting_compiles_nothing_after_the_first_step(workload: Any) -> None:
    workload.reset()
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    workload.step(actions)
    compiled = workload._compiled._cache_size()
    for _ in range(3):
        workload.step(actions)
    workload.reset()
    workload.step(actions)
    assert workload._compiled._cache_size() == compiled


def test_the_specification_is_that_of_the_environment(workload: Any) -> None:
    spec = workload.spec
    assert (spec.num_envs, spec.autoreset, spec.episode_limit_steps) == (NUM_ENVS, Autoreset.SAME_STEP, 7)
    workload.reset()
    assert workload.observation().shape == (NUM_ENVS, *spec.observation["obs"].shape)


def test_what_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(WorkloadError, match=r"no environment 'nowhere'\. It has: .*ant"):
        build(NUM_ENVS, 0, "nowhere", CONTEXT)
    with pytest.raises(WorkloadError, match=r"backend='foo'; it has: generalized, positional, spring, mjx"):
        build(NUM_ENVS, 0, "ant", CONTEXT, backend="foo")
    with pytest.raises(WorkloadError, match="episode_length='abc'; it is a whole number"):
        build(NUM_ENVS, 0, "ant", CONTEXT, episode_length="abc")  # type: ignore[arg-type]
