"""Shared by the suite's tests: small builds of its cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from envdyno.suite.cases import build
from envdyno.suite.environment import SuiteEnvironment


@pytest.fixture
def make() -> Iterator[Callable[..., SuiteEnvironment]]:
    """Build cases that are closed after the test."""
    built: list[SuiteEnvironment] = []

    def make_one(task: str, engine: str = "mujoco", **options: object) -> SuiteEnvironment:
        settings = {"num_envs": 16, "seed": 7, "threads": 1, **options}
        built.append(build(task, engine, **settings))  # type: ignore[arg-type]
        return built[-1]

    yield make_one
    for environment in built:
        environment.close()


@pytest.fixture
def random_actions() -> Callable[[SuiteEnvironment, int], list[np.ndarray]]:
    """Return full-range random actions for some steps."""

    def draw(environment: SuiteEnvironment, steps: int) -> list[np.ndarray]:
        generator = np.random.default_rng(3)
        shape = (environment.num_envs, environment.num_joints)
        return [generator.uniform(-1, 1, shape).astype(np.float32) for _ in range(steps)]

    return draw
