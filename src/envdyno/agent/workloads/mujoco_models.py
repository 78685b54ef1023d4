"""Models for the engines that step MuJoCo's own ``MjModel``: loading, start states, unstable rows.

MuJoCo puts a row that became unstable back to its initial state, its clock to zero, and goes on
(``mjDSBL_AUTORESET``, mujoco/engine_forward.c): the row's clock gives it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.contract import ArraySpec
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.physics import BatchRequest, ModelSource
from envdyno.agent.workloads.registry import WorkloadError

MUJOCO = Framework.of("mujoco_rollout", "mujoco")


def quieten_warnings(mujoco: Any) -> None:
    """Keep MuJoCo from writing a line to ``MUJOCO_LOG.TXT`` for every row that becomes unstable.

    The rows are counted, and a file in the working folder would only litter. Not for packages that listen to
    the warnings themselves.
    """
    mujoco.set_mju_user_warning(lambda _message: None)


def load_model(mujoco: Any, source: ModelSource) -> Any:
    """Compile a model.

    Raises:
        WorkloadError: MuJoCo cannot read it; the text says why.
    """
    try:
        if source.path is None:
            return mujoco.MjModel.from_xml_string(source.text)
        return mujoco.MjModel.from_xml_path(str(source.path))
    except ValueError as error:
        raise WorkloadError(f"MuJoCo {mujoco.__version__} cannot read {source.name}: {error}") from error


def start_state(mujoco: Any, model: Any, keyframe: str | int | None) -> Any:
    """Return the full physics state that every row begins from.

    Raises:
        WorkloadError: the model has no such keyframe.
    """
    import numpy as np

    data = mujoco.MjData(model)
    if keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, keyframe_index(mujoco, model, keyframe))
    kind = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    return state


def keyframe_index(mujoco: Any, model: Any, keyframe: str | int) -> int:
    """Return the number of a keyframe given by name or number.

    Raises:
        WorkloadError: the model has no such keyframe.
    """
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, index) for index in range(model.nkey)]
    if keyframe in names:
        return names.index(str(keyframe))
    if isinstance(keyframe, int) and 0 <= keyframe < model.nkey:
        return keyframe
    has = ", ".join(str(name or index) for index, name in enumerate(names)) or "none"
    raise WorkloadError(f"The model has no keyframe {keyframe!r}; it has: {has}.")


def control_spec(model: Any) -> ArraySpec | None:
    """Return bounds of the controls, unlimited ones without; ``None`` for a model without actuators."""
    if model.nu == 0:
        return None
    limited = model.actuator_ctrllimited.astype(bool)
    low, high = (
        [float(bound) if has else sign * float("inf") for bound, has in zip(column, limited, strict=True)]
        for column, sign in zip(model.actuator_ctrlrange.T, (-1, 1), strict=True)
    )
    return ArraySpec((int(model.nu),), "float64", low, high)


def state_specs(model: Any) -> dict[str, ArraySpec]:
    """Return the parts of a row's state that are shown."""
    return {"qpos": ArraySpec((int(model.nq),), "float64"), "qvel": ArraySpec((int(model.nv),), "float64")}


def spec_parts(mujoco: Any, model: Any, request: BatchRequest, *, warm_start: bool) -> dict[str, Any]:
    """Return what a model fixes of the specification.

    Args:
        mujoco: the package.
        model: the compiled model.
        request: what is asked for.
        warm_start: whether the solver begins a vector step from the forces of the step before.
    """
    option = model.opt
    details: Mapping[str, Any] = {
        "nq": int(model.nq),
        "nv": int(model.nv),
        "nu": int(model.nu),
        "timestep_s": float(option.timestep),
        "solver": mujoco.mjtSolver(option.solver).name,
        "iterations": int(option.iterations),
        "integrator": mujoco.mjtIntegrator(option.integrator).name,
        "cone": mujoco.mjtCone(option.cone).name,
        "warm_start": warm_start,
    }
    return {
        "action": control_spec(model),
        "observation": state_specs(model),
        "step_dt_s": float(option.timestep) * request.substeps,
        "details": details,
    }


class Clocks:
    """Finds the rows that MuJoCo put back, by their clocks."""

    def __init__(self, num_envs: int, step_dt_s: float, start_s: float) -> None:
        """Begin with every clock at ``start_s``; a vector step is ``step_dt_s`` of simulated time."""
        import numpy as np

        self._np = np
        self._before = np.full(num_envs, start_s)
        self._least = np.empty(num_envs)
        self._step_s = 0.5 * step_dt_s
        self._step_dt_s, self._start_s = step_dt_s, start_s

    def steps(self) -> int:
        """Return the vector steps that all clocks together have moved on by since they were last put back."""
        moved = self._before - self._start_s
        return round(float(moved.sum()) / self._step_dt_s)

    def behind(self, times: Any) -> int:
        """Return how many clocks did not move on by a vector step; call it once in every step."""
        np = self._np
        np.add(self._before, self._step_s, out=self._least)
        rows = int(np.count_nonzero(times < self._least))
        self._before[:] = times
        return rows
