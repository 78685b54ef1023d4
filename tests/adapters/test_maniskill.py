"""ManiSkill for real, on its one CPU environment: its batches need a GPU, its interface does not."""

from __future__ import annotations

from typing import Any

import pytest

from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads.contract import Autoreset, Tally
from envdyno.agent.workloads.maniskill import build, import_framework
from envdyno.agent.workloads.registry import WorkloadError

TASK = "counted_maniskill:EndsBothWays-v1"
ON_CPU = {"sim_backend": "physx_cpu", "render_backend": "none"}


@pytest.fixture(scope="module")
def workload() -> Any:
    """Build the task on the CPU."""
    import_framework()
    made = build(1, 3, TASK, **ON_CPU)
    made.reset()
    return made


def test_counts_are_those_of_the_actions_that_reached_the_robot(workload: Any) -> None:
    from counted_maniskill import LIMIT, SUCCEEDS_AFTER, EndsBothWays

    actions = workload.make_actions(source="random", seed=1, batches=4)
    EndsBothWays.controls[:] = [0]
    workload._rows.restart()
    before = workload.work()["episode_steps"]
    totals = Totals()
    for index in range(60):
        tally = workload.step(actions[index % len(actions)])
        assert isinstance(tally, Tally)
        totals.add(as_tally(tally, 1))
    lengths = EndsBothWays.controls
    assert totals.transitions == sum(lengths) == 60
    assert totals.episodes == len(lengths) - 1
    assert set(lengths[:-1]) == {LIMIT, SUCCEEDS_AFTER}, "cut and succeeded"
    assert workload.work()["episode_steps"] - before == sum(lengths[:-1])


def test_the_specification_is_that_of_the_task(workload: Any) -> None:
    spec = workload.spec
    assert (spec.num_envs, spec.autoreset, spec.episode_limit_steps) == (1, Autoreset.SAME_STEP, 7)
    assert (spec.substeps, spec.step_dt_s) == (5, 0.05)
    assert spec.details["device"] == "cpu"
    (group,) = spec.observation
    assert tuple(workload.observation().shape) == (1, *spec.observation[group].shape)


def test_what_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(WorkloadError, match="ManiSkill has no task 'Nowhere'"):
        build(1, 0, "Nowhere")
