"""UniLab for real: its reference cases, its timers, its replay buffer and its assets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unilab
from unilab_assets import CLIP, make_assets

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab import build

NUM_ENVS = 8
STEPS = 120
GO2 = "flashsac/go2_joystick_flat/mujoco"
CASES = (
    (GO2, 12, 2),
    ("flashsac/g1_walk_flat/motrix", 29, 3),
    ("flashsac/g1_walk_flat/mujoco", 29, 3),
    ("sac/g1_walk_flat/mujoco", 29, 3),
    ("sac/g1_walk_flat/motrix", 29, 3),
    ("sac/g1_motion_tracking/mujoco", 29, 3),
    ("sac/g1_motion_tracking/motrix", 29, 3),
)
"""The reference cases, with their actions and substeps."""
QUICK = {GO2, "flashsac/g1_walk_flat/motrix"}
"""Those that compile nothing in any version."""
SHORT = "++env.max_episode_seconds=0.8"
"""Episodes that some rows end by falling, and others by the clock."""
UNSTEADY = "env.terminations.bad_orientation.params.limit_angle=0.2"
"""What makes a Go2 fail that would keep its feet."""
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with every mesh that the robots name, and a motion clip."""
    folder = tmp_path_factory.mktemp("assets")
    assert unilab.__file__ is not None
    make_assets(Path(unilab.__file__).parent, folder)
    return str(folder)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder to leave: the adapter enters one of its own."""
    monkeypatch.chdir(tmp_path)
    yield
    os.chdir(tmp_path)


def built(target: str, *, timed: bool = False, check: bool = False, **options: Any) -> Any:
    """Build."""
    return build(NUM_ENVS, 3, target, CONTEXT._replace(attribution=timed, check=check), **options)


def actions_of(workload: Any, steps: int) -> list[Any]:
    """Actions as a worker makes them."""
    ring = action_ring(workload.spec.action, NUM_ENVS, ActionSource.RANDOM, 5, workload.make_actions)
    return [ring[index % len(ring)] for index in range(steps)]


def copied(array: Any) -> Any:
    """A NumPy copy of an array or a tensor."""
    return np.array(array.detach().cpu() if hasattr(array, "detach") else array)


@dataclass
class Rollout:
    """What a workload told, beside what was seen in its environment and its buffer."""

    workload: Any
    transitions: int = 0
    episodes: int = 0
    counted_inside: int = 0
    moved: int = 0
    """Rows whose own clock went on by one step, or back to 0 where the episode ended."""
    resets_told: int = 0
    terminated: list[Any] = field(default_factory=list)
    truncated: list[Any] = field(default_factory=list)
    terminal: list[Any] = field(default_factory=list)
    """The observations of each step before anything was reset, and for steps without resets after it."""
    observed: list[Any] = field(default_factory=list)
    """The observations that steps returned; the first before any step."""
    rewards: list[Any] = field(default_factory=list)
    stored: list[Any] = field(default_factory=list)
    """Rows of the replay buffer."""

    def watch(self) -> None:
        """Look at observations before rows are reset, and at rows before the buffer gives them away."""
        env, buffer = self.workload._env, self.workload._writer._buffer
        reset, commit = env._reset_done_envs, buffer.commit_ingress

        def reset_done() -> Any:
            self.terminal.append({name: copied(array) for name, array in env.state.obs.items()})
            return reset()

        def commit_ingress(*, slot: int, start: int, count: int) -> Any:
            self.stored.append(buffer._ingress_slots[slot][:count].clone())
            return commit(slot=slot, start=start, count=count)

        env._reset_done_envs, buffer.commit_ingress = reset_done, commit_ingress

    def roll(self, steps: int) -> None:
        """Step, and write down what happened."""
        workload, env = self.workload, self.workload._env
        before_inside = workload.count_inside()
        self.observed.append({name: copied(array) for name, array in env.state.obs.items()})
        for actions in actions_of(workload, steps):
            before = copied(env.state.info["steps"])
            tally = workload.step(actions)
            state, after = env.state, copied(env.state.info["steps"])
            terminated, truncated = copied(state.terminated), copied(state.truncated)
            ended = terminated | truncated
            self.moved += int(np.where(ended, after == 0, after == before + 1).sum())
            self.transitions += tally.transitions
            self.episodes += tally.episodes
            self.resets_told += int(state.info["timing"]["reset_done_count"])
            self.terminated.append(terminated)
            self.truncated.append(truncated)
            self.rewards.append(copied(state.reward))
            self.observed.append({name: copied(array) for name, array in state.obs.items()})
            if len(self.terminal) < len(self.rewards):
                self.terminal.append(self.observed[-1])
        self.counted_inside = workload.count_inside() - before_inside

    def column(self, name: str) -> Any:
        """One field of every row that was stored, shaped (steps, rows, ...)."""
        buffer = self.workload._writer._buffer
        return np.stack([copied(buffer.field_view(rows, name)) for rows in self.stored])


def _of_case(case: str) -> Any:
    return pytest.param(case, id=case, marks=() if case in QUICK else pytest.mark.slow)


@pytest.fixture(scope="module", params=[_of_case(case) for case, _, _ in CASES])
def rollout(request: pytest.FixtureRequest, assets: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A case that was stepped with short episodes."""
    os.chdir(tmp_path_factory.mktemp("rollout"))
    overrides = f"{SHORT} {UNSTEADY}" if request.param == GO2 else SHORT
    made = Rollout(built(request.param, timed=True, check=True, assets=assets, overrides=overrides))
    made.watch()
    made.roll(STEPS)
    yield made
    made.workload.close()


def test_counts_are_those_of_the_rows_over_episodes_that_end_in_each_way(rollout: Rollout) -> None:
    assert rollout.transitions == STEPS * NUM_ENVS == rollout.moved == rollout.counted_inside
    terminated, truncated = np.array(rollout.terminated), np.array(rollout.truncated)
    assert rollout.episodes == int((terminated | truncated).sum()) == rollout.resets_told
    assert (terminated & ~truncated).any()
    assert (truncated & ~terminated).any()


def test_the_specification_is_that_of_the_task(rollout: Rollout) -> None:
    spec = rollout.workload.spec
    size, substeps = next((size, many) for case, size, many in CASES if case == spec.details["case"])
    assert (spec.autoreset, spec.substeps, spec.step_dt_s) == (Autoreset.SAME_STEP, substeps, 0.02)
    assert spec.action.shape == (size,)
    assert spec.episode_limit_steps == 40
    for name, array in rollout.workload.observation().items():
        assert tuple(array.shape) == (NUM_ENVS, *spec.observation[name].shape)


def test_what_is_stored_are_the_transitions_with_their_terminal_observations(rollout: Rollout) -> None:
    assert int(rollout.workload._writer._buffer.ptr) == STEPS * NUM_ENVS
    ended = np.array(rollout.terminated) | np.array(rollout.truncated)
    np.testing.assert_array_equal(rollout.column("dones").astype(bool), ended)
    np.testing.assert_array_equal(rollout.column("rewards"), np.array(rollout.rewards))
    for stored, group in (("obs", "obs"), ("critic", "critic")):
        seen = np.array([groups[group] for groups in rollout.observed])
        terminal = np.array([groups[group] for groups in rollout.terminal])
        np.testing.assert_array_equal(rollout.column(stored), seen[:-1])
        after = rollout.column(f"next_{stored}")
        np.testing.assert_array_equal(after[~ended], seen[1:][~ended])
        np.testing.assert_array_equal(after[ended], terminal[ended])
        assert (after[ended] != seen[1:][ended]).any(axis=1).all(), "not those of the next episode"


def test_truncations_are_stored_as_the_collector_of_this_version_does(rollout: Rollout) -> None:
    terminated, truncated = np.array(rollout.terminated), np.array(rollout.truncated)
    masks = Path(unilab.__path__[0], "rl", "runtime", "ipc").is_dir()  # from 1.4 on
    expected = truncated & ~terminated if masks else truncated
    np.testing.assert_array_equal(rollout.column("truncated").astype(bool), expected)


def test_its_timers_are_the_phases(rollout: Rollout) -> None:
    phases = {total.path: total for total in rollout.workload.phases()}
    assert {"env_step/update_state", "env_step/reset_done"} <= phases.keys()
    assert 0 < phases["env_step/step_core/physics"].wall_ns < phases["env_step"].wall_ns
    parts = sum(total.wall_ns for path, total in phases.items() if path.count("/") == 1)
    assert 0.5 * phases["env_step"].wall_ns < parts <= phases["env_step"].wall_ns


def test_the_same_seed_gives_the_same_rewards_with_and_without_a_buffer(assets: str) -> None:
    workload, alone = built(GO2, assets=assets), built(GO2, assets=assets, replay=False)
    assert alone._writer is None
    assert alone.phases is None
    rewards = [workload.step(actions).reward_sum for actions in actions_of(workload, 3)]
    again = [alone.step(actions).reward_sum for actions in actions_of(alone, 3)]
    assert again == rewards


def test_threads_are_those_of_the_configuration_unless_the_user_says_otherwise(assets: str) -> None:
    import torch

    own = "training.torch_threads.collector_num_threads=2"
    assert built(GO2, assets=assets).spec.details["torch_threads"] == 1 == torch.get_num_threads()
    assert built(GO2, assets=assets, overrides=own).spec.details["torch_threads"] == 2
    workload = built(GO2, assets=assets, overrides=own, torch_threads=3)
    assert workload.spec.details["torch_threads"] == 3 == torch.get_num_threads()


@pytest.mark.parametrize(
    ("case", "mesh"), [(GO2, "base_0.obj"), ("flashsac/g1_walk_flat/motrix", "pelvis.STL")]
)
def test_a_mesh_that_is_not_there_is_named(case: str, mesh: str) -> None:
    with pytest.raises(WorkloadError, match=rf"needs an asset that is not there: .*{mesh}.*--assets DIR"):
        built(case)


def test_a_motion_clip_that_is_not_there_is_named(assets: str) -> None:
    clip = Path(assets) / CLIP
    kept = clip.rename(clip.with_suffix(".kept"))
    try:
        with pytest.raises(
            WorkloadError, match=rf"needs an asset that is not there: {clip}\. .*--assets DIR"
        ):
            built("sac/g1_motion_tracking/mujoco", assets=assets)
    finally:
        kept.rename(clip)


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("go2", {}, "ALGORITHM/TASK/BACKEND"),
        ("dqn/go2_joystick_flat/mujoco", {}, "no algorithm 'dqn'. It has: appo, flashsac, ppo, sac"),
        ("sac/go3/mujoco", {}, "cannot compose sac/go3/mujoco"),
        (GO2, {"overrides": "nothing.like=it"}, "cannot compose"),
        (GO2, {"overrides": "training.torch_threads.collector_num_threads=0"}, "must be >= 1"),
        (GO2, {"assets": "/nowhere"}, "no folder /nowhere/robots"),
        (GO2, {"torch_threads": 0}, "torch_threads=0"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(target: str, options: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        built(target, **options)


def test_the_working_folder_is_gone_when_the_workload_is_closed(assets: str) -> None:
    workload = built(GO2, assets=assets)
    made = Path.cwd()
    assert (made / "src" / "unilab" / "assets").is_dir()
    workload.close()
    assert not made.exists()
    assert Path(assets).is_dir()
