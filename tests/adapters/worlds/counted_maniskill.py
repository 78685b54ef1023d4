"""A ManiSkill task that needs no renderer, ends in both ways, and counts inside itself."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from mani_skill.envs.tasks.fmb.fmb import FMBAssembly1Env
from mani_skill.utils.registration import register_env

LIMIT = 7
SUCCEEDS_AFTER = 4


@register_env("EndsBothWays-v1", max_episode_steps=LIMIT)
class EndsBothWays(FMBAssembly1Env):  # type: ignore[misc]
    """Every other episode succeeds after a few steps; the others are cut."""

    controls: ClassVar[list[int]] = []
    """Length of each episode that was begun, by the actions that reached the robot."""

    def _initialize_episode(self, env_idx: Any, options: Any) -> None:
        super()._initialize_episode(env_idx, options)
        self.controls.append(0)

    def _step_action(self, action: Any) -> Any:
        if action is not None:
            self.controls[-1] += 1
        return super()._step_action(action)

    def evaluate(self) -> dict[str, Any]:
        """Say whether the episode has succeeded."""
        succeeds = len(self.controls) % 2 == 0 and self.controls[-1] == SUCCEEDS_AFTER
        return {"success": torch.tensor([succeeds])}
