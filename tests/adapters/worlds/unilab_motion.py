"""Makes the motion clip that UniLab's motion tracking follows, which its wheel leaves out.

Joint angles come from a formula, and forward kinematics by MuJoCo gives the rest: the G1 stands, sways from
foot to foot, swings its arms and turns its trunk. What it costs to follow the clip is as with a recorded one;
rewards and reset rates are not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FPS = 50
FRAMES = 400
SWINGS = {
    "shoulder_pitch": (0.5, 1.0),
    "elbow": (0.4, 2.0),
    "shoulder_roll": (0.15, 1.0),
    "waist_yaw": (0.3, 0.5),
    "hip_roll": (0.06, 0.5),
    "ankle_roll": (-0.06, 0.5),
    "hip_pitch": (-0.15, 1.0),
    "knee": (0.3, 1.0),
    "ankle_pitch": (-0.15, 1.0),
}
"""Amplitude in radians and frequency in hertz of the joints whose name holds the word."""


def positions(model: Any) -> np.ndarray[Any, Any]:
    """Return (frames, nq): the standing pose, its joints swung within their ranges."""
    at_s = np.arange(FRAMES) / FPS
    stand = model.key("stand").qpos
    pose = np.tile(stand, (FRAMES, 1))
    for joint in range(1, model.njnt):
        name, column = model.joint(joint).name, model.jnt_qposadr[joint]
        phase = np.pi if name.startswith("right") and "pitch" in name else 0.0
        for word, (amplitude, hertz) in SWINGS.items():
            if word in name:
                pose[:, column] += amplitude * np.sin(2 * np.pi * hertz * at_s + phase)
        low, high = model.jnt_range[joint]
        pose[:, column] = np.clip(pose[:, column], low, high)
    pose[:, 0] += 0.05 * np.sin(np.pi * at_s)
    yaw = 0.2 * np.sin(np.pi * at_s)
    pose[:, 3:7] = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=1)
    return pose


def velocities(model: Any, pose: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return (frames, nv): central differences, one-sided at both ends."""
    import mujoco

    speeds = np.empty((len(pose), model.nv))
    for frame in range(len(pose)):
        before, after = max(frame - 1, 0), min(frame + 1, len(pose) - 1)
        mujoco.mj_differentiatePos(model, speeds[frame], (after - before) / FPS, pose[before], pose[after])
    return speeds


def make_motion(scene: Path, file: Path) -> None:
    """Write the clip of the robot in ``scene``: joints, and every body of the model, the world first."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    pose = positions(model)
    speeds = velocities(model, pose)
    bodies = {
        name: np.empty((FRAMES, model.nbody, size), np.float32)
        for name, size in (("pos", 3), ("quat", 4), ("lin_vel", 3), ("ang_vel", 3))
    }
    spatial = np.empty(6)
    for frame in range(FRAMES):
        data.qpos[:], data.qvel[:] = pose[frame], speeds[frame]
        mujoco.mj_forward(model, data)
        bodies["pos"][frame], bodies["quat"][frame] = data.xpos, data.xquat
        for body in range(model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, spatial, 0)
            bodies["ang_vel"][frame, body], bodies["lin_vel"][frame, body] = spatial[:3], spatial[3:]
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        file,
        fps=np.array([FPS]),
        joint_pos=pose[:, 7:].astype(np.float32),
        joint_vel=speeds[:, 6:].astype(np.float32),
        **{f"body_{name}_w": values for name, values in bodies.items()},
    )
