"""The reference motion is what its generator makes, and a robot could do it."""

from __future__ import annotations

import numpy as np
import pytest

from envdyno.suite.engines.contract import EngineRequest
from envdyno.suite.engines.load import EngineName, make_engine
from envdyno.suite.motions.generate import FRAME_S, joint_angles
from envdyno.suite.motions.reference import FILE, load_motion
from envdyno.suite.robots.g1 import G1
from envdyno.suite.robots.go2 import GO2
from envdyno.suite.tasks.g1_motion_tracking import G1_MOTION_TRACKING


@pytest.fixture(scope="module")
def motion():
    size = G1_MOTION_TRACKING.size
    request = EngineRequest(G1, 64, 1, size.substep_s, size.substeps, size.readout)
    return load_motion(G1, size.step_s, make_engine(EngineName.MUJOCO, request))


def test_it_lasts_half_a_minute_and_more_and_is_stored_compactly(motion):
    assert motion.frames * FRAME_S >= 30.0
    assert FILE.stat().st_size < 100_000


def test_the_stored_file_is_what_the_generator_makes(motion):
    np.testing.assert_allclose(motion.qpos[:, 7:], joint_angles(), atol=1e-4)


def test_it_ends_as_it_begins(motion):
    steps = np.abs(np.diff(motion.qpos, axis=0)).max(axis=0)
    assert np.all(np.abs(motion.qpos[0] - motion.qpos[-1]) <= steps + 1e-4)


def test_the_feet_rest_on_the_ground_and_never_go_below_it(motion):
    feet = [
        index for index, name in enumerate(G1_MOTION_TRACKING.size.readout.bodies) if "ankle_roll" in name
    ]
    lowest = motion.body_position[:, feet, 2].min(axis=1)
    np.testing.assert_allclose(lowest, 0.035, atol=0.003)  # the sole lies 35 mm under the ankle


def test_joints_stay_within_their_ranges_and_move_as_fast_as_a_human(motion):
    request = EngineRequest(G1, 1, 1, 0.005, 1)
    low, high = make_engine(EngineName.MUJOCO, request).joint_range
    assert np.all((motion.qpos[:, 7:] >= low) & (motion.qpos[:, 7:] <= high))
    assert 2.0 < np.abs(motion.qvel[:, 6:]).max() < 8.0


def test_velocities_are_the_derivatives_of_positions(motion):
    moved = motion.body_position[2:] - motion.body_position[:-2]
    np.testing.assert_allclose(moved / (2 * FRAME_S), motion.body_linear_velocity[1:-1], atol=0.06)


def test_actions_reach_every_pose_of_the_motion(motion):
    needed = np.abs(motion.qpos[:, 7:] - np.asarray(G1.default_pose))
    assert np.all(needed.max(axis=0) <= np.asarray(G1_MOTION_TRACKING.action_scale))


def test_a_motion_of_another_robot_is_refused_with_what_to_do():
    engine = make_engine(EngineName.MUJOCO, EngineRequest(GO2, 1, 1, 0.01, 2))
    with pytest.raises(ValueError, match=r"does not fit go2.*motions\.generate"):
        load_motion(GO2, FRAME_S, engine)


def test_a_motion_file_that_holds_objects_is_refused(tmp_path):
    file = tmp_path / "evil.npz"
    np.savez(file, joints=np.array([{"run": "me"}], dtype=object), frame_s=np.float64(FRAME_S))
    engine = make_engine(EngineName.MUJOCO, EngineRequest(G1, 1, 1, 0.005, 3))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_motion(G1, FRAME_S, engine, file)


def test_following_the_reference_earns_more_than_holding_still(make):
    def total_reward(policy) -> float:
        environment = make("g1_motion_tracking", num_envs=32)
        return sum(environment.step(policy(environment)).reward_sum for _ in range(120))

    def follow(environment) -> np.ndarray:
        reference = environment.motion.qpos[environment.frame, 7:]
        pose, scale = np.asarray(G1.default_pose), np.asarray(G1_MOTION_TRACKING.action_scale)
        return ((reference - pose) / scale).astype(np.float32)

    assert total_reward(follow) > 1.05 * total_reward(lambda environment: np.zeros((32, 29), np.float32))
