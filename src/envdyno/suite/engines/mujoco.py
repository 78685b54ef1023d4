"""MuJoCo, stepped in batches by the official ``mujoco.rollout`` thread pool.

``rollout`` is made for open-loop trajectories: it takes full physics states, runs some steps and returns
every state on the way. Held control over the substeps of one control step is such a trajectory of
``substeps`` states, of which the last is kept and handed in again. Facts that this file rests on:

- a state row is ``[time, qpos, qvel, act]`` (``mjSTATE_FULLPHYSICS``), 64 bit;
- every row starts from a cold solver (``qacc_warmstart`` zero), so results depend neither on the row's
  thread nor on its neighbours: bit for bit the same for any thread count;
- a row that goes bad does not come back as NaN. MuJoCo resets it to the model's initial state, time zero,
  and ``rollout`` repeats that state for the rest of the trajectory. The row's clock gives it away.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from envdyno.agent.workloads.contract import ContactSample
from envdyno.agent.workloads.mujoco_contacts import mujoco_contacts
from envdyno.suite.arrays import DoubleArray, FloatArray, RowArray
from envdyno.suite.engines.contract import EngineRequest, Readout

_START_S = 1.0
"""Every step starts at this time: a clock below it afterwards has been reset."""


class MujocoEngine:
    """A batch of MuJoCo simulations; see :class:`envdyno.suite.engines.contract.Engine`."""

    name = "mujoco"
    package = "mujoco"

    def __init__(self, request: EngineRequest) -> None:
        """Compile the robot and allocate every buffer."""
        num_envs, substeps = request.num_envs, request.substeps
        self._substep_s, self._substeps, self._num_envs = request.substep_s, substeps, num_envs
        self.threads = max(1, request.threads)
        _quieten_warnings()
        model = mujoco.MjModel.from_xml_string(_with_sensors(request.robot.xml(), request.readout))
        model.opt.timestep = request.substep_s
        self.model = model
        self.settings = _settings(model)
        # rollout wants one model a row; they are all the same object.
        self._models = [model] * num_envs
        self._data = [mujoco.MjData(model) for _ in range(self.threads)]
        self._pool = rollout.Rollout(nthread=self.threads if self.threads > 1 else 0)
        size = mujoco.mj_stateSize(model, int(mujoco.mjtState.mjSTATE_FULLPHYSICS))
        self._qpos_columns = slice(1, 1 + model.nq)
        self._qvel_columns = slice(1 + model.nq, 1 + model.nq + model.nv)
        self._state: DoubleArray = np.zeros((num_envs, size))
        self._state[:, self._qpos_columns] = model.qpos0
        self._state[:, 0] = _START_S
        self._buffers = {count: _Trajectory(model, num_envs, count, size) for count in {1, substeps}}
        self.joint_range = np.ascontiguousarray(model.jnt_range[1:].T, np.float32)
        self._row_scratch = np.empty(num_envs)
        self.qpos = self._state[:, self._qpos_columns].astype(np.float32)
        self.qvel = self._state[:, self._qvel_columns].astype(np.float32)
        self._sensors = _SensorArrays(num_envs, request.readout)
        self.foot_position = self._sensors.foot_position
        self.foot_velocity = self._sensors.foot_velocity
        self.foot_force = self._sensors.foot_force
        self.body_position = self._sensors.body_position
        self.body_quaternion = self._sensors.body_quaternion
        self.body_linear_velocity = self._sensors.body_linear_velocity
        self.body_angular_velocity = self._sensors.body_angular_velocity
        self.diverged = np.zeros(num_envs, bool)
        self.substeps_done = 0
        self.dispatches = 0

    def step(self, targets: FloatArray) -> None:
        """Advance all substeps in one dispatch."""
        self._advance(targets, self._substeps)

    def substep(self, targets: FloatArray) -> None:
        """Advance one substep in a dispatch of its own."""
        self._advance(targets, 1)

    def _advance(self, targets: FloatArray, substeps: int) -> None:
        buffer = self._buffers[substeps]
        buffer.control[:] = targets[:, None, :]
        self._pool.rollout(
            self._models,
            self._data,
            self._state,
            buffer.control,
            skip_checks=True,
            nstep=substeps,
            state=buffer.state,
            sensordata=buffer.sensors,
        )
        self.substeps_done += substeps * self._num_envs
        self.dispatches += 1
        self._find_diverged(targets, buffer.state, substeps)
        self._state[:] = buffer.state[:, -1]
        self._state[:, 0] = _START_S
        self.qpos[:] = self._state[:, self._qpos_columns]
        self.qvel[:] = self._state[:, self._qvel_columns]
        if buffer.sensors is not None:
            self._sensors.take(buffer.sensors[:, -1])

    def _find_diverged(self, targets: FloatArray, trajectory: DoubleArray, substeps: int) -> None:
        after, total = trajectory[:, -1], self._row_scratch
        np.less(after[:, 0], _START_S + (substeps - 0.5) * self._substep_s, out=self.diverged)
        # A sum is finite only if every entry is: one pass, and no array of flags.
        np.einsum("ij->i", after, out=total)
        total += np.einsum("ij->i", targets)
        self.diverged |= ~np.isfinite(total)
        if self.diverged.any():
            after[self.diverged] = self._state[self.diverged]

    def write_state(self, rows: RowArray, qpos: FloatArray, qvel: FloatArray, *, derive: bool) -> None:
        """Overwrite the state of ``rows``."""
        self._state[rows, self._qpos_columns] = qpos
        self._state[rows, self._qvel_columns] = qvel
        self.qpos[rows] = qpos
        self.qvel[rows] = qvel
        if derive and self.model.nsensordata:
            self._derive(rows)

    def _derive(self, rows: RowArray) -> None:
        # Sensors of a step are those of the state that it starts from, so one step that is thrown away is a
        # forward pass of the written rows in the pool's threads.
        count = len(rows)
        state = np.ascontiguousarray(self._state[rows])
        sensors = np.empty((count, 1, self.model.nsensordata))
        joints = slice(self._qpos_columns.start + 7, self._qpos_columns.stop)
        control = np.ascontiguousarray(state[:, None, joints])
        self._pool.rollout(
            self._models[:count],
            self._data,
            state,
            control,
            skip_checks=True,
            nstep=1,
            state=np.empty((count, 1, state.shape[1])),
            sensordata=sensors,
        )
        self._sensors.take(sensors[:, 0], rows)

    def push(self, rows: RowArray, velocity: FloatArray) -> None:
        """Add to the linear velocity of the base."""
        columns = slice(self._qvel_columns.start, self._qvel_columns.start + 3)
        self._state[rows, columns] += velocity
        self.qvel[rows, :3] = self._state[rows, columns]

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the latest states."""
        return mujoco_contacts(mujoco, self.model, self._state[:, self._qpos_columns])

    def close(self) -> None:
        """Stop the pool."""
        if self._pool.rollout_ is not None:
            self._pool.close()


class _Trajectory:
    """Input and output of one dispatch of ``substeps`` steps."""

    def __init__(self, model: Any, num_envs: int, substeps: int, state_size: int) -> None:
        self.control: DoubleArray = np.zeros((num_envs, substeps, model.nu))
        self.state: DoubleArray = np.zeros((num_envs, substeps, state_size))
        self.sensors: DoubleArray | None = (
            np.zeros((num_envs, substeps, model.nsensordata)) if model.nsensordata else None
        )


class _SensorArrays:
    """32-bit copies of the sensors, in the order in which :func:`_with_sensors` declares them."""

    def __init__(self, num_envs: int, readout: Readout) -> None:
        feet, bodies = len(readout.feet), len(readout.bodies)
        self.foot_position = np.zeros((num_envs, feet, 3), np.float32)
        self.foot_velocity = np.zeros((num_envs, feet, 3), np.float32)
        self.foot_force = np.zeros((num_envs, feet), np.float32)
        self.body_position = np.zeros((num_envs, bodies, 3), np.float32)
        self.body_quaternion = np.zeros((num_envs, bodies, 4), np.float32)
        self.body_linear_velocity = np.zeros((num_envs, bodies, 3), np.float32)
        self.body_angular_velocity = np.zeros((num_envs, bodies, 3), np.float32)
        self._flat = tuple(
            array.reshape(num_envs, -1)
            for array in (
                self.foot_position,
                self.foot_velocity,
                self.foot_force,
                self.body_position,
                self.body_quaternion,
                self.body_linear_velocity,
                self.body_angular_velocity,
            )
            if array.size
        )

    def take(self, sensors: DoubleArray, rows: RowArray | None = None) -> None:
        """Copy sensor rows to all environments, or to those of ``rows``."""
        start = 0
        for array in self._flat:
            stop = start + array.shape[1]
            array[slice(None) if rows is None else rows] = sensors[:, start:stop]
            start = stop


def _with_sensors(xml: str, readout: Readout) -> str:
    root = ET.fromstring(xml)  # noqa: S314 - a file of this package
    sensor = ET.SubElement(root, "sensor")
    for tag in ("framepos", "framelinvel"):
        for site in readout.feet:
            ET.SubElement(sensor, tag, objtype="site", objname=site)
    for site in readout.feet:
        ET.SubElement(sensor, "touch", site=site)
    for tag in ("framepos", "framequat", "framelinvel", "frameangvel"):
        for body in readout.bodies:
            # "xbody" is the body's own frame; "body" would be that of its inertia.
            ET.SubElement(sensor, tag, objtype="xbody", objname=body)
    return ET.tostring(root, encoding="unicode")


def _settings(model: Any) -> dict[str, str | int | float]:
    option = model.opt
    return {
        "precision": "float64",
        "solver": mujoco.mjtSolver(option.solver).name.removeprefix("mjSOL_").lower(),
        "integrator": mujoco.mjtIntegrator(option.integrator).name.removeprefix("mjINT_").lower(),
        "cone": mujoco.mjtCone(option.cone).name.removeprefix("mjCONE_").lower(),
        "solver_iterations": int(option.iterations),
        "line_search_iterations": int(option.ls_iterations),
        "solver_tolerance": float(option.tolerance),
    }


def _quieten_warnings() -> None:
    # By default MuJoCo appends a line to MUJOCO_LOG.TXT in the working directory for every environment that
    # goes bad. Those rows are found, counted and reported by the engine, so the file would only litter.
    mujoco.set_mju_user_warning(_ignore)


def _ignore(_message: str) -> None:
    pass
