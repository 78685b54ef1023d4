"""Rotations in batches. Quaternions are unit, scalar first (w, x, y, z), and map body to world axes."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray

_TINY = np.float32(1e-30)


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


def multiply(left: FloatArray, right: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return the rotation ``right`` followed by ``left``; leading axes broadcast."""
    a, b, c, d = (left[..., i] for i in range(4))
    w, x, y, z = (right[..., i] for i in range(4))
    if out is None:
        out = np.empty((*np.broadcast_shapes(left.shape[:-1], right.shape[:-1]), 4), right.dtype)
    np.subtract(a * w - b * x, c * y + d * z, out=out[..., 0])
    np.add(a * x + b * w, c * z - d * y, out=out[..., 1])
    np.add(a * y - b * z, c * w + d * x, out=out[..., 2])
    np.add(a * z + b * y, d * w - c * x, out=out[..., 3])
    return out


def conjugate(quaternion: FloatArray) -> FloatArray:
    """Return the inverse rotation."""
    inverse: FloatArray = quaternion.copy()
    inverse[..., 1:] *= -1.0
    return inverse


def heading(quaternion: FloatArray) -> FloatArray:
    """Return the part of a rotation that is about the vertical axis: cosine and sine of half its angle.

    This is the swing-twist decomposition about z, which differs from the yaw of Euler angles when tilted,
    and has no singular pitch. Exactly upside down there is none; the result is then (0, 0), which is finite.
    """
    half: FloatArray = quaternion[..., ::3].copy()
    half /= np.sqrt(np.maximum(np.einsum("...i,...i->...", half, half), _TINY))[..., None]
    return half


def angle_squared(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the square of the angle (rad) between two orientations."""
    cosine: FloatArray = np.abs(np.einsum("...i,...i->...", left, right))
    np.minimum(cosine, 1.0, out=cosine)
    np.arccos(cosine, out=cosine)
    cosine *= 2.0
    np.square(cosine, out=cosine)
    return cosine


def two_axes(quaternion: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return the first two columns of the rotation matrix, row by row: six continuous numbers.

    Zhou et al., "On the continuity of rotation representations in neural networks", CVPR 2019.
    """
    w, x, y, z = (quaternion[..., i] for i in range(4))
    if out is None:
        out = np.empty((*quaternion.shape[:-1], 6), quaternion.dtype)
    np.subtract(1.0, 2.0 * (y * y + z * z), out=out[..., 0])
    np.multiply(x * y - w * z, 2.0, out=out[..., 1])
    np.multiply(x * y + w * z, 2.0, out=out[..., 2])
    np.subtract(1.0, 2.0 * (x * x + z * z), out=out[..., 3])
    np.multiply(x * z - w * y, 2.0, out=out[..., 4])
    np.multiply(y * z + w * x, 2.0, out=out[..., 5])
    return out


def from_euler(roll: FloatArray, pitch: FloatArray, yaw: FloatArray) -> FloatArray:
    """Return the rotation by roll about x, then pitch about y, then yaw about z, all of fixed axes."""
    cosines = tuple(np.cos(0.5 * angle) for angle in (roll, pitch, yaw))
    sines = tuple(np.sin(0.5 * angle) for angle in (roll, pitch, yaw))
    (cr, cp, cy), (sr, sp, sy) = cosines, sines
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )
