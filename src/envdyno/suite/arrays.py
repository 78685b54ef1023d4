"""Array types and dtypes used throughout the suite.

Tasks compute in 32 bit, as the policies that consume their observations do; an engine keeps its own
precision inside. Arrays are environment-major, ``(num_envs, features)``, and C-contiguous.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float32]
"""Real numbers of a task."""
DoubleArray: TypeAlias = NDArray[np.float64]
"""State inside an engine that computes in 64 bit."""
BoolArray: TypeAlias = NDArray[np.bool_]
RowArray: TypeAlias = NDArray[np.intp]
"""Indices of environments."""
AnyArray: TypeAlias = NDArray[Any]

FLOAT = np.float32
