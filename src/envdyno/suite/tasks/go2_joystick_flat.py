"""Unitree Go2 trots after velocity commands on flat ground.

Sizes, substeps and episode limit are those of the public tasks of this name (observation 49, critic 52,
action 12, 2 substeps, 1000 steps), so that figures can be set beside theirs. Control runs at 50 Hz.
"""

from __future__ import annotations

from envdyno.suite.engines.contract import Readout
from envdyno.suite.environment import TaskSize
from envdyno.suite.robots.go2 import GO2
from envdyno.suite.tasks.velocity import Gait, Pushes, RewardParameters, Terminations, VelocityTask
from envdyno.suite.tasks.velocity_command import VelocityRanges

GO2_JOYSTICK_FLAT = VelocityTask(
    size=TaskSize(
        name="go2_joystick_flat",
        robot=GO2,
        policy_size=49,
        critic_size=52,
        substeps=2,
        step_s=0.02,
        episode_limit_steps=1000,
        readout=Readout(feet=GO2.feet),
    ),
    commands=VelocityRanges(
        forward=(-1.0, 1.5), sideways=(-0.6, 0.6), turn=(-1.2, 1.2), standing=0.1, hold_steps=(250, 500)
    ),
    # A trot: diagonal pairs swing together, and the clock shows one phase for each pair.
    gait=Gait(
        frequency_hz=2.0,
        foot_phases=(0.0, 0.5, 0.5, 0.0),
        clock_phases=(0.0, 0.5),
        air_time_s=0.2,
    ),
    reward_parameters=RewardParameters(
        height_target=0.30,
        pose_joints=(0, 3, 6, 9),  # the four abduction joints
    ),
    # Lower than 0.16 m, the trunk lies on its legs or on the ground.
    terminations=Terminations(least_upright=0.5, least_height=0.16),
    pushes=Pushes(velocity=0.4, interval_steps=(400, 800)),
)
