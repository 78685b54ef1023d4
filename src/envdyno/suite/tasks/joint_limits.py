"""Soft limits of joints."""

from __future__ import annotations

import numpy as np

from envdyno.suite.arrays import FloatArray


def soft_limits(joint_range: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest angles of the middle ``share`` of each joint's range (2, joints)."""
    low, high = joint_range
    middle, half = 0.5 * (low + high), 0.5 * np.float32(share) * (high - low)
    return middle - half, middle + half
