"""What a suite task offers beyond the workload contract: the seam for collectors.

:meth:`TaskEnvironment.step` returns a :class:`~envdyno.agent.workloads.contract.Tally`, as any workload
does. What a collector needs beside it stands in attributes, valid until the next step, so that a replay
buffer copies each array once, from where it was computed::

    before = environment.policy_observation
    environment.step(actions)
    after = environment.policy_observation           # a different array: `before` is still intact
    replay.observation[at] = before
    replay.next_observation[at] = after
    if (rows := environment.done_rows).size:         # rows that were reset inside the step
        replay.next_observation[at][rows] = environment.terminal_policy_observation[rows]

Observations alternate between two arrays: what was read before a step stays valid for one step more.
"""

from __future__ import annotations

from typing import Any, Protocol

from envdyno.agent.workloads.contract import ContactSample, Tally, WorkloadSpec, WorkTotals
from envdyno.suite.arrays import BoolArray, FloatArray, RowArray


class TaskEnvironment(Protocol):
    """A batch of environments with same-step autoreset."""

    @property
    def spec(self) -> WorkloadSpec:
        """What was built."""
        ...

    @property
    def policy_observation(self) -> FloatArray:
        """(num_envs, policy size), noisy; of the new episode where a row was reset in this step."""
        ...

    @property
    def critic_observation(self) -> FloatArray:
        """(num_envs, critic size), privileged and free of noise; of the new episode in reset rows."""
        ...

    terminal_policy_observation: FloatArray
    """(num_envs, policy size): the last observation of the episode that ended. Valid in ``done_rows`` only;
    other rows hold what an earlier step left there."""
    terminal_critic_observation: FloatArray
    """(num_envs, critic size), likewise."""
    reward: FloatArray
    """(num_envs,) of the transition that the step made, in reset rows too."""
    terminated: BoolArray
    """(num_envs,): the episode ended in a terminal state, with no value beyond it."""
    truncated: BoolArray
    """(num_envs,): the time limit ended the episode; never set together with ``terminated``."""
    done_rows: RowArray
    """Indices of the rows whose episode ended in this step, ascending."""
    episode_steps: Any
    """(num_envs,) int32: transitions in the running episode; 0 right after a reset."""

    def step(self, actions: FloatArray) -> Tally:
        """Advance every environment by one control step.

        Args:
            actions: (num_envs, joints), values beyond [-1, 1] are clipped.
        """
        ...

    def observation(self) -> dict[str, FloatArray]:
        """Return the observations by group name, ``policy`` and ``critic``."""
        ...

    def work(self) -> WorkTotals:
        """Return running totals of what was done since the build."""
        ...

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the engine's latest states; not for the timed span."""
        ...

    def close(self) -> None:
        """Release the engine."""
        ...
