"""A reference motion: what each joint and each body does in every frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from envdyno.suite.arrays import FloatArray
from envdyno.suite.engines.contract import Engine
from envdyno.suite.robots.robot import Robot

FILE = Path(__file__).with_name("g1_exercise.npz")


@dataclass(frozen=True)
class ReferenceMotion:
    """Frames of a periodic motion, one a control step. The last frame is followed by the first."""

    qpos: FloatArray
    """(frames, 7 + joints), as an engine takes it."""
    qvel: FloatArray
    """(frames, 6 + joints), central differences of ``qpos``."""
    body_position: FloatArray
    """(frames, bodies, 3), m, world."""
    body_quaternion: FloatArray
    """(frames, bodies, 4)."""
    body_linear_velocity: FloatArray
    """(frames, bodies, 3), m/s, world axes."""
    body_angular_velocity: FloatArray
    """(frames, bodies, 3), rad/s, world axes."""

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.qpos)


def load_motion(robot: Robot, frame_s: float, engine: Engine, file: Path = FILE) -> ReferenceMotion:
    """Read a motion and let ``engine`` work out what the bodies of its readout do in it.

    The engine's environments are used for that, and left in the states of the motion's last frames.

    Raises:
        ValueError: the file is not of this robot or frame rate.
    """
    # Plain arrays only: a motion file can run nothing.
    with np.load(file, allow_pickle=False) as stored:
        joints = tuple(str(name) for name in stored["joints"])
        stored_frame_s = float(stored["frame_s"])
        position, base = stored["joint_position"], stored["base_position"]
    if joints != robot.joints or abs(stored_frame_s - frame_s) > 1e-9:
        raise ValueError(
            f"The motion {file.name} has {len(joints)} joints and a frame of {stored_frame_s:g} s, "
            f"and does not fit {robot.name} with {robot.num_joints} joints at {frame_s:g} s. "
            "Make it anew: python -m envdyno.suite.motions.generate."
        )
    qpos = np.zeros((len(position), 7 + robot.num_joints), np.float32)
    qpos[:, :3], qpos[:, 3], qpos[:, 7:] = base, 1.0, position
    qvel = np.zeros((len(position), 6 + robot.num_joints), np.float32)
    qvel[:, :3] = _central_difference(qpos[:, :3], frame_s)  # the base keeps its heading and stays upright
    qvel[:, 6:] = _central_difference(qpos[:, 7:], frame_s)
    return ReferenceMotion(qpos, qvel, *_bodies(engine, qpos, qvel))


def _central_difference(values: FloatArray, frame_s: float) -> FloatArray:
    difference: FloatArray = np.roll(values, -1, axis=0) - np.roll(values, 1, axis=0)
    difference /= np.float32(2.0 * frame_s)
    return difference


def _bodies(engine: Engine, qpos: FloatArray, qvel: FloatArray) -> tuple[FloatArray, ...]:
    num_envs, frames = len(engine.qpos), len(qpos)
    derived = (
        engine.body_position,
        engine.body_quaternion,
        engine.body_linear_velocity,
        engine.body_angular_velocity,
    )
    found = tuple(np.empty((frames, *array.shape[1:]), np.float32) for array in derived)
    for start in range(0, frames, num_envs):
        block = slice(start, min(start + num_envs, frames))
        rows = np.arange(block.stop - start)
        engine.write_state(rows, qpos[block], qvel[block], derive=True)
        for target, source in zip(found, derived, strict=True):
            target[block] = source[rows]
    return found
