"""UniLab for real: its environments, its timers and its replay buffer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import unilab
from unilab_assets import make_assets

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab import build

NUM_ENVS = 8
GO2 = "flashsac/go2_joystick_flat/mujoco"
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with every mesh that the robots name."""
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


def test_counts_are_those_of_the_environment(assets: str) -> None:
    workload = built(GO2, assets=assets, check=True, overrides="++env.max_episode_seconds=0.4")
    before = workload.count_inside()
    tallies, resets = [], 0.0
    for actions in actions_of(workload, 60):
        tallies.append(workload.step(actions))
        resets += workload._env.state.info["timing"]["reset_done_count"]
    spec = workload.spec
    assert workload.count_inside() - before == 60 * NUM_ENVS == sum(tally.transitions for tally in tallies)
    assert sum(tally.episodes or 0 for tally in tallies) == resets >= 2 * NUM_ENVS
    assert (spec.autoreset, spec.substeps, spec.step_dt_s) == (Autoreset.SAME_STEP, 2, 0.02)
    assert spec.action is not None
    assert spec.action.shape == (12,)
    for name, array in workload.observation().items():
        assert tuple(array.shape) == (NUM_ENVS, *spec.observation[name].shape)
    workload.close()


def test_every_transition_is_written_into_the_replay_buffer(assets: str) -> None:
    workload = built(GO2, assets=assets, replay_steps=4)
    buffer = workload._writer._buffer
    rewards = []
    for actions in actions_of(workload, 3):
        workload.step(actions)
        rewards.append(float(workload._env.state.reward.sum()))
    assert int(buffer.ptr) == 3 * NUM_ENVS
    alone = built(GO2, assets=assets, replay=False)
    assert alone._writer is None
    again = [alone.step(actions).reward_sum for actions in actions_of(alone, 3)]
    assert again == pytest.approx(rewards), "the same seed gives the same rewards, with and without a buffer"


def test_its_timers_are_the_phases_of_a_run_that_is_timed(assets: str) -> None:
    workload = built(GO2, assets=assets, timed=True)
    for actions in actions_of(workload, 5):
        workload.step(actions)
    phases = {total.path: total for total in workload.phases()}
    assert {"env_step", "env_step/step_core/physics", "env_step/update_state"} <= phases.keys()
    assert 0 < phases["env_step/step_core/physics"].wall_ns < phases["env_step"].wall_ns
    assert built(GO2, assets=assets).phases is None


def test_assets_that_are_not_there_are_named() -> None:
    with pytest.raises(
        WorkloadError, match=r"needs an asset that is not there: .*base_0\.obj.*-o assets=DIR"
    ):
        built(GO2)


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("go2", {}, "ALGORITHM/TASK/BACKEND"),
        ("dqn/go2_joystick_flat/mujoco", {}, "no algorithm 'dqn'; it has: appo, flashsac, ppo, sac"),
        ("sac/go3/mujoco", {}, "cannot compose sac/go3/mujoco"),
        (GO2, {"overrides": "nothing.like=it"}, "cannot compose"),
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
