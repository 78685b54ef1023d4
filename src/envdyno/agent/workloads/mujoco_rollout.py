"""MuJoCo's own batch stepper, ``mujoco.rollout``: any MJCF file, physics only.

``rollout`` takes full physics states, holds the controls over ``substeps`` steps and returns the states on
the way, of which the last is handed in again. The solver begins every vector step without a warm start,
for ``rollout`` does not return the forces that it would begin from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.mujoco_models import (
    MUJOCO,
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


class RolloutEngine:
    """A batch in ``mujoco.rollout``; see :class:`envdyno.agent.workloads.physics.BatchEngine`."""

    def __init__(self, mujoco: Any, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model and allocate every buffer."""
        import numpy as np

        rollout = MUJOCO.load("mujoco.rollout")
        num_envs, substeps, threads = request.num_envs, request.substeps, request.threads
        quieten_warnings(mujoco)
        model = load_model(mujoco, source)
        parts = spec_parts(mujoco, model, request, warm_start=False)
        self.spec = physics_spec(request, source, "mujoco.rollout", ("mujoco",), **parts)
        start = start_state(mujoco, model, request.keyframe)
        self._model = model
        self._models = [model] * num_envs
        self._data = [mujoco.MjData(model) for _ in range(threads)]
        self._pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._state = np.tile(start, (num_envs, 1))
        self._trajectory = np.zeros((num_envs, substeps, start.size))
        self._controls = np.zeros((num_envs, substeps, model.nu)) if model.nu else None
        self._nstep = substeps
        self._clocks = Clocks(num_envs, parts["step_dt_s"], float(start[0]))

    def advance(self, controls: Any) -> int:
        """Step all rows in one dispatch."""
        if self._controls is not None:
            self._controls[:] = controls[:, None, :]
        self._pool.rollout(
            self._models,
            self._data,
            self._state,
            self._controls,
            skip_checks=True,
            nstep=self._nstep,
            state=self._trajectory,
        )
        self._state[:] = self._trajectory[:, -1]
        return self._clocks.behind(self._state[:, 0])

    def steps_by_clocks(self) -> int:
        """Return the transitions that the simulated time of all rows amounts to."""
        return self._clocks.steps()

    def state(self) -> Mapping[str, Any]:
        """Return positions and velocities."""
        split = 1 + self._model.nq
        return {
            "qpos": self._state[:, 1:split],
            "qvel": self._state[:, split : split + self._model.nv],
        }

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
    mujoco = MUJOCO.load()
    request = batch_request(
        "mujoco_rollout", num_envs, context, substeps=substeps, threads=threads, keyframe=keyframe
    )
    engine = RolloutEngine(mujoco, model_source("mujoco_rollout", target), request)
    return PhysicsWorkload(engine, request.substeps)
