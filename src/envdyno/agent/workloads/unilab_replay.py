"""Writing transitions into UniLab's own replay buffer, as its off-policy collector does.

The buffer's ingress holds two batches; a learner commits each to the device. Nobody learns here, so every
batch is committed right after it was written.
"""

from __future__ import annotations

from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.unilab_setup import FRAMEWORK


class ReplayWriter:
    """One replay buffer for one environment, of either generation."""

    def __init__(self, env: Any, num_envs: int, replay_steps: int) -> None:
        """Make the buffer, and remember the observation that the next action answers."""
        sizes = env.obs_groups_spec
        tensors = hasattr(env.state.reward, "detach")
        runtime = "unilab.rl.runtime.ipc.replay_buffer" if tensors else "uni_rl.ipc.replay_buffer"
        more = {"require_completion_receipt": False} if tensors else {}
        self._torch = FRAMEWORK.load("torch")
        self._buffer = FRAMEWORK.load(runtime).ReplayBuffer(
            capacity=num_envs * replay_steps,
            obs_dim=int(sizes["obs"]),
            action_dim=int(env.action_space.shape[-1]),
            critic_dim=int(sizes.get("critic", 0)),
            device="cpu",
            ingress_slot_rows=num_envs,
            **more,
        )
        self._add = getattr(self._buffer, "add_batch", None) or self._buffer.add
        self._masks_timeouts = tensors
        self._extract, self._replay = phase("transition_extract"), phase("replay")
        self._before = self._observations(env.state.obs)

    def _tensor(self, array: Any) -> Any:
        return array if hasattr(array, "detach") else self._torch.from_numpy(array)

    def _observations(self, groups: Any) -> tuple[Any, Any]:
        """Return copies of both groups: these are buffers that a later step overwrites."""
        policy = self._tensor(groups["obs"])
        critic = self._tensor(groups["critic"]) if "critic" in groups else policy
        return policy.clone(), critic.clone()

    def write(self, actions: Any, state: Any) -> None:
        """Write what one vector step made."""
        float32 = self._torch.float32
        with self._extract:
            after = self._observations(state.obs)
            terminated, truncated = self._tensor(state.terminated), self._tensor(state.truncated)
            ended = terminated | truncated
            timeouts = truncated & ~terminated if self._masks_timeouts else truncated
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
