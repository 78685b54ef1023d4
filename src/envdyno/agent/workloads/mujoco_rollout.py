"""MuJoCo's own batch stepper, ``mujoco.rollout``: any MJCF file, physics only.

``rollout`` takes full physics states, holds the controls over ``substeps`` steps and returns the states on
the way, of which the last is handed in again. The solver begins every vector step without a warm start,
for ``rollout`` does not return the forces that it would begin from.
"""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.mujoco_batch import MujocoStates
from envdyno.agent.workloads.mujoco_models import MUJOCO
from envdyno.agent.workloads.physics import BatchRequest, ModelSource, PhysicsWorkload, physics_workload


class RolloutEngine(MujocoStates):
    """A batch in ``mujoco.rollout``."""

    package = "mujoco.rollout"
    modules = ("mujoco",)

    def __init__(self, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model and allocate every buffer."""
        import numpy as np

        mujoco, rollout = MUJOCO.load(), MUJOCO.load("mujoco.rollout")
        super().__init__(mujoco, source, request)
        threads = request.threads
        self._models = [self._model] * request.num_envs
        self._data = [mujoco.MjData(self._model) for _ in range(threads)]
        self._pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._trajectory = np.zeros((request.num_envs, request.substeps, self._start.size))

    def dispatch(self, controls: Any) -> Any:
        """Step all rows; return the clock of each."""
        self._pool.rollout(
            self._models,
            self._data,
            self._state,
            self.hold(controls),
            skip_checks=True,
            nstep=self._nstep,
            state=self._trajectory,
        )
        self._state[:] = self._trajectory[:, -1]
        return self._state[:, 0]

    def close(self) -> None:
        """Stop the pool."""
        self._pool.close()


def import_framework(**_options: object) -> None:
    """Import MuJoCo."""
    MUJOCO.load("mujoco.rollout")


def build(
    num_envs: int,
    seed: int,  # noqa: ARG001 - every row begins alike, and the actions have a seed of their own
    target: str,
    context: BuildContext,
    *,
    substeps: int = 1,
    threads: int | None = None,
    keyframe: str | int | None = None,
) -> PhysicsWorkload:
    """Build a batch of one model.

    Args:
        num_envs: rows.
        seed: not used.
        target: path of an MJCF file, or the name of a model that comes with envdyno.
        context: tells the threads.
        substeps: physics steps in a vector step.
        threads: size of the pool; the placement's when not given.
        keyframe: name or number of the state to begin from.

    Raises:
        WorkloadError: the model cannot be read, or a value cannot be.
    """
    options = {"substeps": substeps, "threads": threads, "keyframe": keyframe}
    return physics_workload("mujoco_rollout", RolloutEngine, num_envs, target, context, **options)
