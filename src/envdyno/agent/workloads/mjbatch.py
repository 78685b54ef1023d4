"""mjbatch: MuJoCo simulations on a C++ thread pool with live arrays; any MJCF file, physics only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.mujoco_models import Clocks, keyframe_index, load_model, spec_parts
from envdyno.agent.workloads.physics import (
    BatchRequest,
    ModelSource,
    PhysicsWorkload,
    batch_request,
    model_source,
    physics_spec,
)

FRAMEWORK = Framework(
    "mjbatch", "mjbatch", "mjbatch", install="pip install 'mjbatch>=0.1.4'", at_least="0.1.4"
)


class MjbatchEngine:
    """A batch in mjbatch; see :class:`envdyno.agent.workloads.physics.BatchEngine`."""

    def __init__(self, mjbatch: Any, mujoco: Any, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model and bind the arrays."""
        model = load_model(mujoco, source)
        parts = spec_parts(mujoco, model, request, warm_start=True)
        self.spec = physics_spec(request, source, "mjbatch", ("mjbatch", "mujoco"), **parts)
        # Left alone it makes a thread for every CPU of the machine, also those that it may not use.
        self._batch: Any = mjbatch.Batch(model, num_sims=request.num_envs, num_threads=request.threads)
        self._arrays = {name: self._batch.bind(name) for name in ("qpos", "qvel")}
        self._controls = self._batch.bind("ctrl") if model.nu else None
        self._time = self._batch.bind("time")
        if request.keyframe is not None:
            self._batch.reset(keyframe=keyframe_index(mujoco, model, request.keyframe))
        self._nstep = request.substeps
        self._clocks = Clocks(request.num_envs, parts["step_dt_s"], float(self._time[0]))

    def advance(self, controls: Any) -> int:
        """Step all rows in one dispatch."""
        if self._controls is not None:
            self._controls[:] = controls
        self._batch.step(nstep=self._nstep)
        return self._clocks.behind(self._time)

    def steps_by_clocks(self) -> int:
        """Return the transitions that the simulated time of all rows amounts to."""
        return self._clocks.steps()

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
    mjbatch, mujoco = FRAMEWORK.load(), FRAMEWORK.load("mujoco")
    request = batch_request(
        "mjbatch", num_envs, context, substeps=substeps, threads=threads, keyframe=keyframe
    )
    engine = MjbatchEngine(mjbatch, mujoco, model_source("mjbatch", target), request)
    return PhysicsWorkload(engine, request.substeps)
