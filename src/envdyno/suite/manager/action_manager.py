"""Turns the policy's actions into joint targets."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.manager.configuration import JointPositionAction


class ActionManager:
    """Keeps the present and the previous action."""

    def __init__(self, configuration: JointPositionAction, default: FloatArray, num_envs: int) -> None:
        """Start from zero actions."""
        self._clip, self._default = configuration.clip, default
        self._scale = np.asarray(configuration.scale, np.float32)
        self.action = np.zeros((num_envs, len(default)), np.float32)
        self.previous_action = np.zeros_like(self.action)

    def process_action(self, action: FloatArray) -> None:
        """Take a new action; values beyond the bounds are clipped."""
        self.previous_action = self.action
        self.action = np.clip(action, -self._clip, self._clip).astype(np.float32, copy=False)

    def joint_targets(self) -> FloatArray:
        """Return (num_envs, joints), rad. Computed at every call, as terms that depend on the state are."""
        return self.action * self._scale + self._default

    def reset(self, rows: RowArray | BoolArray) -> None:
        """Forget the actions of ``rows``."""
        self.action[rows] = 0.0
