"""Environments that step a batch of PyTorch tensors on one device, with same-step autoreset.

Isaac Lab, ManiSkill and mjlab share this interface: ``step(actions)`` returns observations, rewards,
terminated, truncated and more, all tensors of ``num_envs`` rows; rows that ended are reset in the same call.
Counts are left on the device and read after the window, so that counting waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import ArraySpec, Tally, WorkloadSpec, WorkTotals
from envdyno.agent.workloads.tensor_rows import TensorRows


class TorchVectorWorkload:
    """One such environment.

    Args:
        env: the environment.
        spec: what was built.
        device: where its tensors are.
        reset: brings all rows to a start state and returns observations.
        torch: the package.
    """

    def __init__(
        self, env: Any, spec: WorkloadSpec, device: str, reset: Callable[[], Any], torch: Any
    ) -> None:
        """Step ``env``."""
        self.spec = spec
        self._env, self._device, self._begin, self._torch = env, device, reset, torch
        self._rows = TensorRows(spec.num_envs, device, torch)
        self._observation: Any = None
        self._env_step = phase("env_step")
        self.synchronize = self._wait if device.startswith("cuda") else None

    def reset(self) -> None:
        """Bring every row to a start state."""
        self._observation = self._begin()
        self._rows.restart()

    def step(self, actions: Any) -> Tally:
        """Step all rows; what is counted stays on the device until it is read."""
        with self._env_step:
            self._observation, rewards, terminated, truncated = self._env.step(actions)[:4]
        return self._rows.count(rewards, terminated | truncated)

    def make_actions(self, *, source: str, seed: int, batches: int) -> list[Any]:
        """Return the ring as tensors on the device."""
        ring = action_ring(self.spec.action, self.spec.num_envs, ActionSource(source), seed)
        return [self._torch.from_numpy(batch).to(self._device) for batch in ring[:batches]]

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._observation

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(episode_steps=self._rows.episode_steps)

    def _wait(self) -> None:
        self._torch.cuda.synchronize(self._device)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def tensor_specs(observation: Any, name: str = "") -> dict[str, ArraySpec]:
    """Return shapes and dtypes of the tensors in an observation, by dotted names, without the batch axis."""
    if hasattr(observation, "shape"):
        dtype = str(observation.dtype).rpartition(".")[2]
        return {name or "obs": ArraySpec(tuple(int(size) for size in observation.shape[1:]), dtype)}
    found: dict[str, ArraySpec] = {}
    if hasattr(observation, "items"):
        for key, part in observation.items():
            found |= tensor_specs(part, f"{name}.{key}" if name else str(key))
    return found
