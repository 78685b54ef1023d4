"""Rotations in batches. Quaternions are unit, scalar first (w, x, y, z), and map body to world axes."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray


def rotate_inverse(quaternion: FloatArray, vector: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Express world ``vector`` (..., 3) in the body axes of ``quaternion`` (..., 4)."""
    w, x, y, z = (quaternion[..., i] for i in range(4))
    vx, vy, vz = (vector[..., i] for i in range(3))
    if out is None:
        out = np.empty((*np.broadcast_shapes(quaternion.shape[:-1], vector.shape[:-1]), 3), vector.dtype)
    # v - 2 w (q x v) + 2 q x (q x v), with t = 2 (q x v)
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    np.add(vx - w * tx, y * tz - z * ty, out=out[..., 0])
    np.add(vy - w * ty, z * tx - x * tz, out=out[..., 1])
    np.add(vz - w * tz, x * ty - y * tx, out=out[..., 2])
    return out


def projected_gravity(quaternion: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return the unit vector of gravity in body axes; (0, 0, -1) when upright."""
    w, x, y, z = (quaternion[..., i] for i in range(4))
    if out is None:
        out = np.empty((*quaternion.shape[:-1], 3), quaternion.dtype)
    np.multiply(w * y - x * z, 2.0, out=out[..., 0])
    np.multiply(y * z + w * x, -2.0, out=out[..., 1])
    np.subtract(2.0 * (x * x + y * y), 1.0, out=out[..., 2])
    return out


def yaw_quaternion(yaw: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return the rotation by ``yaw`` (radians) about the vertical axis."""
    if out is None:
        out = np.empty((*yaw.shape, 4), yaw.dtype)
    half = 0.5 * yaw
    out[..., 1:3] = 0.0
    np.cos(half, out=out[..., 0])
    np.sin(half, out=out[..., 3])
    return out
