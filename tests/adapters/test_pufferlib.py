"""PufferLib for real: what envdyno counts is what the environments counted inside themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from counted_gym import counted

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.pufferlib import build
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 4
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


@pytest.mark.parametrize("backend", ["serial", "multiprocessing"])
def test_transitions_are_those_that_the_environments_counted(backend: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"num_workers": 2} if backend == "multiprocessing" else {}
    target, context = "counted_gym:Counted-v0", CONTEXT._replace(check=True)
    workload = build(
        NUM_ENVS, 7, target, context, backend=backend, folder=str(tmp_path), space="discrete0", **options
    )
    workload.reset()
    before = counted(tmp_path)
    ring = action_ring(workload.spec.action, NUM_ENVS, ActionSource.RANDOM, 3)
    tallies = [workload.step(ring[index % len(ring)]) for index in range(100)]
    after = counted(tmp_path)
    if backend == "serial":
        assert workload.count_inside is not None
        assert workload.count_inside() == after[0]
    else:
        assert workload.count_inside is None
    workload.close()
    assert workload.spec.autoreset is Autoreset.NEXT_STEP
    assert sum(tally.transitions for tally in tallies) == after[0] - before[0]
    assert sum(tally.episodes or 0 for tally in tallies) == after[2] - before[2] > 20
    assert sum(tally.reset_rows for tally in tallies) == after[1] - before[1] > 20


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("Nowhere-v0", {}, "no environment"),
        ("CartPole-v1", {"backend": "threads"}, "serial, multiprocessing"),
        ("CartPole-v1", {"backend": "multiprocessing", "num_workers": 3}, "does not divide 4"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(target: str, options: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        build(NUM_ENVS, 0, target, CONTEXT, **options)
