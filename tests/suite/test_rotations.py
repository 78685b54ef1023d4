"""Batched rotations agree with MuJoCo's, one by one."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.suite import rotations

ANGLE = st.floats(-3.0, 3.0)
VECTOR = st.tuples(ANGLE, ANGLE, ANGLE)


@st.composite
def quaternions(draw) -> np.ndarray:
    parts = np.array(draw(st.tuples(ANGLE, ANGLE, ANGLE, ANGLE)))
    if np.linalg.norm(parts) < 0.1:
        parts = np.array([1.0, 0.0, 0.0, 0.0])
    return (parts / np.linalg.norm(parts)).astype(np.float32)


def matrix(quaternion: np.ndarray) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion.astype(np.float64))
    return flat.reshape(3, 3)


@given(quaternions(), VECTOR)
def test_rotating_inversely_is_the_transposed_matrix(quaternion, vector):
    world = np.array(vector, np.float32)
    local = rotations.rotate_inverse(quaternion[None], world[None])[0]
    np.testing.assert_allclose(local, matrix(quaternion).T @ world, atol=1e-5)


@given(quaternions())
def test_projected_gravity_is_the_last_row_of_the_matrix_downwards(quaternion):
    np.testing.assert_allclose(
        rotations.projected_gravity(quaternion[None])[0], -matrix(quaternion)[2], atol=1e-5
    )


@given(quaternions(), quaternions())
def test_multiplying_quaternions_multiplies_matrices(left, right):
    product = rotations.multiply(left[None], right[None])[0]
    np.testing.assert_allclose(matrix(product), matrix(left) @ matrix(right), atol=1e-5)


@given(quaternions())
def test_two_axes_are_two_columns_of_the_matrix(quaternion):
    np.testing.assert_allclose(
        rotations.two_axes(quaternion[None])[0], matrix(quaternion)[:, :2].ravel(), atol=1e-5
    )


@given(quaternions(), VECTOR)
def test_a_rotation_and_its_conjugate_cancel(quaternion, vector):
    world = np.array(vector, np.float32)[None]
    there = rotations.rotate_inverse(quaternion[None], world)
    back = rotations.rotate_inverse(rotations.conjugate(quaternion[None]), there)
    np.testing.assert_allclose(back, world, atol=1e-5)


@given(ANGLE, st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_the_heading_of_a_turn_about_the_vertical_survives_it(yaw, roll, pitch):
    turn = rotations.yaw_quaternion(np.array([yaw], np.float32))
    np.testing.assert_allclose(rotations.heading(turn)[0], [np.cos(yaw / 2), np.sin(yaw / 2)], atol=1e-5)
    euler = rotations.from_euler(*(np.array([angle], np.float32) for angle in (roll, pitch, yaw)))
    np.testing.assert_allclose(np.linalg.norm(rotations.heading(euler)), 1.0, atol=1e-5)


@pytest.mark.parametrize("angle", [0.0, 0.1, 1.0, 3.0])
def test_the_squared_angle_between_two_orientations(angle):
    turned = rotations.yaw_quaternion(np.array([angle], np.float32))
    level = rotations.yaw_quaternion(np.zeros(1, np.float32))
    assert rotations.angle_squared(turned, level)[0] == pytest.approx(angle**2, abs=2e-3)
    assert rotations.angle_squared(-turned, level)[0] == pytest.approx(angle**2, abs=2e-3)


@given(ANGLE, st.floats(-1.5, 1.5), ANGLE)
def test_euler_angles_turn_about_fixed_axes_in_the_order_roll_pitch_yaw(roll, pitch, yaw):
    made = rotations.from_euler(*(np.array([angle], np.float32) for angle in (roll, pitch, yaw)))[0]
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    np.testing.assert_allclose(matrix(made), about_z @ about_y @ about_x, atol=1e-5)


def test_the_heading_of_a_robot_that_is_upside_down_is_finite():
    upside_down = np.array([[0.0, 1.0, 0.0, 0.0]], np.float32)
    assert np.isfinite(rotations.heading(upside_down)).all()
