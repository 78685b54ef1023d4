"""MuJoCo Playground for real, on a CPU: counts against what Playground's own wrappers keep of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.playground import build
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 4
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)
LIMIT = 7


@pytest.fixture(scope="module")
def workload() -> Any:
    """A batch of a task that needs no robot from the network, with short episodes."""
    return build(NUM_ENVS, 3, "CartpoleBalance", CONTEXT._replace(check=True), episode_length=LIMIT)


def test_counts_are_those_of_the_steps_that_each_row_made(workload: Any) -> None:
    workload.reset()
    (actions,) = workload.make_actions(source="fixed", seed=1, batches=1)
    totals, ages, moved, inside_before = Totals(), np.zeros(NUM_ENVS), 0, workload.count_inside()
    for _ in range(30):
        totals.add(as_tally(workload.step(actions), NUM_ENVS))
        workload.synchronize()
        after = np.asarray(workload._state.info["steps"])
        moved += int(((after == ages + 1) | (after == 1)).sum())
        ages = np.where(np.asarray(workload._state.done) > 0.5, 0, after)
    ended = int(np.asarray(workload._state.info["AutoResetWrapper_done_count"]).sum())
    assert totals.transitions == moved == workload.count_inside() - inside_before == 30 * NUM_ENVS
    assert totals.episodes == ended == 30 // LIMIT * NUM_ENVS
    assert workload.work()["episode_steps"] == LIMIT * ended


def test_steps_compile_once(workload: Any) -> None:
    workload.reset()
    (actions,) = workload.make_actions(source="zero", seed=1, batches=1)
    workload.step(actions)
    compiled = workload._compiled._cache_size()
    for _ in range(5):
        workload.step(actions)
    assert workload._compiled._cache_size() == compiled


def test_the_specification_is_that_of_the_environment(workload: Any) -> None:
    spec = workload.spec
    assert (spec.num_envs, spec.autoreset, spec.episode_limit_steps) == (NUM_ENVS, Autoreset.SAME_STEP, LIMIT)
    assert (spec.substeps, spec.step_dt_s) == (1, 0.01)
    workload.reset()
    assert workload.observation().shape == (NUM_ENVS, *spec.observation["obs"].shape)


def test_what_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(WorkloadError, match=r"no environment 'Nowhere'\. It has: .*CheetahRun"):
        build(NUM_ENVS, 0, "Nowhere", CONTEXT)
