"""The scene of both Go2 examples: envdyno's own Go2 on flat ground, as MotrixLab configures it."""

from __future__ import annotations

from pathlib import Path

from motrix_env_core.config import SimCfg, configclass
from motrix_env_core.config.scene import (
    FlatTerrainCfg,
    KeyPoseCfg,
    MjcfFileCfg,
    RobotCfg,
    SceneCfg,
    SceneObjsCfg,
)

from envdyno.suite import robots
from envdyno.suite.robots.go2 import GO2

SIM_DT_S = 0.005
CONTROL_DT_S = 0.02
EPISODE_S = 4.0
LEAST_HEIGHT_M = 0.18
"""Below this the robot lies on its belly, and the episode is over."""
ACTION_SCALE_RAD = 0.25


@configclass
class Go2ObjsCfg(SceneObjsCfg):
    """One robot and the ground; of the robot's file only the tree of its base is taken."""

    robot: RobotCfg = RobotCfg(
        model=MjcfFileCfg(file=str(Path(robots.__file__).parent / GO2.mjcf)),
        base_link_name=GO2.base,
        translation=(0.0, 0.0, GO2.stand_height),
        key_pose=KeyPoseCfg(joint_names=list(GO2.joints), poses={"default": list(GO2.default_pose)}),
    )
    ground: FlatTerrainCfg = FlatTerrainCfg()


@configclass
class Go2SceneCfg(SceneCfg):
    """Robot and ground."""

    objs: Go2ObjsCfg = Go2ObjsCfg()


def sim_cfg() -> SimCfg:
    """Return the physics settings: 200 Hz, four substeps in a control step."""
    return SimCfg(dt=SIM_DT_S)
