"""mujoco-uni-runtime's ``BatchEnvPool``: any MJCF file, physics only.

The pool takes full physics states and returns those after the last substep; like ``mujoco.rollout`` it begins
every vector step without a warm start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.mujoco_models import (
    Clocks,
    load_model,
    quieten_warnings,
    spec_parts,
    start_state,
)
from envdyno.agent.workloads.physics import (
    BatchRequest,
    ModelSource,
    PhysicsWorkload,
    batch_request,
    model_source,
    physics_spec,
)

FRAMEWORK = Framework(
    "mujoco_uni",
    "mujoco_uni",
    "mujoco-uni-runtime",
    install="pip install 'mujoco-uni-runtime>=0.3'",
    at_least="0.3",
)


class UniEngine:
    """A batch in a ``BatchEnvPool``; see :class:`envdyno.agent.workloads.physics.BatchEngine`."""

    def __init__(self, pool_class: Any, mujoco: Any, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model and make the pool."""
        import numpy as np

        quieten_warnings(mujoco)
        model = load_model(mujoco, source)
        parts = spec_parts(mujoco, model, request, warm_start=False)
        self.spec = physics_spec(request, source, "mujoco_uni", ("mujoco_uni", "mujoco"), **parts)
        pins = {"cpu_ids": list(request.cpus)} if request.cpus else {}
        self._pool = pool_class(model, nbatch=request.num_envs, nthread=request.threads, **pins)
        start = start_state(mujoco, model, request.keyframe)
        self._model = model
        self._state: Any = np.tile(start, (request.num_envs, 1))
        self._controls = np.zeros((request.num_envs, request.substeps, model.nu)) if model.nu else None
        self._nstep = request.substeps
        self._clocks = Clocks(request.num_envs, parts["step_dt_s"], float(start[0]))

    def advance(self, controls: Any) -> int:
        """Step all rows in one dispatch."""
        if self._controls is not None:
            self._controls[:] = controls[:, None, :]
        self._state = self._pool.step(self._state, nstep=self._nstep, control=self._controls)
        return self._clocks.behind(self._state[:, 0])

    def steps_by_clocks(self) -> int:
        """Return the transitions that the simulated time of all rows amounts to."""
        return self._clocks.steps()

    def state(self) -> Mapping[str, Any]:
        """Return positions and velocities."""
        split = 1 + self._model.nq
        return {"qpos": self._state[:, 1:split], "qvel": self._state[:, split : split + self._model.nv]}

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
    pool_class = FRAMEWORK.load("mujoco_uni.batch_env").BatchEnvPool
    mujoco = FRAMEWORK.load("mujoco")
    request = batch_request(
        "mujoco_uni", num_envs, context, substeps=substeps, threads=threads, pin=pin, keyframe=keyframe
    )
    engine = UniEngine(pool_class, mujoco, model_source("mujoco_uni", target), request)
    return PhysicsWorkload(engine, request.substeps)
