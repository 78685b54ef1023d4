"""What a collector stores is what an independent, slow account of the same steps says it has to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ACTION, CRITIC, POLICY, End, ScriptedEnvironment

from envdyno.suite.collectors.collector import FLASHSAC, SAC, Algorithm, Collector
from envdyno.suite.collectors.replay import ReplayLayout, ReplaySize, Transitions, make_replay

ALGORITHMS = pytest.mark.parametrize("algorithm", [SAC, FLASHSAC], ids=["paired", "single"])


@dataclass
class SlowTransition:
    """One row of one step, in plain lists."""

    observation: list[float]
    critic: list[float]
    action: list[float]
    reward: float
    next_observation: list[float]
    next_critic: list[float]
    terminated: bool
    truncated: bool


def slow_account(script: list[list[End]], actions: list[np.ndarray]) -> list[list[SlowTransition]]:
    """Step an equal environment row by row, copying everything at the instant at which it is true."""
    environment = ScriptedEnvironment(script)
    account = []
    for action in actions:
        before = (environment.policy_observation.tolist(), environment.critic_observation.tolist())
        environment.step(action)
        rows = []
        for row in range(environment.num_envs):
            ended = bool(environment.terminated[row] or environment.truncated[row])
            last = (
                (environment.terminal_policy_observation, environment.terminal_critic_observation)
                if ended
                else (environment.policy_observation, environment.critic_observation)
            )
            rows.append(
                SlowTransition(
                    before[0][row],
                    before[1][row],
                    action[row].tolist(),
                    float(environment.reward[row]),
                    last[0][row].tolist(),
                    last[1][row].tolist(),
                    bool(environment.terminated[row]),
                    bool(environment.truncated[row]),
                )
            )
        account.append(rows)
    return account


def as_slow(step: Transitions) -> list[SlowTransition]:
    columns = [column.tolist() for column in step]
    return [SlowTransition(*row) for row in zip(*columns, strict=True)]


def collect(algorithm: Algorithm, script: list[list[End]], steps: int) -> tuple[Collector, list[np.ndarray]]:
    collector = Collector(algorithm, ScriptedEnvironment(script), steps)
    draw = np.random.default_rng(1)
    actions = [draw.uniform(-1, 1, (len(row), ACTION)).astype(np.float32) for row in script]
    for action in actions:
        collector.step(action)
    return collector, actions


def assert_replay_is_right(algorithm: Algorithm, script: list[list[End]], steps: int) -> None:
    collector, actions = collect(algorithm, script, steps)
    account = slow_account(script, actions)
    replay = collector.replay
    held = min(len(script), steps)
    assert replay.written == len(script)
    assert replay.readable_steps == max(0, held - replay.newest_readable_age)
    for age in range(replay.newest_readable_age, held):
        assert as_slow(replay.read(age)) == account[-1 - age]


NONE, TERMINATED, TRUNCATED = End


@ALGORITHMS
def test_episodes_that_end_in_each_way_keep_their_last_observation(algorithm: Algorithm) -> None:
    script = [
        [NONE, NONE, NONE],
        [NONE, TERMINATED, TRUNCATED],
        [NONE, NONE, NONE],
        [TERMINATED, TERMINATED, NONE],
        [TRUNCATED, NONE, TERMINATED],
        [TRUNCATED, TRUNCATED, TRUNCATED],
        [NONE, NONE, NONE],
    ]
    assert_replay_is_right(algorithm, script, steps=16)


@ALGORITHMS
def test_a_full_ring_overwrites_the_oldest_steps_and_their_ends(algorithm: Algorithm) -> None:
    script = [
        [TERMINATED, NONE],
        [NONE, TRUNCATED],
        [NONE, NONE],
        [NONE, NONE],
        [TRUNCATED, NONE],
        [NONE] * 2,
    ]
    assert_replay_is_right(algorithm, script, steps=3)


@ALGORITHMS
@settings(max_examples=60, deadline=None)
@given(
    script=st.integers(1, 4).flatmap(
        lambda rows: st.lists(
            st.lists(st.sampled_from(End), min_size=rows, max_size=rows), min_size=1, max_size=12
        )
    ),
    steps=st.integers(2, 8),
)
def test_whatever_ends_when_the_replay_is_right(
    algorithm: Algorithm, script: list[list[End]], steps: int
) -> None:
    assert_replay_is_right(algorithm, script, steps)


@ALGORITHMS
def test_termination_and_truncation_are_stored_apart(algorithm: Algorithm) -> None:
    collector, _ = collect(algorithm, [[TERMINATED, TRUNCATED, NONE], [NONE] * 3], 4)
    step = collector.replay.read(1)
    assert step.terminated.tolist() == [True, False, False]
    assert step.truncated.tolist() == [False, True, False]


@ALGORITHMS
def test_what_is_not_held_is_refused_by_its_age(algorithm: Algorithm) -> None:
    collector, _ = collect(algorithm, [[NONE]] * 5, 3)
    newest = collector.replay.newest_readable_age
    with pytest.raises(IndexError, match=f"of age {newest} to 2, and was asked for age 3"):
        collector.replay.read(3)
    with pytest.raises(IndexError):
        collector.replay.read(newest - 1)


def test_the_newest_step_of_the_single_layout_waits_for_the_next() -> None:
    collector, _ = collect(FLASHSAC, [[NONE]], 4)
    assert collector.replay.readable_steps == 0


@pytest.mark.parametrize("layout", ReplayLayout)
def test_the_memory_is_what_was_said(layout: ReplayLayout) -> None:
    size = ReplaySize(steps=8, num_envs=4, policy=POLICY, critic=CRITIC, action=ACTION)
    replay = make_replay(layout, size)
    arrays = [value for value in vars(replay).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) == size.bytes_needed(layout)


def test_the_largest_reference_case_fits_in_half_of_six_gigabytes() -> None:
    size = ReplaySize(steps=64, num_envs=8192, policy=160, critic=289, action=29)
    assert size.bytes_needed(ReplayLayout.PAIRED) < 2 * 1024**3
    assert size.bytes_needed(ReplayLayout.SINGLE) < 1.05 * 1024**3
