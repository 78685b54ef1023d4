"""What a task asks of a physics engine that steps many copies of one robot.

The convention is MuJoCo's, whatever the engine: ``qpos`` is base position (m, world), base quaternion
(scalar first, body to world), joint angles; ``qvel`` is base linear velocity (world axes), base angular
velocity (body axes), joint velocities. Arrays are 32 bit, environment-major, written in place by every
call: a task reads them and never writes them.

What an engine derives from the state (feet, bodies) is taken where the engine computes it. In MuJoCo that
is at the start of the last substep, so it lags ``qpos`` by one substep, as in every batched MuJoCo stepper;
after :meth:`Engine.write_state` with ``derive=True`` it is exact for the written rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from envdyno.agent.workloads.contract import ContactSample
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.robots.robot import Robot


class EngineMissingError(WorkloadError, ImportError):
    """The engine's package is not installed; the text says what to install."""


@dataclass(frozen=True)
class Readout:
    """Which derived quantities a task reads; an engine computes no others."""

    feet: tuple[str, ...] = ()
    """Sites: position, velocity and contact force."""
    bodies: tuple[str, ...] = ()
    """Bodies: pose and velocity."""


@dataclass(frozen=True)
class EngineRequest:
    """Everything that fixes an engine's work."""

    robot: Robot
    num_envs: int
    threads: int
    substep_s: float
    """Simulated seconds of one physics step."""
    substeps: int
    """Physics steps of one :meth:`Engine.step`."""
    readout: Readout = field(default_factory=Readout)


class Engine(Protocol):
    """A batch of independent copies of one robot."""

    name: str
    """As in the names of cases."""
    package: str
    """Top-level module whose code does the stepping."""
    threads: int
    """Threads that it steps with."""
    settings: Mapping[str, str | int | float]
    """What else fixes its work: solver, iterations, precision."""
    joint_range: FloatArray
    """(2, joints): lowest and highest angle of every joint, rad."""
    qpos: FloatArray
    """(num_envs, 7 + joints), after the latest step."""
    qvel: FloatArray
    """(num_envs, 6 + joints)."""
    foot_position: FloatArray
    """(num_envs, feet, 3), m, world."""
    foot_velocity: FloatArray
    """(num_envs, feet, 3), m/s, world axes."""
    foot_force: FloatArray
    """(num_envs, feet), N, size of the contact force on the foot."""
    body_position: FloatArray
    """(num_envs, bodies, 3), m, world."""
    body_quaternion: FloatArray
    """(num_envs, bodies, 4), scalar first."""
    body_linear_velocity: FloatArray
    """(num_envs, bodies, 3), m/s, world axes, of the body frame's origin."""
    body_angular_velocity: FloatArray
    """(num_envs, bodies, 3), rad/s, world axes."""
    diverged: BoolArray
    """(num_envs,): rows whose latest step went non-finite. Their state was put back to that before the step,
    so everything that a task computes from it stays finite; the task has to end the episode."""
    substeps_done: int
    """Running total of physics steps of single environments."""
    dispatches: int
    """Running total of calls into the engine's stepping."""

    def step(self, targets: FloatArray) -> None:
        """Hold the joint ``targets`` (num_envs, joints; rad) for all substeps of one control step."""
        ...

    def substep(self, targets: FloatArray) -> None:
        """Advance by one substep under ``targets``: a dispatch of its own for every substep."""
        ...

    def write_state(self, rows: RowArray, qpos: FloatArray, qvel: FloatArray, *, derive: bool) -> None:
        """Put ``rows`` into a state, forgetting what they did before.

        Args:
            rows: indices of environments, unique.
            qpos: (len(rows), 7 + joints).
            qvel: (len(rows), 6 + joints).
            derive: whether feet and bodies of these rows must be right before the next step.
        """
        ...

    def push(self, rows: RowArray, velocity: FloatArray) -> None:
        """Add ``velocity`` (len(rows), 3; m/s, world axes) to the bases of ``rows``, before the next step."""
        ...

    def contacts_now(self) -> ContactSample:
        """Return the contacts that the engine detects in its latest states."""
        ...

    def close(self) -> None:
        """Stop the engine's threads and release its memory; may be called twice."""
        ...
