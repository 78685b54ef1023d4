"""mjlab for real, on a CPU: counts against the episode lengths of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.mjlab import build
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 16


@pytest.fixture(scope="module")
def workload() -> Any:
    """The flat Go1 task."""
    context = BuildContext(0, 1, (0,), 1, attribution=False, check=True)
    made = build(NUM_ENVS, 3, "Mjlab-Velocity-Flat-Unitree-Go1", device="cpu", context=context)
    made.reset()
    return made


@pytest.mark.slow
def test_counts_are_those_of_the_steps_that_each_row_made_over_episodes_that_end_in_each_way(
    workload: Any,
) -> None:
    env = workload._env
    env.cfg.episode_length_s = 0.2
    env.termination_manager.get_term_cfg("fell_over").params["limit_angle"] = 0.1
    ring = workload.make_actions(source="random", seed=1, batches=4)
    totals, moved, ended, ended_steps = Totals(), 0, 0, 0
    fell, timed_out = 0, 0
    inside_before = workload.count_inside()
    told_before = workload.work()["episode_steps"]
    before = np.array(env.episode_length_buf)
    for index in range(25):
        totals.add(as_tally(workload.step(ring[index % 4]), NUM_ENVS))
        after = np.array(env.episode_length_buf)
        moved += int(((after == before + 1) | (after == 0)).sum())
        ended += int((after == 0).sum())
        fell += int((env.reset_terminated & ~env.reset_time_outs).sum())
        timed_out += int((env.reset_time_outs & ~env.reset_terminated).sum())
        ended_steps += int((before + 1)[after == 0].sum())
        before = after
    assert totals.transitions == moved == 25 * NUM_ENVS
    assert workload.count_inside() - inside_before == totals.transitions
    assert totals.episodes == ended
    assert fell > 0
    assert timed_out > 0
    assert workload.work()["episode_steps"] - told_before == ended_steps


@pytest.mark.slow
def test_the_specification_is_that_of_the_task(workload: Any) -> None:
    spec = workload.spec
    assert (spec.num_envs, spec.autoreset, spec.substeps) == (NUM_ENVS, Autoreset.SAME_STEP, 4)
    assert spec.step_dt_s == pytest.approx(0.02)
    assert spec.action.shape == (12,)
    assert workload.synchronize is None


def test_what_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(WorkloadError, match="Mjlab-Velocity-Flat-Unitree-Go1"):
        build(2, 0, "Nowhere")
