"""mjbatch: MuJoCo simulations on a C++ thread pool with live arrays; any MJCF file, physics only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.mujoco_batch import MujocoBatch
from envdyno.agent.workloads.mujoco_models import keyframe_index
from envdyno.agent.workloads.physics import BatchRequest, ModelSource, PhysicsWorkload, physics_workload

FRAMEWORK = Framework.of("mjbatch", "mjbatch")


class MjbatchEngine(MujocoBatch):
    """A batch in mjbatch."""

    package = "mjbatch"
    modules = ("mjbatch", "mujoco")
    warm_start = True

    def __init__(self, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model and bind the arrays."""
        mjbatch, mujoco = FRAMEWORK.load(), FRAMEWORK.load("mujoco")
        super().__init__(mujoco, source, request)
        # Left alone it makes a thread for every CPU of the machine, also those that it may not use.
        self._batch: Any = mjbatch.Batch(self._model, num_sims=request.num_envs, num_threads=request.threads)
        self._arrays = {name: self._batch.bind(name) for name in ("qpos", "qvel")}
        self._controls = self._batch.bind("ctrl") if self._model.nu else None
        self._time = self._batch.bind("time")
        if request.keyframe is not None:
            self._batch.reset(keyframe=keyframe_index(mujoco, self._model, request.keyframe))

    def dispatch(self, controls: Any) -> Any:
        """Step all rows; return the clock of each."""
        if self._controls is not None:
            self._controls[:] = controls
        self._batch.step(nstep=self._nstep)
        return self._time

    def state(self) -> Mapping[str, Any]:
        """Return positions and velocities."""
        return self._arrays

    def close(self) -> None:
        """Drop the batch, which ends its threads."""
        self._arrays = {}
        self._controls = self._time = self._batch = None


def import_framework(**_options: object) -> None:
    """Import mjbatch, and MuJoCo with it."""
    FRAMEWORK.load()


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
    """Build a batch of one model; options as those of ``mujoco_rollout``.

    Raises:
        WorkloadError: the model cannot be read, or a value cannot be.
    """
    options = {"substeps": substeps, "threads": threads, "keyframe": keyframe}
    return physics_workload("mjbatch", MjbatchEngine, num_envs, target, context, **options)
