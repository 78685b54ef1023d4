"""Unitree G1 follows 36 s of whole-body exercise.

Sizes, substeps and episode limit are those of the public tasks of this name (observation 160, critic 289,
action 29, 14 tracked bodies), so that figures can be set beside theirs.
"""

from __future__ import annotations

from envdyno.suite.engines.contract import Readout
from envdyno.suite.environment import TaskSize
from envdyno.suite.robots.g1 import G1
from envdyno.suite.tasks.motion_tracking import MotionTrackingTask, StartPhase, TrackedBodies

_SIDES = ("left", "right")
_BODIES = (
    "pelvis",
    *(f"{side}_{part}_link" for side in _SIDES for part in ("hip_roll", "knee", "ankle_roll")),
    "torso_link",
    *(f"{side}_{part}_link" for side in _SIDES for part in ("shoulder_roll", "elbow", "wrist_yaw")),
)
_LEG_SCALE = (0.7, 0.3, 0.3, 1.1, 0.6, 0.3)
_WAIST_SCALE = (0.8, 0.3, 0.4)
_ARM_SCALE = (1.5, 1.6, 0.7, 0.8, 0.8, 0.3, 0.3)

G1_MOTION_TRACKING = MotionTrackingTask(
    size=TaskSize(
        name="g1_motion_tracking",
        robot=G1,
        policy_size=160,
        critic_size=289,
        substeps=3,
        step_s=0.015,
        episode_limit_steps=1000,
        readout=Readout(bodies=_BODIES),
    ),
    bodies=TrackedBodies(
        anchor=_BODIES.index("torso_link"),
        ends=tuple(
            index for index, name in enumerate(_BODIES) if "ankle_roll" in name or "wrist_yaw" in name
        ),
    ),
    start=StartPhase(bins=36),
    action_scale=(*_LEG_SCALE, *_LEG_SCALE, *_WAIST_SCALE, *_ARM_SCALE, *_ARM_SCALE),
)
