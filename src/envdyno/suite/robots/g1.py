"""Unitree G1, a humanoid of 33 kg with 29 joints."""

from __future__ import annotations

from envdyno.suite.robots.robot import Robot

_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_WAIST = ("waist_yaw", "waist_roll", "waist_pitch")
_ARM = (
    "shoulder_pitch",
    "shoulder_roll",
    "shoulder_yaw",
    "elbow",
    "wrist_roll",
    "wrist_pitch",
    "wrist_yaw",
)

_LEG_POSE = (-0.2, 0.0, 0.0, 0.42, -0.23, 0.0)
_LEFT_ARM_POSE = (0.2, 0.2, 0.0, 0.6, 0.0, 0.0, 0.0)
_RIGHT_ARM_POSE = (0.2, -0.2, 0.0, 0.6, 0.0, 0.0, 0.0)
_LEG_SCALE = (0.5, 0.3, 0.3, 0.6, 0.35, 0.2)
_ARM_SCALE = (0.5, 0.4, 0.4, 0.5, 0.3, 0.3, 0.3)

G1 = Robot(
    name="g1",
    mjcf="g1.xml",
    base="pelvis",
    joints=tuple(
        f"{name}_joint"
        for name in (
            *(f"left_{part}" for part in _LEG),
            *(f"right_{part}" for part in _LEG),
            *_WAIST,
            *(f"left_{part}" for part in _ARM),
            *(f"right_{part}" for part in _ARM),
        )
    ),
    default_pose=(*_LEG_POSE, *_LEG_POSE, 0.0, 0.0, 0.0, *_LEFT_ARM_POSE, *_RIGHT_ARM_POSE),
    stand_height=0.785,
    action_scale=(*_LEG_SCALE, *_LEG_SCALE, 0.3, 0.2, 0.2, *_ARM_SCALE, *_ARM_SCALE),
    feet=("left_foot", "right_foot"),
)
