"""mujoco-uni-runtime's ``BatchEnvPool``: any MJCF file, physics only.

The pool takes full physics states and returns those after the last substep; like ``mujoco.rollout`` it begins
every vector step without a warm start.
"""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.mujoco_batch import MujocoStates
from envdyno.agent.workloads.physics import BatchRequest, ModelSource, PhysicsWorkload, physics_workload

FRAMEWORK = Framework.of("mujoco_uni", "mujoco_uni")


class UniEngine(MujocoStates):
    """A batch in a ``BatchEnvPool``."""

    package = "mujoco_uni"
    modules = ("mujoco_uni", "mujoco")

    def __init__(self, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model and make the pool."""
        pool_class = FRAMEWORK.load("mujoco_uni.batch_env").BatchEnvPool
        super().__init__(FRAMEWORK.load("mujoco"), source, request)
        pins = {"cpu_ids": list(request.cpus)} if request.cpus else {}
        self._pool = pool_class(self._model, nbatch=request.num_envs, nthread=request.threads, **pins)

    def dispatch(self, controls: Any) -> Any:
        """Step all rows; return the clock of each."""
        self._state = self._pool.step(self._state, nstep=self._nstep, control=self.hold(controls))
        return self._state[:, 0]

    def close(self) -> None:
        """Stop the pool."""
        self._pool.close()


def import_framework(**_options: object) -> None:
    """Import the runtime, and MuJoCo with it."""
    FRAMEWORK.load("mujoco_uni.batch_env")


def build(
    num_envs: int,
    seed: int,  # noqa: ARG001 - every row begins alike, and the actions have a seed of their own
    target: str,
    context: BuildContext,
    *,
    substeps: int = 1,
    threads: int | None = None,
    pin: bool = False,
    keyframe: str | int | None = None,
) -> PhysicsWorkload:
    """Build a batch of one model; options as those of ``mujoco_rollout``.

    ``pin`` pins each thread of the pool to one CPU of the placement.

    Raises:
        WorkloadError: the model cannot be read, or a value cannot be.
    """
    options = {"substeps": substeps, "threads": threads, "pin": pin, "keyframe": keyframe}
    return physics_workload("mujoco_uni", UniEngine, num_envs, target, context, **options)
