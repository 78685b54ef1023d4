"""Termination terms: ``(environment, ...)`` to flags (num_envs,)."""

from __future__ import annotations

from envdyno.suite.arrays import BoolArray
from envdyno.suite.manager.environment import ManagerEnvironment


def time_out(environment: ManagerEnvironment) -> BoolArray:
    """The episode has reached its limit."""
    flags: BoolArray = environment.episode_steps >= environment.size.episode_limit_steps
    return flags


def bad_orientation(environment: ManagerEnvironment, least_upright: float) -> BoolArray:
    """The base is tilted too far."""
    flags: BoolArray = environment.robot.projected_gravity_b[:, 2] > -least_upright
    return flags


def root_height_below_minimum(environment: ManagerEnvironment, minimum: float) -> BoolArray:
    """The base is too low."""
    flags: BoolArray = environment.robot.root_pos_w[:, 2] < minimum
    return flags


def diverged(environment: ManagerEnvironment) -> BoolArray:
    """The engine gave the row up."""
    flags: BoolArray = environment.engine.diverged.copy()
    return flags
