"""MotrixSim, which steps a whole batch in one call.

Facts that this file rests on, each seen with motrixsim 0.10:

- one thread pool a process. Left alone it pins one worker to each CPU, so that one busy neighbour stalls
  every step; ``init_thread_pool(num_threads=...)`` before any model is loaded gives a pool without pins;
- quaternions are scalar last; velocities are as in MuJoCo, the base's angular velocity in its own axes;
- what properties return are copies, and writing into them is lost: arrays are assigned whole;
- state is 32 bit; links are posed at the start of the last substep, as in MuJoCo;
- NaN targets and runaway velocities do not come back as NaN, they end the process in a panic: such rows
  have to be caught before they are stepped;
- MJCF solver options are ignored with a message on stdout, and reset rows keep their cached solver state.
"""

from __future__ import annotations

import os
from typing import Any

import motrixsim
import numpy as np

from envdyno.agent.workloads.contract import ContactSample
from envdyno.suite.arrays import FloatArray, RowArray
from envdyno.suite.engines.contract import EngineRequest

_RUNAWAY = 1e3
"""m/s or rad/s; no robot moves like this, and MotrixSim panics not far beyond."""
_FROM_SCALAR_LAST = [6, 3, 4, 5]
_FROM_SCALAR_FIRST = [4, 5, 6, 3]


class MotrixEngine:
    """A batch of MotrixSim simulations; see :class:`envdyno.suite.engines.contract.Engine`."""

    name = "motrix"
    package = "motrixsim"

    def __init__(self, request: EngineRequest) -> None:
        """Load the robot and allocate every buffer."""
        self.threads = _thread_pool(request.threads)
        num_envs, joints = request.num_envs, request.robot.num_joints
        self._num_envs, self._substeps = num_envs, request.substeps
        self._model = motrixsim.load_mjcf_str(request.robot.xml())
        self._model.options.timestep = request.substep_s
        self.settings = {
            "precision": "float32",
            "solver_iterations": int(self._model.options.max_iterations),
            "solver_tolerance": float(self._model.options.solver_tolerance),
        }
        self._model.reports.contact_forces = bool(request.readout.feet)
        self._data = motrixsim.SceneData(self._model, batch=[num_envs])
        self.joint_range = np.ascontiguousarray(self._model.joint_limits, np.float32)
        self.qpos = np.zeros((num_envs, 7 + joints), np.float32)
        self.qvel = np.zeros((num_envs, 6 + joints), np.float32)
        self._links = _LinkArrays(self._model, request)
        self.foot_position = self._links.foot_position
        self.foot_velocity = self._links.foot_velocity
        self.foot_force = self._links.foot_force
        self.body_position = self._links.body_position
        self.body_quaternion = self._links.body_quaternion
        self.body_linear_velocity = self._links.body_linear_velocity
        self.body_angular_velocity = self._links.body_angular_velocity
        self.diverged = np.zeros(num_envs, bool)
        self.substeps_done = 0
        self.dispatches = 0
        self._read_state(self._data.dof_pos, self._data.dof_vel)

    def step(self, targets: FloatArray) -> None:
        """Advance all substeps in one dispatch."""
        self._advance(targets, self._substeps)

    def substep(self, targets: FloatArray) -> None:
        """Advance one substep in a dispatch of its own."""
        self._advance(targets, 1)

    def _advance(self, targets: FloatArray, substeps: int) -> None:
        self._data.actuator_ctrls = self._bounded(targets)
        self._model.step_n(self._data, substeps)
        self.substeps_done += substeps * self._num_envs
        self.dispatches += 1
        position, velocity = self._data.dof_pos, self._data.dof_vel
        largest = np.abs(velocity).max(axis=1)
        largest += np.einsum("ij->i", position) * np.float32(0.0)  # NaN where a position is not finite
        self.diverged |= ~(largest < _RUNAWAY)
        if self.diverged.any():
            self._put_back(np.flatnonzero(self.diverged), position, velocity)
        self._read_state(position, velocity)
        self._links.read(self._data)

    def _bounded(self, targets: FloatArray) -> FloatArray:
        """Clip targets to the joints' range, and replace those that are not finite."""
        bounded = np.clip(targets, self.joint_range[0], self.joint_range[1])
        finite = np.isfinite(np.einsum("ij->i", bounded))
        np.logical_not(finite, out=self.diverged)
        if self.diverged.any():
            bounded[self.diverged] = self.qpos[self.diverged, 7:]
        return bounded

    def _put_back(self, rows: RowArray, position: FloatArray, velocity: FloatArray) -> None:
        position[rows], velocity[rows] = _scalar_last(self.qpos[rows]), self.qvel[rows]
        self._data[motrixsim.DisjointIndices(rows)].reset(
            self._model, np.ascontiguousarray(position[rows]), np.ascontiguousarray(velocity[rows])
        )

    def _read_state(self, position: FloatArray, velocity: FloatArray) -> None:
        self.qpos[:] = position
        self.qpos[:, 3:7] = position[:, _FROM_SCALAR_LAST]
        self.qvel[:] = velocity

    def write_state(self, rows: RowArray, qpos: FloatArray, qvel: FloatArray, *, derive: bool) -> None:
        """Overwrite the state of ``rows``."""
        self.qpos[rows], self.qvel[rows] = qpos, qvel
        selected = self._data[motrixsim.DisjointIndices(rows)]
        selected.reset(
            self._model,
            _scalar_last(np.asarray(qpos, np.float32)),
            np.ascontiguousarray(qvel, np.float32),
            forward_kinematic=derive,
        )
        if derive:
            self._links.read_rows(selected, rows)

    def push(self, rows: RowArray, velocity: FloatArray) -> None:
        """Add to the linear velocity of the base."""
        self.qvel[rows, :3] += velocity
        whole = self._data.dof_vel
        whole[rows, :3] = self.qvel[rows, :3]
        self._data.set_dof_vel(whole)

    def contacts_now(self) -> ContactSample:
        """Return the contacts that the last substep of each row found."""
        found = self._model.get_contact_query(self._data).num_contacts
        return ContactSample(int(found.sum()), len(found))

    def close(self) -> None:
        """Drop the batch; MotrixSim's pool lives as long as the process."""
        self._data = self._links = None  # type: ignore[assignment]


class _LinkArrays:
    """Poses and velocities of links, and of feet fixed to links."""

    def __init__(self, model: Any, request: EngineRequest) -> None:
        num_envs, feet, bodies = request.num_envs, len(request.readout.feet), len(request.readout.bodies)
        self._model = model
        sites = [model.get_site(name) for name in request.readout.feet]
        self._foot_links = [model.get_link_index(site.parent_link.name) for site in sites]
        self._foot_offsets = np.array([site.local_pos for site in sites], np.float32).reshape(feet, 3)
        self._body_links = [model.get_link_index(name) for name in request.readout.bodies]
        self.foot_position = np.zeros((num_envs, feet, 3), np.float32)
        self.foot_velocity = np.zeros((num_envs, feet, 3), np.float32)
        self.foot_force = np.zeros((num_envs, feet), np.float32)
        self.body_position = np.zeros((num_envs, bodies, 3), np.float32)
        self.body_quaternion = np.zeros((num_envs, bodies, 4), np.float32)
        self.body_linear_velocity = np.zeros((num_envs, bodies, 3), np.float32)
        self.body_angular_velocity = np.zeros((num_envs, bodies, 3), np.float32)

    def read(self, data: Any) -> None:
        """Read every environment, after a step."""
        if self._body_links:
            self._model.get_link_states(
                data,
                self._body_links,
                "wxyz",
                self.body_position,
                self.body_quaternion,
                self.body_linear_velocity,
                self.body_angular_velocity,
            )
        if self._foot_links:
            self.foot_position[:], self.foot_velocity[:] = self._feet(data)
            wrench = self._model.get_link_net_contact_forces(data, self._foot_links)
            force = wrench[..., :3]
            np.sqrt(np.einsum("ijk,ijk->ij", force, force), out=self.foot_force)

    def read_rows(self, selected: Any, rows: RowArray) -> None:
        """Read rows whose state was just written; their contacts are known after the next step only."""
        if self._body_links:
            (
                self.body_position[rows],
                self.body_quaternion[rows],
                self.body_linear_velocity[rows],
                self.body_angular_velocity[rows],
            ) = self._model.get_link_states(selected, self._body_links, "wxyz")
        if self._foot_links:
            self.foot_position[rows], self.foot_velocity[rows] = self._feet(selected)
            self.foot_force[rows] = 0.0

    def _feet(self, data: Any) -> tuple[FloatArray, FloatArray]:
        position, _, linear, angular = self._model.get_link_states(data, self._foot_links)
        rotation = self._model.get_link_rotation_mats(data, self._foot_links)
        arm = np.einsum("nfij,fj->nfi", rotation, self._foot_offsets)
        return position + arm, linear + np.cross(angular, arm)


def _scalar_last(qpos: FloatArray) -> FloatArray:
    converted = np.array(qpos, np.float32)
    converted[:, 3:7] = qpos[:, _FROM_SCALAR_FIRST]
    return converted


def _thread_pool(threads: int) -> int:
    """Make the process's pool, and return its size: that of the first caller, for it never changes."""
    global _pool_size
    if _pool_size is None:
        try:
            motrixsim.init_thread_pool(num_threads=threads)
            _pool_size = threads
        except RuntimeError:  # somebody else in this process was first, with one worker a CPU
            _pool_size = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return _pool_size or threads


_pool_size: int | None = None
