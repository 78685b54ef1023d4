"""Unitree Go2, a quadruped of 15 kg with 12 joints."""

from __future__ import annotations

from envdyno.suite.robots.robot import Robot

LEGS = ("FL", "FR", "RL", "RR")

GO2 = Robot(
    name="go2",
    mjcf="go2.xml",
    base="base",
    joints=tuple(f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf")),
    # The pose that Unitree's learning examples start from; the rear thighs lean 0.2 rad further.
    default_pose=(0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5),
    stand_height=0.32,
    action_scale=(0.4, 0.8, 0.8) * 4,
    feet=tuple(f"{leg}_foot" for leg in LEGS),
)
