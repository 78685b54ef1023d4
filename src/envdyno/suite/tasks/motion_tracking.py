"""Following a reference motion: everything that fixes such a task but the code.

Bodies are compared after the reference has been moved to where the robot is: its anchor body takes the
robot's horizontal place and heading, and keeps its own height. So a robot that drifts is not punished twice,
and one that sinks is.

Policy observation, 160: joint angles and velocities of the reference 58, the reference anchor in the robot's
anchor frame (position 3, first two matrix columns 6), base linear velocity 3 and angular velocity 3, joint
angles relative to the default pose 29, joint velocities 29, previous action 29.

Critic, 289: the same without noise, with all tracked bodies in the robot's anchor frame (position 42,
orientation 84) after the anchor, and projected gravity 3 at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from envdyno.suite.environment import TaskSize


@dataclass(frozen=True)
class TrackedBodies:
    """Indices into the readout's bodies."""

    anchor: int
    ends: tuple[int, ...]
    """Hands and feet: their height must not stray."""


@dataclass(frozen=True)
class TrackingNoise:
    """Half-widths of the uniform noise on the policy's observation."""

    anchor_position: float = 0.25
    anchor_orientation: float = 0.05
    linear_velocity: float = 0.5
    angular_velocity: float = 0.2
    joint_angle: float = 0.01
    joint_velocity: float = 0.5


@dataclass(frozen=True)
class TrackingWeights:
    """Weight of each term for one second; a step earns ``step_s`` of it."""

    anchor_position: float = 0.5
    anchor_orientation: float = 0.5
    body_position: float = 1.0
    body_orientation: float = 1.0
    body_linear_velocity: float = 1.0
    body_angular_velocity: float = 1.0
    action_rate: float = -0.1
    joint_acceleration: float = -2.5e-7
    joint_limits: float = -10.0


@dataclass(frozen=True)
class TrackingDeviations:
    """Each tracking term earns exp(-mean squared error / deviation squared)."""

    anchor_position: float = 0.3
    anchor_orientation: float = 0.4
    body_position: float = 0.3
    body_orientation: float = 0.4
    body_linear_velocity: float = 1.0
    body_angular_velocity: float = 3.14


@dataclass(frozen=True)
class TrackingTerminations:
    """Errors that end an episode."""

    anchor_height: float = 0.25
    """m, between the anchor bodies."""
    anchor_tilt: float = 0.8
    """Difference of the vertical part of gravity in the two anchor frames; 1 is a right angle."""
    end_height: float = 0.25
    """m, of any hand or foot."""


@dataclass(frozen=True)
class TrackingResets:
    """Half-widths of uniform randomisation about the reference at the start of an episode."""

    position: tuple[float, float, float] = (0.05, 0.05, 0.01)
    """m."""
    rotation: tuple[float, float, float] = (0.1, 0.1, 0.2)
    """rad of roll, pitch, yaw."""
    linear_velocity: tuple[float, float, float] = (0.5, 0.5, 0.2)
    """m/s."""
    angular_velocity: tuple[float, float, float] = (0.52, 0.52, 0.78)
    """rad/s."""
    joint_angle: float = 0.1
    """rad."""


@dataclass(frozen=True)
class StartPhase:
    """Where in the motion episodes begin: more often where they failed."""

    bins: int
    """Parts of the motion whose failures are counted apart."""
    uniform_share: float = 0.1
    """Weight of an even choice, so that no part is forgotten."""
    forgetting: float = 0.001
    """Share of the failure counts that a step replaces."""


@dataclass(frozen=True)
class MotionTrackingTask:
    """One robot that follows one motion."""

    size: TaskSize
    bodies: TrackedBodies
    start: StartPhase
    action_scale: tuple[float, ...]
    """Radians for an action of 1, joint by joint: enough to reach every pose of the motion."""
    noise: TrackingNoise = field(default_factory=TrackingNoise)
    weights: TrackingWeights = field(default_factory=TrackingWeights)
    deviations: TrackingDeviations = field(default_factory=TrackingDeviations)
    terminations: TrackingTerminations = field(default_factory=TrackingTerminations)
    resets: TrackingResets = field(default_factory=TrackingResets)
    soft_limit: float = 0.95
    """Share of a joint's range, about its middle, that costs nothing."""
