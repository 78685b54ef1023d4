"""MotrixLab for real: direct and manager style, counted against what the environment counts itself."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.motrixlab import build
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 16
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "motrixlab"))


def built(target: str, *, timed: bool = False, **options: Any) -> Any:
    """Build; MotrixSim's pool is made by the first test and never again."""
    return build(NUM_ENVS, 3, target, CONTEXT._replace(attribution=timed), **options)


def actions_of(workload: Any, steps: int) -> list[Any]:
    """Actions as a worker makes them."""
    ring = action_ring(workload.spec.action, NUM_ENVS, ActionSource.RANDOM, 5)
    return [ring[index % len(ring)] for index in range(steps)]


def test_counts_are_those_of_the_environment_over_episodes_that_end_in_each_way() -> None:
    workload = built("counted_motrix:counted-go2")
    env = workload._env
    before = env.transitions
    tallies = [workload.step(actions) for actions in actions_of(workload, 150)]
    assert sum(tally.transitions for tally in tallies) == env.transitions - before == 150 * NUM_ENVS
    assert sum(tally.episodes or 0 for tally in tallies) == env.ended
    assert workload.work()["episode_steps"] == env.ended_steps
    assert env.at_limit > 0, "some were truncated"
    assert env.ended > env.at_limit, "and some terminated"
    assert env.both > 0, "and some were both at once"
    assert all(tally.reset_rows == 0 for tally in tallies)


@pytest.mark.parametrize("style", ["direct", "manager"])
def test_the_example_is_stepped_in_both_styles(style: str) -> None:
    workload = built(f"go2_{style}:go2-stand-{style}", max_episode_seconds=0.5)
    spec = workload.spec
    tallies = [workload.step(actions) for actions in actions_of(workload, 60)]
    assert (spec.autoreset, spec.substeps, spec.step_dt_s) == (Autoreset.SAME_STEP, 4, 0.02)
    assert spec.details["style"] == style
    assert spec.action.shape == (12,)
    assert workload.observation()["policy"].shape == (NUM_ENVS, *spec.observation["policy"].shape)
    assert np.isfinite(workload.observation()["policy"]).all()
    assert sum(tally.episodes or 0 for tally in tallies) > 0
    assert workload.work()["substeps"] == 60 * NUM_ENVS * 4
    assert workload.phases is None


def test_both_styles_of_the_example_do_the_same_task() -> None:
    """Same spaces, and from the same pose under the same actions nearly the same robot."""
    direct, manager = (built(f"go2_{style}:go2-stand-{style}") for style in ("direct", "manager"))
    assert direct.spec.action == manager.spec.action
    assert direct.spec.observation == manager.spec.observation
    heights = []
    for workload in (direct, manager):
        for actions in actions_of(workload, 10):
            workload.step(np.zeros_like(actions))
        heights.append(workload.observation()["policy"][:, 0].mean())
    assert heights[0] == pytest.approx(heights[1], abs=0.01)


@pytest.mark.parametrize("style", ["direct", "manager"])
def test_equal_seeds_give_equal_observations(style: str) -> None:
    looks = []
    for _ in range(2):
        workload = built(f"go2_{style}:go2-stand-{style}")
        for actions in actions_of(workload, 30):
            workload.step(actions)
        looks.append(workload.observation()["policy"].copy())
    np.testing.assert_array_equal(*looks)


def test_perf_scopes_are_the_phases_of_a_run_that_is_timed() -> None:
    workload = built("counted_motrix:counted-go2", timed=True)
    for actions in actions_of(workload, 40):
        workload.step(actions)
    before = {total.path: total for total in workload.phases()}
    for actions in actions_of(workload, 10):
        workload.step(actions)
    after = {total.path: total for total in workload.phases()}
    assert {"env_step", "env_step/physics", "env_step/update_state", "env_step/reset_done"} <= after.keys()
    assert after["env_step"].calls - before["env_step"].calls == 10
    inside = sum(total.wall_ns for path, total in after.items() if path.count("/") == 1)
    assert 0 < inside <= after["env_step"].wall_ns


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("go2-nowhere", {}, "It has: |none at all"),
        ("no_such_module:go2", {}, "no module 'no_such_module'"),
        ("go2_direct:go2-nowhere", {}, "It has: .*go2-stand-direct"),
        ("go2_direct:go2-stand-direct", {"gravity": 3}, "has no attribute 'gravity'"),
        ("go2_direct:go2-stand-direct", {"mode": "eval"}, "train, play"),
        ("go2_direct:go2-stand-direct", {"sim_threads": 0}, "sim_threads=0"),
        ("go2_direct:go2-stand-direct", {"sim": "foo"}, "cannot be made with sim='foo': .*motrixsim"),
        ("go2_direct:go2-stand-direct", {"ctrl_dt": "abc"}, "cannot be made with ctrl_dt='abc': TypeError"),
        ("go2_direct:go2-stand-direct", {"pin_sim_threads": "maybe"}, "'maybe'; it is true or false"),
        ("go2_direct:go2-stand-direct", {"sim_threads": 2, "pin_sim_threads": 1}, "1; it is true or false"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(target: str, options: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        built(target, **options)


def test_a_pool_that_exists_already_is_told_in_a_sentence() -> None:
    workload = built("go2_direct:go2-stand-direct")
    workload.step(actions_of(workload, 1)[0])
    with pytest.raises(WorkloadError, match="made once a process"):
        built("go2_direct:go2-stand-direct", sim_threads=2)


def test_without_any_environment_it_is_said_that_the_wheels_register_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = importlib.import_module("motrix_env_core.registry")
    monkeypatch.setattr(registry, "_envs", {})
    with pytest.raises(WorkloadError, match="none at all: its own packages register none"):
        built("cartpole")
