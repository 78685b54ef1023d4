"""A batch of environments that JAX compiles; Brax and MuJoCo Playground share it.

The step is compiled together with its counts, so that counting costs no dispatch of its own. JAX returns
before the work is done; to keep steps from piling up in its queue, each step waits for the one before the
last. At the edges of a window everything is waited for. Rows reset in the step that ends them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import ArraySpec, Autoreset, Tally, WorkloadSpec, WorkTotals

IN_FLIGHT = 2
"""Steps that may be under way at once."""


class JaxWorkload:
    """A batch of environments behind one compiled step."""

    def __init__(self, jax: Any, env: Any, spec: WorkloadSpec, start: Callable[[], Any]) -> None:
        """Step ``env``; ``start`` makes a start state of all rows."""
        self.spec = spec
        self._jax = jax
        self._start = start
        self._state: Any = None
        self._earlier_steps = 0
        self._clock, self._last_end = self._unended()
        self._waiting: list[Any] = []
        self.count_inside: Callable[[], int] | None = None
        self._moved_rows = 0
        self._ages: Any = 0
        self._env_step = phase("env_step")
        where = self._jax.numpy.where

        def counted(state: Any, clock: Any, last_end: Any, actions: Any) -> Any:
            after = env.step(state, actions)
            ended, clock = after.done > 0.5, clock + 1
            return after, clock, where(ended, clock, last_end), ended.sum(), after.reward.sum()

        self._compiled = self._jax.jit(counted)

    def _unended(self) -> tuple[Any, Any]:
        """Return the steps since the start, and those at the last end of each row; both on the device."""
        numpy = self._jax.numpy
        return numpy.zeros((), numpy.int32), numpy.zeros(self.spec.num_envs, numpy.int32)

    def reset(self) -> None:
        """Bring every row to a start state."""
        self._earlier_steps = self._episode_steps()
        self._clock, self._last_end = self._unended()
        self._state = self._start()
        self._ages = 0

    def step(self, actions: Any) -> Tally:
        """Step all rows; the counts are read after the window."""
        with self._env_step:
            self._state, self._clock, self._last_end, episodes, reward = self._compiled(
                self._state, self._clock, self._last_end, actions
            )
            self._waiting.append(reward)
            if len(self._waiting) > IN_FLIGHT:
                self._jax.block_until_ready(self._waiting.pop(0))
        if self.count_inside is not None:
            self._note_moved_rows()
        return Tally(self.spec.num_envs, 0, episodes, None, reward)

    def watch_episodes(self) -> None:
        """Count, besides, the rows whose episode has become longer by the environment's own account."""
        self.count_inside = lambda: self._moved_rows

    def _note_moved_rows(self) -> None:
        """Look at the steps that the episode wrapper keeps of each row; waits for the device.

        A row that moved is one step on; one that ended begins at 0 in the step that follows.
        """
        where, steps = self._jax.numpy.where, self._state.info["steps"]
        self._moved_rows += int((steps == self._ages + 1).sum())
        self._ages = where(self._state.done > 0.5, 0, steps)

    def make_actions(self, *, source: str, seed: int, batches: int) -> list[Any]:
        """Return the ring as arrays on the device."""
        from envdyno.agent.measure.actions import ActionSource, action_ring

        ring = action_ring(self.spec.action, self.spec.num_envs, ActionSource(source), seed)
        return [self._jax.device_put(batch) for batch in ring[:batches]]

    def observation(self) -> Any:
        """Return the latest observations."""
        return self._state.obs

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(episode_steps=self._episode_steps())

    def _episode_steps(self) -> int:
        """Return the transitions in the episodes that have ended; waits for the device.

        From the start to the last end of a row, every step was one. They are added up here, for JAX counts in
        32 bit.
        """
        import numpy as np

        return self._earlier_steps + int(np.asarray(self._last_end).sum(dtype=np.int64))

    def synchronize(self) -> None:
        """Wait until the latest state is there."""
        self._jax.block_until_ready(self._state)
        self._waiting.clear()


def jax_spec(
    num_envs: int,
    action_size: int,
    observation: dict[str, int],
    *,
    substeps: int | None,
    step_dt_s: float | None,
    limit: int,
    details: dict[str, Any],
    modules: tuple[str, ...],
) -> WorkloadSpec:
    """Return the specification of a batch whose actions lie between -1 and 1, as both packages have it."""
    return WorkloadSpec(
        num_envs=num_envs,
        action=ArraySpec((int(action_size),), "float32", -1.0, 1.0),
        observation={name: ArraySpec((size,)) for name, size in observation.items()},
        autoreset=Autoreset.SAME_STEP,
        substeps=substeps,
        step_dt_s=step_dt_s,
        episode_limit_steps=limit,
        details=details,
        modules_under_test=modules,
    )
