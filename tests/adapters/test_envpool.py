"""EnvPool for real: rows that moved are told from rows that only reset by the physics itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import Autoreset, BuildContext, Tally
from envdyno.agent.workloads.envpool import build
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 12
CONTEXT = BuildContext(0, 1, (0,), 2, attribution=False)
INTERFACES = ["gymnasium", "gym", "dm"]


def built(target: str, **options: Any) -> Any:
    """Build and reset."""
    workload = build(NUM_ENVS, 5, target, CONTEXT, **options)
    workload.reset()
    return workload


def actions_of(workload: Any, steps: int) -> list[Any]:
    """Actions as a worker makes them."""
    ring = action_ring(workload.spec.action, NUM_ENVS, ActionSource.RANDOM, 3, workload.make_actions)
    return [ring[index % len(ring)] for index in range(steps)]


def cart_pole_moved(before: Any, actions: Any) -> Any:
    """Return where CartPole's own equations lead (Barto, Sutton and Anderson, 1983), in float64."""
    x, speed, angle, spin = np.asarray(before, np.float64).T
    force = np.where(np.asarray(actions) == 1, 10.0, -10.0)
    sine, cosine = np.sin(angle), np.cos(angle)
    push = (force + 0.05 * spin**2 * sine) / 1.1
    bend = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
    pull = push - 0.05 * bend * cosine / 1.1
    return np.stack([x + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * bend], axis=1)


def seen(workload: Any) -> tuple[Any, Any]:
    """Return the rows of the latest batch, and whose they are."""
    look = workload.observation()
    return np.array(look["obs"] if isinstance(look, dict) else look), np.array(workload._env_id)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("batch_size", [NUM_ENVS, 5])
def test_transitions_are_the_rows_that_moved_by_the_equations_of_motion(
    interface: str, batch_size: int
) -> None:
    workload = built("CartPole-v1", env_type=interface, batch_size=batch_size, max_episode_steps=15)
    latest = np.full((NUM_ENVS, 4), np.nan)
    rows, whose = seen(workload)
    latest[whose] = rows
    given = np.zeros(NUM_ENVS, int)
    tallies, moved = [], 0
    for actions in actions_of(workload, 200):
        given[whose] = actions[:batch_size]
        expected = cart_pole_moved(latest, given)
        tallies.append(workload.step(actions))
        rows, whose = seen(workload)
        moved += int((np.abs(rows - expected[whose]) < 1e-4).all(axis=1).sum())
        latest[whose] = rows
    if batch_size == NUM_ENVS:
        assert sum(tally.transitions for tally in tallies) == moved
        assert sum(tally.reset_rows for tally in tallies) == sum(
            tally.episodes or 0 for tally in tallies[:-1]
        )
    assert sum(tally.episodes or 0 for tally in tallies) > 30
    assert all(tally.transitions + tally.reset_rows == batch_size for tally in tallies)
    workload.close()


@pytest.mark.parametrize("batch_size", [NUM_ENVS, 5])
def test_reset_rows_are_those_whose_episode_has_made_no_step(batch_size: int) -> None:
    workload = built("CartPole-v1", batch_size=batch_size, max_episode_steps=15)
    pool = workload._pool
    elapsed: list[Any] = []
    receive = pool.recv

    def listening() -> Any:
        received = receive()
        elapsed.append(np.array(received[4]["elapsed_step"]))
        return received

    pool.recv = listening
    tallies: list[Tally] = [workload.step(actions) for actions in actions_of(workload, 200)]
    assert [tally.transitions for tally in tallies] == [int((steps > 0).sum()) for steps in elapsed]
    ended = [tally.episodes for tally in tallies]
    assert sum(ended) > 30
    workload.close()


@pytest.mark.parametrize("interface", INTERFACES)
def test_the_lengths_of_episodes_are_told(interface: str) -> None:
    workload = built("CartPole-v1", env_type=interface, max_episode_steps=7)
    tallies = [workload.step(actions) for actions in actions_of(workload, 8 * 10)]
    # No pole falls within 7 steps, so that every episode is cut after 7 and its row then resets.
    assert workload.work()["episode_steps"] == 7 * sum(tally.episodes or 0 for tally in tallies)
    assert sum(tally.transitions for tally in tallies) == NUM_ENVS * 7 * 10
    workload.close()


@pytest.mark.parametrize("batch_size", [NUM_ENVS, 5])
@pytest.mark.parametrize("interface", INTERFACES)
def test_lengths_are_those_that_each_environment_lived_through(interface: str, batch_size: int) -> None:
    """Poles that fall at different times; a row that resets has the pole upright, by the interface's word."""
    workload = built("CartPole-v1", env_type=interface, batch_size=batch_size, max_episode_steps=60)
    receive, ages = workload._pool.recv, np.zeros(NUM_ENVS, int)
    lengths: list[int] = []

    def listening() -> Any:
        received = receive()
        if interface == "dm":
            whose, begun, over = received.observation.env_id, received.step_type == 0, received.step_type == 2
        else:
            whose, begun = received[4]["env_id"], received[4]["elapsed_step"] == 0
            over = received[2] | received[3]
        ages[whose] = np.where(begun, 0, ages[whose] + 1)
        lengths.extend(ages[whose][over].tolist())
        return received

    workload._pool.recv = listening
    for actions in actions_of(workload, 200):
        workload.step(actions)
    assert workload.work()["episode_steps"] == sum(lengths)
    assert len(lengths) > 20
    assert len(set(lengths)) > 1, "episodes are of different lengths"
    workload.close()


def test_lengths_of_lives_are_those_between_the_elapsed_steps_at_their_ends() -> None:
    """Atari's ``elapsed_step`` goes on when a life is lost, and begins anew when the game is over."""
    workload = built("Breakout-v5", episodic_life=True)
    receive, ends = workload._pool.recv, np.zeros(NUM_ENVS, int)
    lived, lives, games = 0, 0, 0

    def listening() -> Any:
        nonlocal lived, lives, games
        received = receive()
        info, over = received[4], received[2] | received[3]
        whose, elapsed = info["env_id"][over], info["elapsed_step"][over]
        lived += int((elapsed - ends[whose]).sum())
        lives += len(whose)
        games += int((info["lives"][over] == 0).sum())
        ends[whose] = np.where(info["lives"][over] > 0, elapsed, 0)
        return received

    workload._pool.recv = listening
    tallies = [workload.step(actions) for actions in actions_of(workload, 250)]
    assert workload.work()["episode_steps"] == lived
    assert sum(tally.episodes or 0 for tally in tallies) == lives > 20
    assert games > 0
    workload.close()


def test_episodes_that_a_reset_cuts_off_have_not_ended() -> None:
    workload = built("CartPole-v1", env_type="dm", max_episode_steps=7)
    for steps in (7, 3):
        for actions in actions_of(workload, steps):
            workload.step(actions)
        workload.reset()
    assert workload.work()["episode_steps"] == 7 * NUM_ENVS
    workload.close()


@pytest.mark.parametrize("interface", ["gymnasium", "dm"])
def test_a_pool_with_several_observations_is_stepped(interface: str) -> None:
    workload = built("CheetahRun-v1", env_type=interface, max_episode_steps=20)
    spec = workload.spec
    for actions in actions_of(workload, 25):
        workload.step(actions)
    assert set(spec.observation) == {"obs.position", "obs.velocity"}
    look = workload.observation()
    assert look["position"].shape == (NUM_ENVS, 8)
    assert (spec.autoreset, spec.threads, spec.episode_limit_steps) == (Autoreset.NEXT_STEP, 2, 20)
    workload.close()


def test_mujoco_tasks_tell_their_substeps() -> None:
    workload = built("Ant-v5")
    assert workload.spec.substeps == 5
    workload.close()


def test_equal_seeds_give_equal_observations() -> None:
    looks = []
    for _ in range(2):
        workload = built("Hopper-v5")
        for actions in actions_of(workload, 30):
            workload.step(actions)
        looks.append(np.array(workload.observation()))
        workload.close()
    np.testing.assert_array_equal(*looks)


@pytest.mark.slow
def test_a_robot_of_mujoco_playground_is_stepped_and_counted() -> None:
    workload = built("Go1JoystickFlatTerrain-v1", max_episode_steps=10)
    tallies = [workload.step(actions) for actions in actions_of(workload, 33)]
    assert (workload.spec.substeps, workload.spec.step_dt_s) == (5, 0.02)
    assert (
        sum(tally.reset_rows for tally in tallies) == sum(tally.episodes or 0 for tally in tallies[:-1]) > 0
    )
    workload.close()


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("NoSuch-v0", {}, "has no task 'NoSuch-v0'"),
        ("CartPole-v1", {"env_type": "jax"}, "gymnasium, gym, dm"),
        ("CartPole-v1", {"batch_size": 13}, "at most as many rows"),
        ("CartPole-v1", {"num_threads": 0}, "num_threads=0"),
        ("CartPole-v1", {"gravity": 3}, r"has no option 'gravity'\. It has: .*max_episode_steps"),
        ("CartPole-v1", {"max_episode_steps": "abc"}, "'abc'; it is a whole number, by default 500"),
        ("CartPole-v1", {"max_episode_steps": True}, "True; it is a whole number"),
        ("CartPole-v1", {"reward_threshold": "high"}, "'high'; it is a number"),
        ("CartPole-v1", {"gym_reset_return_info": "yes"}, "'yes'; it is true or false"),
        ("CartPole-v1", {"base_path": 3}, "3; it is a text"),
        ("CartPole-v1", {"render_mode": "human2"}, "render_mode='human2': ValueError"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(target: str, options: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        build(NUM_ENVS, 0, target, CONTEXT, **options)


def test_a_whole_number_will_do_where_the_task_has_another_number() -> None:
    built = build(NUM_ENVS, 0, "CartPole-v1", CONTEXT, reward_threshold=100)
    built.close()
