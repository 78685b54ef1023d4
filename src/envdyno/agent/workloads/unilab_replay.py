"""Writing transitions into UniLab's own replay buffer, as its off-policy collector does.

The buffer's ingress holds two batches; a learner commits each to the device. Nobody learns here, so every
batch is committed right after it was written.
"""

from __future__ import annotations

import inspect
from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.unilab_layout import FRAMEWORK, Layout


class ReplayWriter:
    """One replay buffer for one environment, of any generation."""

    def __init__(self, layout: Layout, env: Any, num_envs: int, replay_steps: int) -> None:
        """Make the buffer, and remember the observation that the next action answers."""
        sizes, buffer = env.obs_groups_spec, layout.replay_buffer
        more = {}
        if "require_completion_receipt" in inspect.signature(buffer).parameters:
            more["require_completion_receipt"] = False  # of asynchronous backends, which need a GPU
        self._torch = FRAMEWORK.load("torch")
        self._buffer = buffer(
            capacity=num_envs * replay_steps,
            obs_dim=int(sizes["obs"]),
            action_dim=int(env.action_space.shape[-1]),
            critic_dim=int(sizes.get("critic", sizes["obs"])),
            device="cpu",
            ingress_slot_rows=num_envs,
            **more,
        )
        self._add = getattr(self._buffer, "add_batch", None) or self._buffer.add
        self._timeouts = layout.timeouts
        self._extract, self._replay = phase("transition_extract"), phase("replay")
        self._before = self._observations(env.state.obs)

    def _tensor(self, array: Any) -> Any:
        return array if hasattr(array, "detach") else self._torch.from_numpy(array)

    def _observations(self, groups: Any) -> tuple[Any, Any]:
        """Return both groups, not copied: an observation stays as it is until the step after the next."""
        policy = self._tensor(groups["obs"])
        critic = self._tensor(groups["critic"]) if "critic" in groups else policy
        return policy, critic

    def write(self, actions: Any, state: Any) -> None:
        """Write what one vector step made."""
        float32 = self._torch.float32
        with self._extract:
            after = self._observations(state.obs)
            terminated, truncated = self._tensor(state.terminated), self._tensor(state.truncated)
            ended = terminated | truncated
            timeouts = self._timeouts(terminated, truncated)
            final = state.final_observation
            terminal = (None, None) if final is None else self._observations(final)
            rewards = self._tensor(state.reward).to(float32).ravel()
        with self._replay:
            self._add(
                self._before[0],
                self._tensor(actions).to(float32),
                rewards,
                after[0],
                ended.to(float32),
                timeouts.to(float32),
                terminal_mask=ended,
                terminal_next_obs=terminal[0],
                critic=self._before[1],
                next_critic=after[1],
                terminal_next_critic=terminal[1],
            )
            self._commit()
        self._before = after

    def _commit(self) -> None:
        while (published := self._buffer.take_published_ingress()) is not None:
            slot, start, count, _ = published
            self._buffer.commit_ingress(slot=slot, start=start, count=count)
