"""Go2 keeps standing, direct style: one class that reads the simulator and does everything in NumPy.

cd examples/motrixlab
envdyno run motrixlab:go2_direct:go2-stand-direct --num-envs 1024 --python PATH/TO/MOTRIXLAB/bin/python
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from go2_scene import ACTION_SCALE_RAD, CONTROL_DT_S, EPISODE_S, LEAST_HEIGHT_M, Go2SceneCfg, sim_cfg
from motrix_env_core import registry
from motrix_env_core.array.env import NpObs
from motrix_env_core.base import ObsSpace
from motrix_env_core.config import SimCfg, configclass
from motrix_env_core.direct.env import ArrayEnvState, DirectEnv, DirectEnvCfg
from motrix_env_core.math import quaternion
from motrix_env_core.mdp.action_space import joint_position_action_space
from motrix_env_core.sim import (
    BodyAngularVelocityWrite,
    BodyJointPositionQuery,
    BodyJointPositionWrite,
    BodyJointVelocityQuery,
    BodyJointVelocityWrite,
    BodyLinearVelocityWrite,
    BodyPositionWrite,
    BodyRotationWrite,
    LinkAngularVelocityQuery,
    LinkPositionQuery,
    LinkQuaternionQuery,
)
from motrix_env_core.sim.write import CtrlTargetsWrite

from envdyno.suite.robots.go2 import GO2

NAME = "go2-stand-direct"


@registry.envcfg(NAME)
@configclass
class Go2DirectCfg(DirectEnvCfg):
    """Go2 keeps standing while its joint targets are disturbed."""

    scene: Go2SceneCfg = Go2SceneCfg()
    sim: SimCfg = sim_cfg()
    ctrl_dt: float = CONTROL_DT_S
    max_episode_seconds: float = EPISODE_S


@registry.env(NAME)
class Go2Direct(DirectEnv[Go2DirectCfg]):
    """Observes base height, gravity and turn rate in the base's axes, joints, last action: 43 numbers."""

    def __init__(self, cfg: Go2DirectCfg, num_envs: int = 1, backend: str | None = None) -> None:
        super().__init__(cfg, num_envs, backend)
        self._default = np.array(GO2.default_pose, np.float32)
        self._joints = len(GO2.joints)
        self._read = self.sim.compile_reads(
            {
                "position": LinkPositionQuery(link=GO2.base),
                "rotation": LinkQuaternionQuery(link=GO2.base),
                "turning": LinkAngularVelocityQuery(link=GO2.base),
                "joints": BodyJointPositionQuery(body=GO2.base),
                "joint_speeds": BodyJointVelocityQuery(body=GO2.base),
            }
        )
        self._controls = self.sim.compile_writes({"targets": CtrlTargetsWrite()})
        self._start = self.sim.compile_writes(
            {
                "position": BodyPositionWrite(bodies=(GO2.base,)),
                "rotation": BodyRotationWrite(bodies=(GO2.base,)),
                "velocity": BodyLinearVelocityWrite(bodies=(GO2.base,)),
                "turning": BodyAngularVelocityWrite(bodies=(GO2.base,)),
                "joints": BodyJointPositionWrite(body=GO2.base),
                "joint_speeds": BodyJointVelocityWrite(body=GO2.base),
            },
            reset=True,
        )
        self._action = np.zeros((num_envs, self._joints), np.float32)
        size = 1 + 3 + 3 + 3 * self._joints
        self._observation_space = ObsSpace(policy=gym.spaces.Box(-np.inf, np.inf, (size,), np.float32))
        actuators = self.sim.compile_model({}).actuators
        self._action_space = joint_position_action_space(actuators, self._default, ACTION_SCALE_RAD)

    @property
    def observation_space(self) -> ObsSpace:
        """Space of the policy's observations."""
        return self._observation_space

    @property
    def action_space(self) -> gym.spaces.Box:
        """Joint targets around the default pose, in units of the action scale."""
        return self._action_space

    def apply_action(self, actions: np.ndarray, state: ArrayEnvState) -> ArrayEnvState:
        """Set the joint targets."""
        self._action[:] = actions
        self._controls.buffer("targets")[:] = self._default + ACTION_SCALE_RAD * self._action
        self._controls.execute()
        return state

    def compute_transition(self, state: ArrayEnvState) -> ArrayEnvState:
        """Read the simulator; write rewards and terminations."""
        self._read.execute()
        height = self._read["position"][:, 2]
        level = -self._gravity()[:, 2]
        np.exp(-20.0 * np.square(height - GO2.stand_height), out=state.reward)
        state.reward *= level
        np.logical_or(height < LEAST_HEIGHT_M, level < 0.5, out=state.terminated)
        return state

    def _gravity(self) -> np.ndarray:
        """Return the direction of gravity in the base's axes."""
        return quaternion.rotate_inverse(self._read["rotation"], np.array([0.0, 0.0, -1.0], np.float32))

    def reset(self, env_ids: np.ndarray) -> None:
        """Put the robot on its feet, joints a little off the default pose."""
        rows = env_ids.size
        joints = self._default + np.random.uniform(-0.1, 0.1, (rows, self._joints)).astype(np.float32)
        self._start.buffer("position")[env_ids] = (0.0, 0.0, GO2.stand_height)
        self._start.buffer("rotation")[env_ids] = (0.0, 0.0, 0.0, 1.0)
        self._start.buffer("joints")[env_ids] = joints
        for name in ("velocity", "turning", "joint_speeds"):
            self._start.buffer(name)[env_ids] = 0.0
        self._start.execute(env_ids)
        self._action[env_ids] = 0.0
        self._read.execute(env_ids)

    def compute_observation(self, state: ArrayEnvState) -> ArrayEnvState:
        """Put the observation together from what was read."""
        read = self._read
        parts = (
            read["position"][:, 2:],
            self._gravity(),
            read["turning"],
            read["joints"] - self._default,
            read["joint_speeds"] * 0.05,
            self._action,
        )
        return state.replace(obs=NpObs(policy=np.concatenate(parts, axis=1, dtype=np.float32)))
