from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from machine_tree import Machine, add_gpu

from envdyno.agent.placement.choice import choose
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import Topology, read_topology
from envdyno.host.gpu import Identified, identify

NEAR, FAR = "0000:3b:00.0", "0000:d8:00.0"
UUIDS = {NEAR: "GPU-aaaa", FAR: "GPU-bbbb"}


class FakeNvml:
    """The part of pynvml that is used; handles are PCI addresses, MIG devices belong to the far GPU."""

    class NVMLError(Exception):
        """What pynvml raises."""

    def __init__(self, broken: bool = False, old: bool = False) -> None:
        self.open = 0
        self._broken = broken
        self._old = old

    def nvmlInit(self) -> None:  # noqa: N802 - NVML's names
        if self._broken:
            raise self.NVMLError("Driver Not Loaded")
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(UUIDS)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:  # noqa: N802
        return list(UUIDS)[index]

    def nvmlDeviceGetPciInfo(self, handle: str) -> SimpleNamespace:  # noqa: N802
        address = f"0000{handle}".upper()  # NVML writes eight digits of domain
        return SimpleNamespace(busId=address.encode() if self._old else address)

    def nvmlDeviceGetUUID(self, handle: str) -> str | bytes:  # noqa: N802
        return UUIDS[handle].encode() if self._old else UUIDS[handle]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        if uuid != "MIG-5c0f":
            raise self.NVMLError("Not Found")
        return uuid

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: str) -> str:  # noqa: N802
        return FAR


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two nodes with a GPU each, whose UUIDs sysfs does not tell."""
    Machine({0: "0-1", 1: "2-3"}).build(tmp_path)
    add_gpu(tmp_path, NEAR, 0)
    add_gpu(tmp_path, FAR, 1)
    return tmp_path


def ask(root: Path, nvml: object, **environ: str) -> Identified:
    """What is identified with this module."""
    return identify(read_topology(root), environ, lambda name: nvml)


def node_of(root: Path, identified: Identified) -> int | None:
    """Node of the worker near GPU 0."""
    choice = choose(identified.topology, read_limits(root), Request(numa="gpu:0"), identified.environ)
    return choice.placements[0].node


@pytest.mark.parametrize("old", [False, True], ids=["text", "bytes"])
def test_uuids_are_added_to_the_gpus_of_sysfs(root: Path, old: bool) -> None:
    nvml = FakeNvml(old=old)
    identified = ask(root, nvml)
    assert [gpu.uuid for gpu in identified.topology.gpus] == ["GPU-aaaa", "GPU-bbbb"]
    assert identified.note is None
    assert nvml.open == 0


@pytest.mark.parametrize(
    ("visible", "node"),
    [
        ("GPU-bbbb", 1),
        ("GPU-aaaa", 0),
        ("1,0", 1),
        ("MIG-5c0f", 1),
        ("MIG-GPU-bbbb/1/0", 1),
        ("MIG-5c0f,0", 1),
    ],
)
def test_uuids_and_mig_devices_lead_to_the_node(root: Path, visible: str, node: int) -> None:
    assert node_of(root, ask(root, FakeNvml(), CUDA_VISIBLE_DEVICES=visible)) == node


def test_the_workloads_own_environment_is_not_touched(root: Path) -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "MIG-5c0f", "HOME": "/root"}
    identified = identify(read_topology(root), environ, lambda name: FakeNvml())
    assert environ["CUDA_VISIBLE_DEVICES"] == "MIG-5c0f"
    assert identified.environ == {"CUDA_VISIBLE_DEVICES": "GPU-bbbb", "HOME": "/root"}


def test_gpus_that_a_container_was_not_given_are_not_counted(root: Path) -> None:
    add_gpu(root, "0000:01:00.0", 0)
    identified = ask(root, FakeNvml(), CUDA_VISIBLE_DEVICES="1")
    assert [gpu.address for gpu in identified.topology.gpus] == [NEAR, FAR]
    assert node_of(root, identified) == 1


def test_a_mig_device_that_nvml_does_not_know_is_refused(root: Path) -> None:
    with pytest.raises(PlacementError, match=r"'MIG-other', which NVML does not know \(Not Found\)"):
        ask(root, FakeNvml(), CUDA_VISIBLE_DEVICES="MIG-other")


def test_without_the_package_sysfs_is_used_and_the_way_to_get_it_is_told(root: Path) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    identified = identify(read_topology(root), {}, missing)
    assert "pip install 'envdyno[gpu]'" in (identified.note or "")
    assert node_of(root, identified) == 0


def test_a_driver_that_does_not_answer_leaves_sysfs_and_says_why(root: Path) -> None:
    identified = ask(root, FakeNvml(broken=True))
    assert identified.note == "NVML cannot be asked about GPUs: Driver Not Loaded."
    assert node_of(root, identified) == 0


def test_nothing_is_imported_on_a_machine_without_nvidia_gpus(tmp_path: Path) -> None:
    def unexpected(name: str) -> Any:
        raise AssertionError(name)

    topology: Topology = read_topology(Machine().build(tmp_path))
    assert identify(topology, {}, unexpected).topology is topology
