"""TorchRL for real: what envdyno counts is what the environments counted inside themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from counted_gym import counted

from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.torchrl import build

NUM_ENVS = 3
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


def actions_of(workload: Any, steps: int) -> list[Any]:
    """Actions as a worker makes them."""
    ring = workload.make_actions(source="random", seed=3, batches=4)
    return [ring[index % len(ring)] for index in range(steps)]


@pytest.mark.parametrize("batching", ["serial", "parallel"])
def test_transitions_are_those_that_the_environments_counted(batching: str, tmp_path: Path) -> None:
    target = "counted_gym:Counted-v0"
    context = CONTEXT._replace(check=True)
    workload = build(NUM_ENVS, 7, target, context, batching=batching, folder=str(tmp_path))
    before, steps_before = counted(tmp_path), workload.work()["episode_steps"]
    tallies = [workload.step(actions) for actions in actions_of(workload, 80)]
    after, steps_after = counted(tmp_path), workload.work()["episode_steps"]
    if batching == "serial":
        assert workload.count_inside is not None
        assert workload.count_inside() == after[0]
    else:
        assert workload.count_inside is None
    workload.close()
    assert sum(tally.transitions for tally in tallies) == after[0] - before[0] == 80 * NUM_ENVS
    assert sum(tally.episodes or 0 for tally in tallies) == after[2] - before[2] > 20
    assert sum(tally.reward_sum or 0 for tally in tallies) == 80 * NUM_ENVS
    assert steps_after - steps_before == after[3] - before[3]


def test_the_specification_is_that_of_the_environment() -> None:
    workload = build(NUM_ENVS, 7, "CartPole-v1", CONTEXT)
    spec = workload.spec
    assert (spec.autoreset, spec.episode_limit_steps) == (Autoreset.SAME_STEP, 500)
    assert spec.observation["observation"].shape == (4,)
    assert workload.observation()["observation"].shape == (NUM_ENVS, 4)
    assert len(workload.make_actions(source="zero", seed=0, batches=1)) == 1


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [("Nowhere-v0", {}, "no environment"), ("CartPole-v1", {"batching": "threads"}, "serial, parallel")],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(target: str, options: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        build(NUM_ENVS, 0, target, CONTEXT, **options)
