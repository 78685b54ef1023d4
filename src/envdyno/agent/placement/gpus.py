"""GPUs and the NUMA node each is attached to, from sysfs alone (no driver library).

Which GPU a number means follows ``CUDA_VISIBLE_DEVICES`` as the CUDA programming guide (environment
variables) tells: indices or UUIDs, in the order given, ending before the first that is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from envdyno.agent.placement import kernelfs
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.kernelfs import Root
from envdyno.agent.placement.wire import Wire

_DEVICES = "/sys/bus/pci/devices"
_DRIVER = "/proc/driver/nvidia/gpus"
_DISPLAY, _ACCELERATOR = "0x03", "0x12"
"""PCI base classes: display controllers and processing accelerators."""


class GpuVendor(str, Enum):
    """Makers of GPUs that compute; board-management graphics are of others."""

    NVIDIA = "0x10de"
    AMD = "0x1002"
    INTEL = "0x8086"


_VISIBLE = {
    GpuVendor.NVIDIA: ("CUDA_VISIBLE_DEVICES",),
    GpuVendor.AMD: ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
    GpuVendor.INTEL: (),
}


@dataclass(frozen=True)
class Gpu(Wire):
    """One GPU on the PCI bus."""

    address: str
    """PCI address, e.g. ``0000:3b:00.0``."""
    vendor: GpuVendor
    device: str | None
    """PCI device id, e.g. ``0x20b0``."""
    node: int | None
    """Node that it is attached to; None when the platform does not tell (``numa_node`` is -1)."""
    uuid: str | None
    """``GPU-...`` where NVIDIA's kernel module tells it."""


def read_gpus(root: Root = "/") -> tuple[Gpu, ...]:
    """The GPUs in the order of their PCI addresses; empty when there is none or no PCI bus is shown.

    sysfs shows a container all GPUs of the host, and NVIDIA's driver only those that the container was given;
    so where the driver lists its GPUs, others of NVIDIA are left out.
    """
    given = kernelfs.names(root, _DRIVER)
    gpus = (_read_gpu(root, name) for name in kernelfs.names(root, _DEVICES))
    return tuple(
        gpu
        for gpu in gpus
        if gpu is not None and (gpu.vendor is not GpuVendor.NVIDIA or not given or gpu.address in given)
    )


def find_gpu(gpus: tuple[Gpu, ...], which: str, environ: Mapping[str, str]) -> Gpu:
    """The GPU that ``which`` means: a number as the workload will count, or a PCI address.

    Args:
        gpus: The machine's GPUs, in PCI order.
        which: ``0``, or ``0000:3b:00.0``.
        environ: Environment of the workload, for ``CUDA_VISIBLE_DEVICES`` and its like.

    Raises:
        PlacementError: When there is no such GPU, or the environment names GPUs in a way that sysfs does
            not know.
    """
    if not which.isdigit():
        address = normal_address(which)
        for gpu in gpus:
            if gpu.address == address:
                return gpu
        raise PlacementError(f"GPU {which} was asked for, but there is {_describe(gpus)}.")
    counted = _of_first_vendor(gpus)
    visible, variable = _visible(counted, environ)
    index = int(which)
    if index < len(visible):
        return visible[index]
    under = f" under {variable}={environ[variable]!r}" if variable else ""
    raise PlacementError(f"GPU {which} was asked for, but there is {_describe(visible)}{under}.")


def ambiguous_order(gpus: tuple[Gpu, ...], environ: Mapping[str, str]) -> bool:
    """Whether CUDA may count the GPUs in another order than the PCI bus: models differ, fastest first."""
    counted = _of_first_vendor(gpus)
    differ = len({gpu.device for gpu in counted}) > 1
    by_bus = environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    return differ and not by_bus and counted[0].vendor is GpuVendor.NVIDIA


def normal_address(address: str) -> str:
    """A PCI address as sysfs writes it: NVML has eight digits of domain (``00000000:3B:00.0``).

    Raises:
        PlacementError: When the text is no PCI address.
    """
    fields = address.lower().split(":")
    if len(fields) == 2:
        fields.insert(0, "0")
    digits = "".join(fields).replace(".", "", 1)
    if len(fields) != 3 or not digits or any(digit not in "0123456789abcdef" for digit in digits):
        raise PlacementError(
            f"{address!r} is neither a GPU number nor a PCI address; write gpu:0 or gpu:0000:3b:00.0."
        )
    return f"{int(fields[0] or '0', 16):04x}:{fields[1]}:{fields[2]}"


def _read_gpu(root: Root, address: str) -> Gpu | None:
    folder = f"{_DEVICES}/{address}"
    kind = kernelfs.read_text(root, f"{folder}/class") or ""
    vendor = kernelfs.read_text(root, f"{folder}/vendor")
    known = {item.value: item for item in GpuVendor}
    if not kind.startswith((_DISPLAY, _ACCELERATOR)) or vendor not in known:
        return None
    node = kernelfs.read_int(root, f"{folder}/numa_node")
    return Gpu(
        address=address,
        vendor=known[vendor],
        device=kernelfs.read_text(root, f"{folder}/device"),
        node=node if node is not None and node >= 0 else None,
        uuid=_uuid(root, address),
    )


def _uuid(root: Root, address: str) -> str | None:
    text = kernelfs.read_text(root, f"{_DRIVER}/{address}/information") or ""
    for line in text.splitlines():
        label, _, value = line.partition(":")
        if label.strip() == "GPU UUID" and value.strip().startswith("GPU-"):
            return value.strip()
    return None


def _of_first_vendor(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The GPUs that a compute library counts: beside a compute card, a processor's own graphics are not."""
    for vendor in GpuVendor:
        chosen = tuple(gpu for gpu in gpus if gpu.vendor is vendor)
        if chosen:
            return chosen
    return ()


def _visible(gpus: tuple[Gpu, ...], environ: Mapping[str, str]) -> tuple[tuple[Gpu, ...], str | None]:
    """The GPUs that the environment leaves visible, in its order, and the variable that says so."""
    if not gpus:
        return (), None
    used = None
    for variable in _VISIBLE[gpus[0].vendor]:
        if variable in environ:
            gpus = _select(gpus, environ[variable], variable)
            used = variable
    return gpus, used


def _select(gpus: tuple[Gpu, ...], text: str, variable: str) -> tuple[Gpu, ...]:
    chosen: list[Gpu] = []
    for field in (item.strip() for item in text.split(",")):
        if field.startswith("MIG-"):
            raise PlacementError(
                f"{variable} names the MIG device {field!r}; sysfs does not tell which GPU it is part of. "
                "Name the GPU by its PCI address (gpu:0000:3b:00.0), or the node (--numa 0)."
            )
        gpu = _one(gpus, field, variable)
        if gpu is None or gpu in chosen:
            break
        chosen.append(gpu)
    return tuple(chosen)


def _one(gpus: tuple[Gpu, ...], field: str, variable: str) -> Gpu | None:
    """The GPU of one field, an index or the beginning of a UUID; None when it is invalid."""
    if field.isascii() and field.isdigit():
        return gpus[int(field)] if int(field) < len(gpus) else None
    if not field.startswith("GPU-"):
        return None
    if all(gpu.uuid is None for gpu in gpus):
        raise PlacementError(
            f"{variable} names the GPU {field!r}, but this system does not tell the UUIDs of GPUs "
            "(/proc/driver/nvidia/gpus). Name the GPU by its PCI address: gpu:0000:3b:00.0."
        )
    matches = [gpu for gpu in gpus if gpu.uuid is not None and gpu.uuid.startswith(field)]
    return matches[0] if len(matches) == 1 else None


def _describe(gpus: tuple[Gpu, ...]) -> str:
    if not gpus:
        return "no GPU"
    listed = ", ".join(f"{index} ({gpu.address})" for index, gpu in enumerate(gpus))
    return f"{'GPU' if len(gpus) == 1 else 'GPUs'} {listed}"
