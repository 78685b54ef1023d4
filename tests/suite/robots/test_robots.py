"""The robots are the real ones, in both engines."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from envdyno.suite.engines.contract import EngineRequest
from envdyno.suite.engines.load import EngineName, make_engine
from envdyno.suite.robots.g1 import G1
from envdyno.suite.robots.go2 import GO2

ROBOTS = pytest.mark.parametrize("robot", [GO2, G1], ids=lambda robot: robot.name)
ENGINES = pytest.mark.parametrize("engine", list(EngineName), ids=lambda engine: engine.value)
MASS_KG = {"go2": 15.019, "g1": 33.341}
SUBSTEP_S = {"go2": 0.01, "g1": 0.005}


@ROBOTS
def test_the_mass_is_that_of_the_makers_description(robot):
    model = mujoco.MjModel.from_xml_string(robot.xml())
    assert model.body_mass.sum() == pytest.approx(MASS_KG[robot.name], abs=1e-3)


@ROBOTS
def test_joints_and_actuators_come_in_the_declared_order(robot):
    model = mujoco.MjModel.from_xml_string(robot.xml())
    joints = [model.joint(index).name for index in range(1, model.njnt)]
    driven = [model.joint(model.actuator_trnid[index, 0]).name for index in range(model.nu)]
    assert tuple(joints) == robot.joints == tuple(driven)


@ROBOTS
def test_there_is_no_mesh(robot):
    model = mujoco.MjModel.from_xml_string(robot.xml())
    assert model.nmesh == 0
    assert "file=" not in robot.xml()


@ROBOTS
def test_the_default_pose_and_full_actions_about_it_stay_inside_the_joint_ranges_mostly(robot):
    model = mujoco.MjModel.from_xml_string(robot.xml())
    low, high = model.jnt_range[1:].T
    pose = np.array(robot.default_pose)
    assert np.all((low < pose) & (pose < high))
    assert len(robot.action_scale) == robot.num_joints
    assert min(robot.action_scale) > 0


def test_joint_ranges_are_the_makers():
    go2 = mujoco.MjModel.from_xml_string(GO2.xml())
    assert go2.joint("RL_thigh_joint").range == pytest.approx([-0.5236, 4.5379])
    assert go2.joint("FR_calf_joint").range == pytest.approx([-2.7227, -0.83776])
    g1 = mujoco.MjModel.from_xml_string(G1.xml())
    assert g1.joint("left_knee_joint").range == pytest.approx([-0.087267, 2.8798])
    assert g1.joint("right_shoulder_roll_joint").range == pytest.approx([-2.2515, 1.5882])


def test_left_and_right_of_the_humanoid_weigh_the_same():
    model = mujoco.MjModel.from_xml_string(G1.xml())
    for index in range(model.nbody):
        name = model.body(index).name
        if name.startswith("left_"):
            other = model.body(name.replace("left_", "right_")).id
            assert model.body_mass[index] == pytest.approx(model.body_mass[other])
            assert model.body_inertia[index] == pytest.approx(model.body_inertia[other], rel=5e-3)


@ENGINES
@ROBOTS
def test_a_robot_stands_under_its_default_pose_for_five_seconds(robot, engine):
    substep_s = SUBSTEP_S[robot.name]
    made = make_engine(engine, EngineRequest(robot, 2, 1, substep_s, 10))
    pose = np.tile(np.asarray(robot.default_pose, np.float32), (2, 1))
    qpos = np.zeros((2, 7 + robot.num_joints), np.float32)
    qpos[:, 2], qpos[:, 3], qpos[:, 7:] = robot.stand_height, 1.0, pose
    made.write_state(np.arange(2), qpos, np.zeros((2, 6 + robot.num_joints), np.float32), derive=False)
    for _ in range(round(5.0 / (10 * substep_s))):
        made.step(pose)
    assert made.qpos[:, 2].min() > 0.9 * robot.stand_height
    assert made.qpos[:, 3].min() > 0.98  # cosine of half the tilt
    made.close()
