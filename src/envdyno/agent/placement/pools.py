"""Environment variables that size the thread pools of numerical libraries.

They must be set before the library is imported. A variable that the user has set wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envdyno.agent.placement.wire import Wire

SIZES = (
    "OMP_NUM_THREADS",  # OpenMP runtimes; PyTorch's intra-op pool
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",  # OpenBLAS's older name, which wins over OMP_NUM_THREADS there
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",  # Apple Accelerate
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "TBB_NUM_THREADS",  # read by programs; TBB itself follows the affinity mask
    "TORCH_NUM_THREADS",  # read by launchers; PyTorch itself follows OMP_NUM_THREADS
    "TF_NUM_INTRAOP_THREADS",
    "PJRT_NPROC",  # XLA's CPU client (JAX), xla/pjrt/utils.cc
    "NPROC",  # the same in XLA before PJRT_NPROC
    "POLARS_MAX_THREADS",
)
"""Variables whose value is a number of threads."""

PINS = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_DYNAMIC", "XLA_FLAGS")
"""Variables that move or size threads in other ways: never set here, but recorded when the user set them."""


@dataclass(frozen=True)
class ThreadVariables(Wire):
    """What a worker's environment says about thread pools."""

    set: dict[str, str]
    """Variables to set, with their values."""
    kept: dict[str, str]
    """Variables that the user had set, left as they are."""


def thread_variables(threads: int, environ: Mapping[str, str]) -> ThreadVariables:
    """The variables for pools of ``threads`` threads in an environment.

    A variable that is there but empty counts as not set: no library takes an empty text for a number.

    Raises:
        ValueError: When ``threads`` is less than 1.
    """
    if threads < 1:
        raise ValueError(f"A pool of {threads} threads was asked for; it needs at least 1.")
    kept = {name: environ[name] for name in (*SIZES, *PINS) if environ.get(name, "").strip()}
    return ThreadVariables({name: str(threads) for name in SIZES if name not in kept}, kept)
