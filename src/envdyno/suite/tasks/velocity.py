"""Following velocity commands on flat ground: everything that fixes such a task but the code.

Policy observation: base angular velocity 3, projected gravity 3, command 3, joint angles relative to the
default pose, joint velocities, previous action (one of each per joint), gait clock (sine and cosine for each
clock phase). Critic: the same without noise, then base linear velocity 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from envdyno.suite.environment import TaskSize
from envdyno.suite.tasks.velocity_command import VelocityRanges


@dataclass(frozen=True)
class Gait:
    """The rhythm that rewards ask for and that the policy's clock beats."""

    frequency_hz: float
    foot_phases: tuple[float, ...]
    """Phase of each foot as a share of the period; a foot stands in the first half of its own."""
    clock_phases: tuple[float, ...]
    """Phases whose sine and cosine the policy observes."""
    air_time_s: float
    """Time in the air from which on a landing is rewarded."""


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
    joint_limits: float = -5.0
    pose: float = -0.3
    gait: float = 1.0
    air_time: float = 0.5
    foot_slip: float = -0.1
    termination: float = -50.0


@dataclass(frozen=True)
class RewardParameters:
    """Constants inside the reward terms."""

    height_target: float
    """m, of the base."""
    pose_joints: tuple[int, ...]
    """Joints that should stay near the default pose."""
    tracking_variance: float = 0.25
    """Tracking earns exp(-squared error / this)."""
    contact_force: float = 1.0
    """N; a foot that is pressed harder is in contact."""
    moving_command: float = 0.1
    """Commands of a smaller norm ask to stand: no gait is rewarded."""
    soft_limit: float = 0.95
    """Share of a joint's range, about its middle, that costs nothing."""


@dataclass(frozen=True)
class Terminations:
    """States that end an episode."""

    least_upright: float
    """Cosine of the largest tilt."""
    least_height: float
    """m, of the base."""


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


@dataclass(frozen=True)
class Pushes:
    """Sudden changes of the base's horizontal velocity."""

    velocity: float
    """m/s, half-width for each axis."""
    interval_steps: tuple[int, int]
    """Control steps between two pushes, uniformly drawn."""


@dataclass(frozen=True)
class VelocityTask:
    """One robot that follows velocity commands."""

    size: TaskSize
    commands: VelocityRanges
    gait: Gait
    reward_parameters: RewardParameters
    terminations: Terminations
    pushes: Pushes
    weights: RewardWeights = field(default_factory=RewardWeights)
    scales: ObservationScales = field(default_factory=ObservationScales)
    noise: ObservationNoise = field(default_factory=ObservationNoise)
    resets: ResetRanges = field(default_factory=ResetRanges)
