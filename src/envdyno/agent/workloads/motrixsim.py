"""MotrixSim: a batch of one model in its own engine; any MJCF file, physics only.

Facts that this file rests on, each seen with motrixsim 0.10:

- one thread pool a process. Left alone it pins one worker to each CPU, so that one busy neighbour stalls
  every step; ``init_thread_pool`` before any model is loaded gives a pool without pins;
- what properties return are copies, so arrays are assigned whole;
- velocities that run away do not come back as NaN, they end the process in a panic: such rows are put back
  to the start state, and counted;
- a contact query tells the number of contacts of every row, as the last step found them;
- MJCF's solver, integrator and cone are ignored, with a message on stdout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.contract import ArraySpec, BuildContext, ContactSample
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.physics import (
    BatchRequest,
    ModelSource,
    PhysicsWorkload,
    physics_spec,
    physics_workload,
)
from envdyno.agent.workloads.registry import WorkloadError

FRAMEWORK = Framework.of("motrixsim", "motrixsim")
RUNAWAY = 1e3
"""m/s or rad/s; no robot moves like this, and MotrixSim panics not far beyond."""


class MotrixSimEngine:
    """A batch in MotrixSim; see :class:`envdyno.agent.workloads.physics.BatchEngine`."""

    def __init__(self, source: ModelSource, request: BatchRequest) -> None:
        """Make the pool, load the model and allocate the batch."""
        import numpy as np

        motrixsim = FRAMEWORK.load()
        self._np, self._motrixsim = np, motrixsim
        _make_pool(motrixsim, request)
        self._model = _load(motrixsim, source)
        self._data: Any = motrixsim.SceneData(self._model, batch=[request.num_envs])
        start = np.asarray(self._model.compute_init_dof_pos(), np.float32)
        if request.keyframe is not None:
            start = self._keyframe(request.keyframe)
        self._start = start, np.zeros(self._model.num_dof_vel, np.float32)
        self._data.reset(self._model, *self._start)
        self._has_controls = self._model.num_actuators > 0
        self._nstep = request.substeps
        timestep_s = float(self._model.options.timestep)
        self.spec = physics_spec(
            request,
            source,
            "motrixsim",
            ("motrixsim",),
            action=_control_spec(self._model),
            observation={
                "dof_pos": ArraySpec((int(self._model.num_dof_pos),)),
                "dof_vel": ArraySpec((int(self._model.num_dof_vel),)),
            },
            step_dt_s=timestep_s * request.substeps,
            details={
                "nq": int(self._model.num_dof_pos),
                "nv": int(self._model.num_dof_vel),
                "nu": int(self._model.num_actuators),
                "timestep_s": timestep_s,
                "warm_start": True,
            },
        )
        self._position, self._velocity = self._data.dof_pos, self._data.dof_vel

    def _keyframe(self, keyframe: str | int) -> Any:
        frames = list(self._model.keyframes)
        names = [frame.name for frame in frames]
        if keyframe in names:
            return self._np.asarray(frames[names.index(str(keyframe))].dof_pos, self._np.float32)
        if isinstance(keyframe, int) and 0 <= keyframe < len(frames):
            return self._np.asarray(frames[keyframe].dof_pos, self._np.float32)
        has = ", ".join(str(name or index) for index, name in enumerate(names)) or "none"
        raise WorkloadError(f"The model has no keyframe {keyframe!r}; it has: {has}.")

    def advance(self, controls: Any) -> int:
        """Step all rows in one dispatch, and read their states back."""
        np, data = self._np, self._data
        if self._has_controls:
            data.actuator_ctrls = controls
        self._model.step_n(data, self._nstep)
        self._position, self._velocity = data.dof_pos, data.dof_vel
        # One comparison for both: not below the limit is true for NaN as well.
        unstable = ~(np.abs(self._velocity).max(axis=1) < RUNAWAY)
        rows = int(np.count_nonzero(unstable))
        if rows:
            selected = self._motrixsim.DisjointIndices(np.flatnonzero(unstable))
            data[selected].reset(self._model, *(np.tile(part, (rows, 1)) for part in self._start))
        return rows

    def state(self) -> Mapping[str, Any]:
        """Return positions (quaternions scalar last) and velocities."""
        return {"dof_pos": self._position, "dof_vel": self._velocity}

    def contacts_now(self) -> ContactSample:
        """Return the contacts that the last substep of each row found."""
        found = self._model.get_contact_query(self._data).num_contacts
        return ContactSample(int(found.sum()), len(found))

    def close(self) -> None:
        """Drop the batch; the pool lives as long as the process."""
        self._data = None


def _make_pool(motrixsim: Any, request: BatchRequest) -> None:
    pins = {"core_ids": list(request.cpus)} if request.cpus else {}
    try:
        motrixsim.init_thread_pool(num_threads=request.threads, **pins)
    except RuntimeError as error:
        raise WorkloadError(
            f"MotrixSim has one thread pool a process, and it cannot be made with {request.threads} threads "
            f"now: {error}"
        ) from error


def _load(motrixsim: Any, source: ModelSource) -> Any:
    try:
        if source.path is None:
            return motrixsim.load_mjcf_str(source.text)
        return motrixsim.load_model(str(source.path))
    except RuntimeError as error:
        raise WorkloadError(f"MotrixSim cannot read {source.name}: {error}") from error


def _control_spec(model: Any) -> ArraySpec | None:
    if model.num_actuators == 0:
        return None
    low, high = model.actuator_ctrl_limits
    return ArraySpec((int(model.num_actuators),), "float32", low.tolist(), high.tolist())


def import_framework(**_options: object) -> None:
    """Import MotrixSim."""
    FRAMEWORK.load()


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

    ``pin`` pins each thread of the pool to one CPU of the placement, as MotrixSim does when left alone.

    Raises:
        WorkloadError: the model cannot be read, or a value cannot be.
    """
    options = {"substeps": substeps, "threads": threads, "pin": pin, "keyframe": keyframe}
    return physics_workload("motrixsim", MotrixSimEngine, num_envs, target, context, **options)
