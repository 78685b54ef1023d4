"""Makes ``g1_exercise.npz``: 36 s of whole-body exercise for the G1, that ends as it begins.

Run as ``python -m envdyno.suite.motions.generate [FILE]``. It needs MuJoCo, for forward kinematics: joint
angles come from formulas, and the base is placed so that the lower foot stays where it is on the ground.

Six exercises of 6 s follow one another, each faded in and out: raising and waving the arms, squats, twists
of the trunk, marching on the spot with swinging arms, swaying from side to side, and boxing with lunges.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import mujoco
import numpy as np
from numpy.typing import NDArray

from envdyno.suite.motions.reference import FILE
from envdyno.suite.robots.g1 import G1
from envdyno.suite.tasks.g1_walk_flat import G1_WALK_FLAT

FRAME_S = G1_WALK_FLAT.size.step_s
"""One frame a control step."""
EXERCISE_S = 6.0
_SOLE = [f"{side}_foot_{corner}" for side in ("left", "right") for corner in range(1, 5)]
_TWO_PI = 2.0 * np.pi

Doubles: TypeAlias = NDArray[np.floating[Any]]
Angles: TypeAlias = dict[str, Doubles]


def arms(t: Doubles) -> Angles:
    """Raise both arms sideways, and wave the forearms."""
    wave = np.sin(_TWO_PI * t)
    return {
        "left_shoulder_roll": 1.2 + 0.2 * wave,
        "right_shoulder_roll": -1.2 - 0.2 * wave,
        "left_elbow": 0.4 * wave,
        "right_elbow": 0.4 * wave,
        "left_wrist_roll": 0.6 * np.cos(_TWO_PI * t),
        "right_wrist_roll": -0.6 * np.cos(_TWO_PI * t),
    }


def squats(t: Doubles) -> Angles:
    """Bend hips, knees and ankles with flat feet and upright trunk, arms stretched forward."""
    depth = 0.25 * (1.0 - np.cos(_TWO_PI * t / 2.0))
    both = {"hip_pitch": -depth, "knee": 2.0 * depth, "ankle_pitch": -depth}
    angles = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in both.items()}
    for side in ("left", "right"):
        angles[f"{side}_shoulder_pitch"] = -1.6 * depth
        angles[f"{side}_elbow"] = 0.6 * depth
    return angles


def twists(t: Doubles) -> Angles:
    """Turn and lean the trunk over standing legs."""
    turn = np.sin(_TWO_PI * t / 2.0)
    return {
        "waist_yaw": 0.7 * turn,
        "waist_roll": 0.15 * np.sin(_TWO_PI * t / 1.5),
        "waist_pitch": 0.12 * (1.0 - np.cos(_TWO_PI * t / 3.0)),
        "left_shoulder_yaw": 0.5 * turn,
        "right_shoulder_yaw": 0.5 * turn,
        "left_shoulder_pitch": -0.4 * turn,
        "right_shoulder_pitch": 0.4 * turn,
    }


def march(t: Doubles) -> Angles:
    """Lift one leg after the other, at one step in 0.6 s, and swing the opposite arm."""
    angles: Angles = {}
    beat = np.sin(_TWO_PI * t / 1.2)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        lift = np.clip(sign * beat, 0.0, None) ** 2
        angles[f"{side}_hip_pitch"] = -0.55 * lift
        angles[f"{side}_knee"] = 0.9 * lift
        angles[f"{side}_ankle_pitch"] = -0.35 * lift
        angles[f"{side}_shoulder_pitch"] = sign * 0.5 * beat
    return angles


def sway(t: Doubles) -> Angles:
    """Shift the weight from side to side, with level hips and flat feet."""
    shift = 0.12 * np.sin(_TWO_PI * t / 2.0)
    angles = {f"{side}_{joint}": sign * shift for side in ("left", "right") for joint, sign in _ROLLS}
    angles["waist_roll"] = -0.5 * shift
    angles["left_shoulder_roll"] = 0.3 + 1.5 * shift
    angles["right_shoulder_roll"] = -0.3 + 1.5 * shift
    return angles


def boxing(t: Doubles) -> Angles:
    """Punch with alternate arms out of slightly bent knees."""
    bend = 0.15 * np.sin(np.pi * t / EXERCISE_S) ** 2
    angles: Angles = {}
    for side, phase in (("left", 0.0), ("right", 0.5)):
        punch = 0.5 * (1.0 + np.sin(_TWO_PI * (t / 0.9 + phase)))
        angles[f"{side}_shoulder_pitch"] = -0.4 - 0.9 * punch
        angles[f"{side}_elbow"] = 0.4 - 0.8 * punch
        angles[f"{side}_hip_pitch"] = -bend
        angles[f"{side}_knee"] = 2.0 * bend
        angles[f"{side}_ankle_pitch"] = -bend
    angles["waist_yaw"] = 0.3 * np.sin(_TWO_PI * t / 0.9)
    return angles


_ROLLS = (("hip_roll", 1.0), ("ankle_roll", -1.0))
EXERCISES: tuple[Callable[[Doubles], Angles], ...] = (arms, squats, twists, march, sway, boxing)


def joint_angles() -> Doubles:
    """Return (frames, joints): the exercises, each faded in and out about the default pose."""
    frames = round(EXERCISE_S / FRAME_S)
    t = np.arange(frames) * FRAME_S
    fade = np.sin(0.5 * np.pi * np.clip(np.minimum(t, EXERCISE_S - t) / 1.2, 0.0, 1.0)) ** 2
    column = {name.removesuffix("_joint"): index for index, name in enumerate(G1.joints)}
    blocks = []
    for exercise in EXERCISES:
        block = np.tile(np.asarray(G1.default_pose), (frames, 1))
        for joint, angle in exercise(t).items():
            block[:, column[joint]] += fade * angle
        blocks.append(block)
    return np.concatenate(blocks)


def base_positions(model: Any, angles: Doubles) -> Doubles:
    """Return (frames, 3): the upright base over the lower foot, whose sole rests on the ground."""
    data = mujoco.MjData(model)
    soles = np.empty((len(angles), len(_SOLE), 3))
    indices = [model.geom(name).id for name in _SOLE]
    radius = float(model.geom_size[indices[0], 0])
    for frame, pose in enumerate(angles):
        data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), pose
        mujoco.mj_kinematics(model, data)
        soles[frame] = data.geom_xpos[indices]
    feet = soles.reshape(len(angles), 2, 4, 3).mean(axis=2)
    # The lower foot carries; where both are low, each carries a share, so that the base moves smoothly.
    carry = np.exp(-(feet[:, :, 2] - feet[:, :, 2].min(axis=1, keepdims=True)) / 0.01)
    carry /= carry.sum(axis=1, keepdims=True)
    home = feet[0]
    base: Doubles = np.einsum("tf,tfk->tk", carry, home - feet)
    base[:, 2] = radius - soles[:, :, 2].min(axis=1)
    return base


def main() -> None:
    """Write the motion."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "file", nargs="?", type=Path, default=FILE, help="where to write (default: %(default)s)"
    )
    file: Path = parser.parse_args().file
    model = mujoco.MjModel.from_xml_string(G1.xml())
    angles = joint_angles()
    low, high = model.jnt_range[1:].T
    angles = np.clip(angles, low, high)
    # Four decimals of a radian or a metre are beyond any tracking, and compress to a third.
    np.savez_compressed(
        file,
        frame_s=np.float64(FRAME_S),
        joints=np.array(G1.joints),
        joint_position=np.round(angles, 4).astype(np.float32),
        base_position=np.round(base_positions(model, angles), 4).astype(np.float32),
    )
    print(f"{file}: {len(angles)} frames, {len(angles) * FRAME_S:.1f} s, {file.stat().st_size} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
