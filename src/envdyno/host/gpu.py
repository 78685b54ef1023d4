"""GPUs by NVIDIA's management library (NVML), which knows what sysfs does not: UUIDs and MIG devices.

Needs nvidia-ml-py, which is imported only when a GPU was asked for. Without it GPUs are told apart by sysfs
alone, and a note says so.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.gpus import Gpu, GpuVendor, normal_address
from envdyno.agent.placement.topology import Topology

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_ABSENT = (
    "nvidia-ml-py is not installed, so GPUs are told apart by sysfs alone: MIG devices, and which GPUs a "
    "container may use, are not known for certain. To have it: pip install 'envdyno[gpu]'."
)


class Identified(NamedTuple):
    """What :func:`identify` found out."""

    topology: Topology
    """The machine, with the GPUs that this system may use and their UUIDs."""
    environ: Mapping[str, str]
    """The environment to read GPU numbers in: names of MIG devices replaced by their GPU's UUID."""
    note: str | None
    """Why NVML could not be asked, in a sentence; None when it was."""


def identify(
    topology: Topology,
    environ: Mapping[str, str],
    load: Callable[[str], Any] = importlib.import_module,
) -> Identified:
    """Ask NVML for what sysfs does not tell of the machine's NVIDIA GPUs.

    Args:
        topology: The machine as sysfs shows it.
        environ: The workload's environment.
        load: Imports a module by name.

    Raises:
        PlacementError: When the environment names a MIG device that NVML does not know.
    """
    if not any(gpu.vendor is GpuVendor.NVIDIA for gpu in topology.gpus):
        return Identified(topology, environ, None)
    try:
        nvml = load("pynvml")
    except ImportError:
        return Identified(topology, environ, _ABSENT)
    try:
        with _initialised(nvml):
            gpus = _accessible(topology.gpus, _uuids_by_address(nvml))
            visible = _without_mig(nvml, environ)
    except nvml.NVMLError as error:
        return Identified(topology, environ, f"NVML cannot be asked about GPUs: {error}.")
    return Identified(dataclasses.replace(topology, gpus=gpus), visible, None)


@contextmanager
def _initialised(nvml: Any) -> Iterator[None]:
    nvml.nvmlInit()
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _uuids_by_address(nvml: Any) -> dict[str, str]:
    """UUID of each GPU by its PCI address, in sysfs's way to write it."""
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    return {
        normal_address(_text(nvml.nvmlDeviceGetPciInfo(handle).busId)): _text(nvml.nvmlDeviceGetUUID(handle))
        for handle in handles
    }


def _accessible(gpus: tuple[Gpu, ...], uuids: Mapping[str, str]) -> tuple[Gpu, ...]:
    """The GPUs that can be used here: sysfs shows a container all of the host's, NVML those it was given."""
    return tuple(
        dataclasses.replace(gpu, uuid=uuids[gpu.address]) if gpu.vendor is GpuVendor.NVIDIA else gpu
        for gpu in gpus
        if gpu.vendor is not GpuVendor.NVIDIA or gpu.address in uuids
    )


def _without_mig(nvml: Any, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with each MIG device replaced by the GPU that it is part of."""
    fields = [field.strip() for field in environ.get(_VISIBLE, "").split(",")]
    if not any(field.startswith("MIG-") for field in fields):
        return environ
    parents = [_parent(nvml, field) if field.startswith("MIG-") else field for field in fields]
    # Two devices of one GPU lie on one node; CUDA itself shows a process one MIG device only.
    return {**environ, _VISIBLE: ",".join(dict.fromkeys(parents))}


def _parent(nvml: Any, name: str) -> str:
    """UUID of the GPU that a MIG device is part of.

    Up to driver 470 names were ``MIG-GPU-<uuid>/<instance>/<instance>``, which tell it themselves.
    """
    if name.startswith("MIG-GPU-"):
        return name.removeprefix("MIG-").partition("/")[0]
    try:
        device = nvml.nvmlDeviceGetHandleByUUID(name)
        return _text(nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device)))
    except nvml.NVMLError as error:
        raise PlacementError(
            f"{_VISIBLE} names the MIG device {name!r}, which NVML does not know ({error}). "
            "Name the GPU by its PCI address: gpu:0000:3b:00.0."
        ) from error


def _text(value: str | bytes) -> str:
    """Older releases of nvidia-ml-py give bytes."""
    return value.decode() if isinstance(value, bytes) else value
