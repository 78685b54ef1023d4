"""Both engines keep the contract, and agree where physics leaves no choice."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest

from envdyno.suite.engines.contract import Engine, EngineMissingError, EngineRequest, Readout
from envdyno.suite.engines.load import EngineName, make_engine
from envdyno.suite.robots.g1 import G1

ENGINES = pytest.mark.parametrize("name", list(EngineName), ids=lambda name: name.value)
BODIES = ("pelvis", "left_knee_link", "torso_link", "right_wrist_yaw_link")
ROWS = 4


def engine_of(name: EngineName, threads: int = 1) -> Engine:
    readout = Readout(feet=G1.feet, bodies=BODIES)
    return make_engine(name, EngineRequest(G1, ROWS, threads, 0.005, 3, readout))


def some_states(count: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    qpos = np.zeros((count, 36), np.float32)
    qpos[:, :3] = generator.uniform(0.5, 1.5, (count, 3))
    quaternion = generator.normal(size=(count, 4))
    qpos[:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    qpos[:, 7:] = np.asarray(G1.default_pose) + generator.uniform(-0.1, 0.1, (count, 29))
    return qpos, generator.normal(size=(count, 35)).astype(np.float32)


def test_both_engines_derive_the_same_feet_and_bodies_from_the_same_state():
    qpos, qvel = some_states(ROWS)
    one, other = engine_of(EngineName.MUJOCO), engine_of(EngineName.MOTRIX)
    for engine in (one, other):
        engine.write_state(np.arange(ROWS), qpos, qvel, derive=True)
    for quantity in (
        "foot_position",
        "foot_velocity",
        "body_position",
        "body_linear_velocity",
        "body_angular_velocity",
    ):
        np.testing.assert_allclose(getattr(one, quantity), getattr(other, quantity), atol=2e-5)
    cosine = np.abs(np.einsum("nbi,nbi->nb", one.body_quaternion, other.body_quaternion))
    np.testing.assert_allclose(cosine, 1.0, atol=1e-5)
    np.testing.assert_allclose(one.joint_range, other.joint_range, atol=1e-5)


@ENGINES
def test_writing_some_rows_leaves_the_others_as_they_were(name):
    engine = engine_of(name)
    qpos, qvel = some_states(ROWS)
    engine.write_state(np.arange(ROWS), qpos, qvel, derive=True)
    fresh, still = some_states(2)[0] + np.float32(0.0), np.zeros((2, 35), np.float32)
    fresh[:, 2] += 1.0
    engine.write_state(np.array([1, 3]), fresh, still, derive=True)
    np.testing.assert_array_equal(engine.qpos[[0, 2]], qpos[[0, 2]])
    np.testing.assert_array_equal(engine.qpos[[1, 3]], fresh)
    np.testing.assert_allclose(engine.body_position[[1, 3], 0], fresh[:, :3], atol=1e-6)


@ENGINES
def test_contacts_are_those_of_robots_that_touch_something(name):
    engine = engine_of(name)
    qpos = np.tile(some_states(1)[0], (ROWS, 1))
    qpos[:, :3], qpos[:, 3:7] = (0.0, 0.0, 5.0), (1.0, 0.0, 0.0, 0.0)
    still = np.zeros((ROWS, 35), np.float32)
    targets = qpos[:, 7:].copy()
    engine.write_state(np.arange(ROWS), qpos, still, derive=True)
    engine.step(targets)
    in_the_air = engine.contacts_now()
    qpos[1, 2] = 0.7  # feet in the ground
    engine.write_state(np.arange(ROWS), qpos, still, derive=True)
    engine.step(targets)
    before = engine.qpos.copy()
    with_one_down = engine.contacts_now()
    assert in_the_air.rows == with_one_down.rows == ROWS
    assert with_one_down.contacts > in_the_air.contacts
    np.testing.assert_array_equal(engine.qpos, before)


@ENGINES
def test_a_push_changes_the_velocity_of_its_rows_only(name):
    engine = engine_of(name)
    qpos, qvel = some_states(ROWS)
    engine.write_state(np.arange(ROWS), qpos, qvel, derive=False)
    engine.push(np.array([2]), np.array([[0.5, -0.25, 0.0]], np.float32))
    expected = qvel.copy()
    expected[2, :2] += (0.5, -0.25)
    np.testing.assert_allclose(engine.qvel, expected, atol=1e-6)


@ENGINES
@pytest.mark.parametrize("substepped", [False, True])
def test_a_row_that_diverges_is_named_and_put_back(name, substepped):
    engine = engine_of(name)
    qpos, qvel = some_states(ROWS)
    qvel[:] = 0.0
    engine.write_state(np.arange(ROWS), qpos, qvel, derive=False)
    targets = np.tile(np.asarray(G1.default_pose, np.float32), (ROWS, 1))
    targets[1, 4] = np.nan
    (engine.substep if substepped else engine.step)(targets)
    assert engine.diverged.tolist() == [False, True, False, False]
    np.testing.assert_allclose(engine.qpos[1], qpos[1], atol=1e-6)
    assert np.isfinite(engine.qpos).all()
    assert not np.allclose(engine.qpos[0], qpos[0], atol=1e-6)
    targets[1, 4] = 0.0
    engine.step(targets)
    assert not engine.diverged.any()


@ENGINES
def test_a_runaway_row_is_named_and_its_neighbours_step_on(name):
    engine = engine_of(name)
    qpos, qvel = some_states(ROWS)
    qvel[0] = 0.0
    qvel[2, 7] = 1e12 if name is EngineName.MUJOCO else 9e2
    engine.write_state(np.arange(ROWS), qpos, qvel, derive=False)
    targets = np.tile(np.asarray(G1.default_pose, np.float32), (ROWS, 1))
    engine.step(targets)
    assert np.isfinite(engine.qvel).all()
    assert not engine.diverged[0]
    if name is EngineName.MUJOCO:
        assert engine.diverged[2]


@ENGINES
def test_substeps_in_dispatches_of_their_own_do_the_same_work(name):
    engine = engine_of(name)
    targets = np.tile(np.asarray(G1.default_pose, np.float32), (ROWS, 1))
    engine.step(targets)
    assert (engine.dispatches, engine.substeps_done) == (1, 3 * ROWS)
    for _ in range(3):
        engine.substep(targets)
    assert (engine.dispatches, engine.substeps_done) == (4, 6 * ROWS)


def test_mujoco_gives_the_same_bits_for_any_number_of_threads():
    qpos, qvel = some_states(ROWS)
    targets = np.tile(np.asarray(G1.default_pose, np.float32), (ROWS, 1))
    results = []
    for threads in (1, 2, 3):
        engine = engine_of(EngineName.MUJOCO, threads)
        engine.write_state(np.arange(ROWS), qpos, qvel, derive=False)
        for _ in range(20):
            engine.step(targets)
        results.append(engine.qpos.tobytes() + engine.qvel.tobytes() + engine.foot_force.tobytes())
        engine.close()
    assert results[0] == results[1] == results[2]


def test_mujoco_writes_no_log_file_when_a_row_diverges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = engine_of(EngineName.MUJOCO)
    engine.step(np.full((ROWS, 29), np.nan, np.float32))
    assert engine.diverged.all()
    assert list(tmp_path.iterdir()) == []


def test_an_engine_that_is_not_installed_names_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "envdyno.suite.engines.motrix", raising=False)
    monkeypatch.delitem(sys.modules, "motrixsim", raising=False)
    found = builtins.__import__

    def refuse(module: str, *args: object, **kwargs: object) -> object:
        if module == "motrixsim":
            raise ModuleNotFoundError("No module named 'motrixsim'", name="motrixsim")
        return found(module, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(EngineMissingError, match=r"pip install 'motrixsim>=0\.10'"):
        engine_of(EngineName.MOTRIX)
