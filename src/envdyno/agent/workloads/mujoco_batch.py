"""What engines share that step batches of MuJoCo's own ``MjModel``: the model, its clocks, its contacts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from envdyno.agent.workloads.contract import ContactSample
from envdyno.agent.workloads.mujoco_contacts import mujoco_contacts
from envdyno.agent.workloads.mujoco_models import (
    Clocks,
    load_model,
    quieten_warnings,
    spec_parts,
    start_state,
)
from envdyno.agent.workloads.physics import BatchRequest, ModelSource, physics_spec


class MujocoBatch(ABC):
    """A batch of one ``MjModel``; see :class:`envdyno.agent.workloads.physics.BatchEngine`."""

    package: ClassVar[str]
    """Name of the batch stepper."""
    modules: ClassVar[tuple[str, ...]]
    """Modules whose code is measured."""
    warm_start: ClassVar[bool]
    """Whether the solver begins a vector step from the forces of the step before."""

    def __init__(self, mujoco: Any, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model."""
        self._mujoco = mujoco
        self._model = load_model(mujoco, source)
        parts = spec_parts(mujoco, self._model, request, warm_start=self.warm_start)
        self.spec = physics_spec(request, source, self.package, self.modules, **parts)
        self._nstep = request.substeps
        self._start = start_state(mujoco, self._model, request.keyframe)
        self._clocks = Clocks(request.num_envs, parts["step_dt_s"], float(self._start[0]))

    @abstractmethod
    def dispatch(self, controls: Any) -> Any:
        """Step all rows in one dispatch; return the clock of each."""

    @abstractmethod
    def state(self) -> Mapping[str, Any]:
        """Return positions and velocities."""

    def advance(self, controls: Any) -> int:
        """Take all substeps with the controls held; return the rows that became unstable."""
        return self._clocks.behind(self.dispatch(controls))

    def steps_by_clocks(self) -> int:
        """Return the transitions that the simulated time of all rows amounts to."""
        return self._clocks.steps()

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the latest states."""
        return mujoco_contacts(self._mujoco, self._model, self.state()["qpos"])


class MujocoStates(MujocoBatch):
    """A batch whose stepper takes full physics states, and one row of controls for every substep.

    A state is ``[time, qpos, qvel, act]`` (``mjSTATE_FULLPHYSICS``), without the forces that the solver would
    begin from.
    """

    warm_start = False

    def __init__(self, mujoco: Any, source: ModelSource, request: BatchRequest) -> None:
        """Compile the model, and allocate states and controls."""
        import numpy as np

        quieten_warnings(mujoco)
        super().__init__(mujoco, source, request)
        nu = self._model.nu
        self._state: Any = np.tile(self._start, (request.num_envs, 1))
        self._controls = np.zeros((request.num_envs, request.substeps, nu)) if nu else None

    def hold(self, controls: Any) -> Any:
        """Return the controls, the same for every substep; ``None`` for a model without actuators."""
        if self._controls is not None:
            self._controls[:] = controls[:, None, :]
        return self._controls

    def state(self) -> Mapping[str, Any]:
        """Return positions and velocities."""
        split = 1 + self._model.nq
        return {"qpos": self._state[:, 1:split], "qvel": self._state[:, split : split + self._model.nv]}
