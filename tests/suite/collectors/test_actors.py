"""Actor networks: sizes, ranges, and how noise is drawn. Needs PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from scripted import ACTION, End, ScriptedEnvironment

from envdyno.suite.collectors.collector import FLASHSAC, SAC, ActingCollector, Algorithm

torch = pytest.importorskip("torch")

ROWS, INPUTS, ACTIONS = 64, 49, 12
NOBODY = np.zeros(0, np.intp)
ALGORITHMS = pytest.mark.parametrize("algorithm", [SAC, FLASHSAC], ids=["sac", "flashsac"])


@pytest.fixture
def observation() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(ROWS, INPUTS)).astype(np.float32)


def weights(value: object) -> int:
    """Number of trainable numbers in an actor's nested parameters."""
    if isinstance(value, torch.Tensor):
        return int(value.numel())
    if isinstance(value, (list, tuple)):
        return sum(map(weights, value))
    return 0


@ALGORITHMS
def test_actions_have_the_shape_and_range_of_the_task(algorithm: Algorithm, observation: np.ndarray) -> None:
    actor = algorithm.actor(observation, ACTIONS, 1, 1)
    actions = actor.act(observation, NOBODY)
    assert actions.shape == (ROWS, ACTIONS)
    assert actions.dtype == np.float32
    assert np.abs(actions).max() <= 1.0
    assert len(np.unique(actions)) > ACTIONS


@ALGORITHMS
def test_equal_seeds_act_equally_and_others_do_not(algorithm: Algorithm, observation: np.ndarray) -> None:
    first, again, other = (algorithm.actor(observation, ACTIONS, seed, 1) for seed in (1, 1, 2))
    acted = first.act(observation, NOBODY)
    assert np.array_equal(acted, again.act(observation, NOBODY))
    assert not np.array_equal(acted, other.act(observation, NOBODY))


def test_sac_has_the_layers_of_fastsac(observation: np.ndarray) -> None:
    actor = SAC.actor(observation, ACTIONS, 1, 1)
    linear = INPUTS * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128
    norms = 2 * (512 + 256 + 128)
    heads = 2 * (128 * ACTIONS + ACTIONS)
    parts = (actor._layers, actor._norms, actor._head_mean, actor._head_deviation)  # type: ignore[attr-defined]
    assert sum(map(weights, parts)) == linear + norms + heads


def test_sac_normalises_what_it_sees(observation: np.ndarray) -> None:
    shifted = SAC.actor(observation * 100 + 7, ACTIONS, 1, 1)
    plain = SAC.actor(observation, ACTIONS, 1, 1)
    acted = shifted.act(observation * 100 + 7, NOBODY)
    assert np.allclose(acted, plain.act(observation, NOBODY), atol=1e-3)


def test_flashsac_rows_have_unit_length(observation: np.ndarray) -> None:
    actor = FLASHSAC.actor(observation, ACTIONS, 1, 1)
    linear = [actor._embed, *(weight for block in actor._blocks for weight, _ in block)]  # type: ignore[attr-defined]
    assert [tuple(weight.shape) for weight in linear] == [
        (128, INPUTS),
        (512, 128),
        (128, 512),
        (512, 128),
        (128, 512),
    ]
    for weight in linear:
        assert torch.allclose(weight.norm(dim=1), torch.ones(len(weight)), atol=1e-5)


def noise_of(algorithm: Algorithm, observation: np.ndarray, ends: list[np.ndarray]) -> np.ndarray:
    actor = algorithm.actor(observation, ACTIONS, 1, 1)
    return np.stack([actor._noise(torch.from_numpy(rows)).numpy().copy() for rows in ends])


def test_sac_draws_fresh_noise_in_every_step(observation: np.ndarray) -> None:
    noise = noise_of(SAC, observation, [NOBODY] * 5)
    assert (noise[1:] != noise[:-1]).all()


def test_flashsac_holds_noise_by_a_zeta_law(observation: np.ndarray) -> None:
    many = np.zeros((4000, INPUTS), np.float32)
    noise = noise_of(FLASHSAC, many, [NOBODY] * 18)
    renewed = (noise[1:] != noise[:-1]).all(axis=2)
    first_hold = np.where(renewed.any(axis=0), renewed.argmax(axis=0) + 1, 18)
    assert first_hold.max() <= 16
    law = np.arange(1, 17) ** -2.0
    law /= law.sum()
    held = np.bincount(first_hold, minlength=17)[1:] / len(first_hold)
    assert np.abs(held - law).max() < 0.04, "five standard errors of the commonest length"


def test_flashsac_draws_anew_where_an_episode_ended(observation: np.ndarray) -> None:
    everyone = np.arange(ROWS)
    noise = noise_of(FLASHSAC, observation, [NOBODY, everyone, everyone])
    assert (noise[1:] != noise[:-1]).all()


@ALGORITHMS
def test_an_acting_collector_stores_the_actions_that_it_chose(algorithm: Algorithm) -> None:
    environment = ScriptedEnvironment([[End.NONE, End.TRUNCATED]] * 6)
    collector = ActingCollector(algorithm, environment, 4, seed=1, threads=1)
    ring = collector.make_actions(source="random", seed=0, batches=16)
    for _ in range(6):
        collector.step(ring[0])
    newest = collector.replay.newest_readable_age
    stored = collector.replay.read(newest).action
    assert stored.shape == (2, ACTION)
    assert np.array_equal(stored, environment.received[-1 - newest])
    assert collector.spec.details["policy"] == "torch"
    assert collector.spec.details["policy_threads"] == 1
