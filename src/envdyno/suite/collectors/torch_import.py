"""PyTorch, for collectors that act by a network; imported when such a collector is built."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from envdyno.agent.workloads.registry import WorkloadError


class TorchMissingError(WorkloadError, ImportError):
    """PyTorch is not installed; the text says what to install."""


def import_torch() -> Any:
    """Import PyTorch.

    Raises:
        TorchMissingError: it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise TorchMissingError(
            f"The policy 'torch' needs the package 'torch', which is not installed for {sys.executable}: "
            "pip install torch, or take actions from the ring with -o policy=none."
        ) from error
