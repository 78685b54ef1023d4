"""Go2 keeps standing, manager style: the same task declared in terms, which MotrixLab compiles with numba.

cd examples/motrixlab
envdyno run motrixlab:go2_manager:go2-stand-manager --num-envs 1024 --python PATH/TO/MOTRIXLAB/bin/python
"""

# No `from __future__ import annotations`: MotrixLab reads the annotations of a dispatch as objects.

import math

import numpy as np
from go2_scene import ACTION_SCALE_RAD, CONTROL_DT_S, EPISODE_S, LEAST_HEIGHT_M, Go2SceneCfg, sim_cfg
from motrix_env_core import registry
from motrix_env_core.config import SimCfg, configclass
from motrix_env_core.manager import (
    ManagerActionsCfg,
    ManagerBasedEnvCfg,
    ManagerContext,
    ManagerEnv,
    ManagerObservationGroupCfg,
    ManagerObservationsCfg,
    ManagerResetCfg,
    ManagerRewardsCfg,
    ManagerTerminationsCfg,
    ObservationTermCfg,
    ObsTerm,
    ResetTerm,
    ResetTermCfg,
    RewardTerm,
    RewardTermCfg,
    SimQueriesCfg,
    TerminationTerm,
    TerminationTermCfg,
    dispatch,
)
from motrix_env_core.mdp.action import JointPositionActionCfg
from motrix_env_core.mdp.observations import (
    ActionsObsCfg,
    BodyAngularVelocityObsCfg,
    BodyJointPosRelObsCfg,
    BodyJointVelObsCfg,
    BodyProjectedGravityObsCfg,
)
from motrix_env_core.numba.kernel_data import Map
from motrix_env_core.numba.math.quaternion import rotate_inverse_components
from motrix_env_core.sim import (
    ActuatorKpQuery,
    BodyAngularVelocityWrite,
    BodyJointPositionLimitsQuery,
    BodyJointPositionWrite,
    BodyJointVelocityWrite,
    BodyLinearVelocityWrite,
    BodyPositionWrite,
    BodyRotationWrite,
    LinkPositionQuery,
    LinkQuaternionQuery,
)

from envdyno.suite.robots.go2 import GO2

NAME = "go2-stand-manager"


@dispatch
def height_obs(_ctx: ManagerContext, out: np.ndarray, position: np.ndarray) -> None:
    """Write the height of the base."""
    out[0] = position[2]


@configclass(kw_only=True)
class HeightObsCfg(ObservationTermCfg):
    """Height of the base."""

    def __call__(self, ctx) -> ObsTerm:
        """Return the term."""
        return ObsTerm(1, height_obs, LinkPositionQuery(link=ctx.model.bodies["robot"].base_link_name))


@dispatch
def stand_reward(
    _ctx: ManagerContext, height: np.float32, position: np.ndarray, rotation: np.ndarray
) -> float:
    """Return 1 for a robot that stands level at ``height``, less for any other."""
    error = position[2] - height
    _, _, down = rotate_inverse_components(rotation, (0.0, 0.0, -1.0))
    return -down * math.exp(-20.0 * error * error)


@configclass(kw_only=True)
class StandRewardCfg(RewardTermCfg):
    """Stand at the right height, level."""

    def __call__(self, ctx) -> RewardTerm:
        """Return the term."""
        link = ctx.model.bodies["robot"].base_link_name
        return RewardTerm(
            stand_reward,
            np.float32(GO2.stand_height),
            LinkPositionQuery(link=link),
            LinkQuaternionQuery(link=link),
        )


@dispatch
def fallen(_ctx: ManagerContext, least: np.float32, position: np.ndarray, rotation: np.ndarray) -> bool:
    """Return whether the base is below ``least``, or leans by more than 60 degrees."""
    _, _, down = rotate_inverse_components(rotation, (0.0, 0.0, -1.0))
    return bool(position[2] < least or -down < 0.5)


@configclass(kw_only=True)
class FallenCfg(TerminationTermCfg):
    """The robot lies on its belly, or leans by more than 60 degrees."""

    def __call__(self, ctx) -> TerminationTerm:
        """Return the term."""
        link = ctx.model.bodies["robot"].base_link_name
        return TerminationTerm(
            fallen, np.float32(LEAST_HEIGHT_M), LinkPositionQuery(link=link), LinkQuaternionQuery(link=link)
        )


@dispatch
def stand_up(ctx: ManagerContext, out: Map[np.ndarray], height: np.float32, pose: np.ndarray) -> None:
    """Write the start state of one row."""
    position = out["position"]
    position[:] = 0.0
    position[0, 2] = height
    rotation = out["rotation"]
    rotation[:] = 0.0
    rotation[0, 3] = 1.0
    out["velocity"][:] = 0.0
    out["turning"][:] = 0.0
    out["joint_speeds"][:] = 0.0
    joints = out["joints"]
    for index in range(pose.shape[0]):
        joints[index] = pose[index] + np.float32(0.1) * ctx.rand.next_uniform()


@configclass(kw_only=True)
class StandUpCfg(ResetTermCfg):
    """Put the robot on its feet, joints a little off the default pose."""

    def __call__(self, ctx) -> ResetTerm:
        """Return the term and the state that it writes."""
        body = ctx.model.bodies["robot"]
        link = body.base_link_name
        return ResetTerm(
            stand_up,
            np.float32(GO2.stand_height),
            body.init_joint_pos,
            writes={
                "position": BodyPositionWrite(bodies=(link,)),
                "rotation": BodyRotationWrite(bodies=(link,)),
                "velocity": BodyLinearVelocityWrite(bodies=(link,)),
                "turning": BodyAngularVelocityWrite(bodies=(link,)),
                "joints": BodyJointPositionWrite(body=link),
                "joint_speeds": BodyJointVelocityWrite(body=link),
            },
        )


@configclass
class Actions(ManagerActionsCfg):
    """Joint targets around the default pose."""

    joint_position: JointPositionActionCfg = JointPositionActionCfg(action_scale=ACTION_SCALE_RAD)


@configclass
class Policy(ManagerObservationGroupCfg):
    """The same 43 numbers as in direct style."""

    height: HeightObsCfg = HeightObsCfg()
    gravity: BodyProjectedGravityObsCfg = BodyProjectedGravityObsCfg()
    turning: BodyAngularVelocityObsCfg = BodyAngularVelocityObsCfg()
    joints: BodyJointPosRelObsCfg = BodyJointPosRelObsCfg()
    joint_speeds: BodyJointVelObsCfg = BodyJointVelObsCfg(scale=0.05)
    actions: ActionsObsCfg = ActionsObsCfg()


@configclass
class Observations(ManagerObservationsCfg):
    """One group."""

    policy: Policy = Policy()


@configclass
class Rewards(ManagerRewardsCfg):
    """One term."""

    stand: StandRewardCfg = StandRewardCfg(weight=1.0)


@configclass
class Terminations(ManagerTerminationsCfg):
    """One term; the time limit is the configuration's ``max_episode_seconds``."""

    fallen: FallenCfg = FallenCfg()


@configclass
class Resets(ManagerResetCfg):
    """One term."""

    stand_up: StandUpCfg = StandUpCfg()


@registry.envcfg(NAME)
@configclass
class Go2ManagerCfg(ManagerBasedEnvCfg):
    """Go2 keeps standing while its joint targets are disturbed."""

    scene: Go2SceneCfg = Go2SceneCfg()
    sim: SimCfg = sim_cfg()
    ctrl_dt: float = CONTROL_DT_S
    max_episode_seconds: float = EPISODE_S
    queries: SimQueriesCfg = SimQueriesCfg(
        model={
            "actuator_kp": ActuatorKpQuery(),
            "robot_joint_position_limits": BodyJointPositionLimitsQuery(body=GO2.base),
        }
    )
    sim_reset: Resets = Resets()
    actions: Actions = Actions()
    observations: Observations = Observations()
    rewards: Rewards = Rewards()
    terminations: Terminations = Terminations()


@registry.env(NAME)
class Go2Manager(ManagerEnv[Go2ManagerCfg]):
    """Everything is in the configuration."""
