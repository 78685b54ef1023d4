"""Unitree G1 walks after velocity commands on flat ground.

Sizes, substeps and episode limit are those of the public tasks of this name (observation 98, critic 101,
action 29, 3 substeps, 1000 steps), so that figures can be set beside theirs. Substeps last 5 ms, the longest
at which the soles stay quiet on the ground, so control runs at 66.7 Hz.
"""

from __future__ import annotations

from envdyno.suite.engines.contract import Readout
from envdyno.suite.environment import TaskSize
from envdyno.suite.robots.g1 import G1
from envdyno.suite.tasks.velocity import (
    Gait,
    Pushes,
    ResetRanges,
    RewardParameters,
    RewardWeights,
    Terminations,
    VelocityTask,
)
from envdyno.suite.tasks.velocity_command import VelocityRanges

_HIP_ROLL_AND_YAW = (1, 2, 7, 8)
_WAIST_AND_ARMS = tuple(range(12, 29))

G1_WALK_FLAT = VelocityTask(
    size=TaskSize(
        name="g1_walk_flat",
        robot=G1,
        policy_size=98,
        critic_size=101,
        substeps=3,
        step_s=0.015,
        episode_limit_steps=1000,
        readout=Readout(feet=G1.feet),
    ),
    commands=VelocityRanges(
        forward=(-0.6, 1.0), sideways=(-0.4, 0.4), turn=(-0.8, 0.8), standing=0.1, hold_steps=(330, 660)
    ),
    gait=Gait(frequency_hz=1.25, foot_phases=(0.0, 0.5), clock_phases=(0.0,), air_time_s=0.3),
    reward_parameters=RewardParameters(
        height_target=0.76,
        pose_joints=(*_HIP_ROLL_AND_YAW, *_WAIST_AND_ARMS),
    ),
    terminations=Terminations(least_upright=0.6, least_height=0.5),
    pushes=Pushes(velocity=0.4, interval_steps=(330, 660)),
    weights=RewardWeights(
        vertical_velocity=-1.0,
        orientation=-2.0,
        base_height=-8.0,
        joint_acceleration=-1.0e-7,
        pose=-0.2,
        foot_slip=-0.2,
        termination=-100.0,
    ),
    resets=ResetRanges(linear_velocity=0.1, angular_velocity=0.1, joint_angle=0.05),
)
