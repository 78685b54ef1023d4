"""Unitree Go2 follows velocity commands on flat ground.

Sizes, substeps and episode limit are those of the public tasks of this name (observation 49, critic 52,
action 12, 2 substeps, 1000 steps at 50 Hz), so that figures can be set beside theirs.

Policy observation, 49: base angular velocity 3, projected gravity 3, command 3, joint angles relative to
the default pose 12, joint velocities 12, previous action 12, gait clock 4 (sine and cosine of the phases of
the two diagonal pairs). Critic, 52: the same without noise, then base linear velocity 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from envdyno.suite.engines.contract import Readout
from envdyno.suite.environment import TaskSize
from envdyno.suite.robots.go2 import GO2
from envdyno.suite.tasks.velocity_command import VelocityRanges

SIZE = TaskSize(
    name="go2_joystick_flat",
    robot=GO2,
    policy_size=49,
    critic_size=52,
    substeps=2,
    step_s=0.02,
    episode_limit_steps=1000,
    readout=Readout(feet=GO2.feet),
)

COMMANDS = VelocityRanges(
    forward=(-1.0, 1.5), sideways=(-0.6, 0.6), turn=(-1.2, 1.2), standing=0.1, hold_steps=(250, 500)
)
MOVING_COMMAND = 0.1
"""Commands of a smaller norm ask to stand: no gait is rewarded."""

GAIT_HZ = 2.0
"""Frequency of the trot that the gait clock beats."""
GAIT_OFFSETS = (0.0, 0.5, 0.5, 0.0)
"""Phase of each foot as a share of the period: diagonal pairs swing together."""


@dataclass(frozen=True)
class ObservationScales:
    """Factors that bring observations to about unit size."""

    angular_velocity: float = 0.25
    joint_velocity: float = 0.05
    linear_velocity: float = 2.0


@dataclass(frozen=True)
class ObservationNoise:
    """Half-widths of the uniform noise on the policy's observation, in physical units."""

    angular_velocity: float = 0.2
    gravity: float = 0.05
    joint_angle: float = 0.01
    joint_velocity: float = 1.5


@dataclass(frozen=True)
class RewardWeights:
    """Weight of each term for one second; a step earns ``step_s`` of it."""

    track_linear_velocity: float = 1.5
    track_angular_velocity: float = 0.75
    vertical_velocity: float = -2.0
    roll_pitch_rate: float = -0.05
    orientation: float = -2.5
    base_height: float = -10.0
    joint_acceleration: float = -2.5e-7
    action_rate: float = -0.01
    hip_deviation: float = -0.3
    gait: float = 0.5
    air_time: float = 0.5
    foot_slip: float = -0.1


@dataclass(frozen=True)
class RewardParameters:
    """Constants inside the reward terms."""

    tracking_variance: float = 0.25
    """Tracking earns exp(-squared error / this)."""
    height_target: float = 0.30
    """m."""
    air_time_target_s: float = 0.2
    contact_force: float = 1.0
    """N; a foot that is pressed harder is in contact."""


@dataclass(frozen=True)
class Terminations:
    """States that end an episode."""

    least_upright: float = 0.5
    """Cosine of the largest tilt."""
    least_height: float = 0.16
    """m; lower, the trunk lies on its legs or on the ground."""


@dataclass(frozen=True)
class ResetRanges:
    """Half-widths of uniform randomisation at the start of an episode."""

    position: float = 0.5
    """m, each of x and y."""
    linear_velocity: float = 0.3
    """m/s, each axis."""
    angular_velocity: float = 0.3
    """rad/s, each axis."""
    joint_angle: float = 0.1
    """rad."""


OBSERVATION_SCALES = ObservationScales()
OBSERVATION_NOISE = ObservationNoise()
REWARD_WEIGHTS = RewardWeights()
REWARD_PARAMETERS = RewardParameters()
TERMINATIONS = Terminations()
RESET_RANGES = ResetRanges()
HIPS = (0, 3, 6, 9)
"""Joint indices of the four abduction joints."""
