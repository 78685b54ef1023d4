from __future__ import annotations

from pathlib import Path

import pytest
from machine_tree import Machine, add_gpu

from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.gpus import GpuVendor, normal_address, read_gpus
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.notes import NoteKind
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import read_topology

TWO = {0: "0-3", 1: "4-7"}
NEAR, FAR = "0000:3b:00.0", "0000:d8:00.0"


def place(root: Path, which: str, **environ: str) -> Choice:
    """The choice near a GPU of the tree."""
    return choose(read_topology(root), read_limits(root), Request(numa=f"gpu:{which}"), environ)


def node_of(root: Path, which: str, **environ: str) -> int | None:
    """Node of the one worker near a GPU."""
    (placement,) = place(root, which, **environ).placements
    return placement.node


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two nodes, a GPU at each, UUIDs told."""
    Machine(TWO).build(tmp_path)
    add_gpu(tmp_path, NEAR, 0, uuid="GPU-11111111-aaaa")
    add_gpu(tmp_path, FAR, 1, uuid="GPU-22222222-bbbb")
    return tmp_path


@pytest.mark.parametrize(("which", "node"), [("0", 0), ("1", 1), (NEAR, 0), (FAR, 1), ("D8:00.0", 1)])
def test_a_worker_goes_to_the_node_of_its_gpu(root: Path, which: str, node: int) -> None:
    assert node_of(root, which) == node


@pytest.mark.parametrize(
    ("visible", "which", "node"),
    [
        ("1,0", "0", 1),
        ("1,0", "1", 0),
        ("1", "0", 1),
        ("0,1,-1", "1", 1),
        ("GPU-22222222-bbbb,GPU-11111111-aaaa", "0", 1),
        ("GPU-2", "0", 1),
        (" 1 , 0 ", "0", 1),
    ],
)
def test_gpu_numbers_count_what_cuda_visible_devices_leaves(
    root: Path, visible: str, which: str, node: int
) -> None:
    assert node_of(root, which, CUDA_VISIBLE_DEVICES=visible) == node


@pytest.mark.parametrize(
    ("visible", "which"),
    [
        ("0,7,1", "1"),
        ("0,-1,1", "1"),
        ("", "0"),
        ("-1", "0"),
        ("1", "1"),
        ("0,0", "1"),
        ("GPU-9", "0"),
        ("GPU-", "0"),
    ],
)
def test_what_cuda_does_not_show_is_not_there(root: Path, visible: str, which: str) -> None:
    with pytest.raises(PlacementError, match=f"GPU {which} was asked for, but .* CUDA_VISIBLE_DEVICES="):
        place(root, which, CUDA_VISIBLE_DEVICES=visible)


@pytest.mark.parametrize("name", ["MIG-GPU-11111111-aaaa/1/0", "MIG-5c0f"])
def test_mig_names_are_refused_with_a_way_out(root: Path, name: str) -> None:
    with pytest.raises(PlacementError, match=r"names the MIG device .*gpu:0000:3b:00\.0"):
        place(root, "0", CUDA_VISIBLE_DEVICES=name)


def test_uuids_need_the_driver_to_tell_them(tmp_path: Path) -> None:
    root = Machine(TWO, gpus={NEAR: 0}).build(tmp_path)
    with pytest.raises(PlacementError, match="does not tell the UUIDs"):
        place(root, "0", CUDA_VISIBLE_DEVICES="GPU-1")


def test_a_pci_address_does_not_depend_on_what_is_visible(root: Path) -> None:
    assert node_of(root, FAR, CUDA_VISIBLE_DEVICES="0") == 1


@pytest.mark.parametrize("which", ["2", "0000:01:00.0"])
def test_a_gpu_that_is_not_there_is_refused_with_those_that_are(root: Path, which: str) -> None:
    with pytest.raises(PlacementError, match=rf"GPUs 0 \({NEAR}\), 1 \({FAR}\)"):
        place(root, which)


def test_a_machine_without_gpus_says_so(tmp_path: Path) -> None:
    Machine().build(tmp_path)
    with pytest.raises(PlacementError, match="GPU 0 was asked for, but there is no GPU"):
        place(tmp_path, "0")


@pytest.mark.parametrize("which", ["x", "0:0", "zz:00.0", "1:2:3:4"])
def test_what_is_neither_number_nor_address_is_refused(root: Path, which: str) -> None:
    with pytest.raises(PlacementError, match=r"(neither a GPU number nor a PCI address|was asked for)"):
        place(root, which)


def test_a_gpu_without_locality_on_several_nodes_is_refused(tmp_path: Path) -> None:
    Machine(TWO, gpus={NEAR: -1}).build(tmp_path)
    with pytest.raises(PlacementError, match=r"numa_node is -1.*--numa 0"):
        place(tmp_path, "0")


def test_a_gpu_without_locality_on_one_node_is_placed_and_said(tmp_path: Path) -> None:
    Machine({0: "0-3"}, gpus={NEAR: -1}).build(tmp_path)
    choice = place(tmp_path, "0")
    assert choice.placements[0].node == 0
    assert [note.kind for note in choice.notes] == [NoteKind.GPU_LOCALITY]


def test_a_gpu_at_a_node_without_cpus_goes_to_the_nearest_node_with_cpus(tmp_path: Path) -> None:
    machine = Machine({0: "0-1", 1: "2-3", 4: ""}, distances={4: "40 25 10"}, gpus={NEAR: 4})
    choice = place(machine.build(tmp_path), "0")
    assert choice.placements[0].node == 1
    assert "node 1 is the nearest one" in choice.notes[0].message


def test_a_gpu_at_a_node_whose_cpus_are_not_allowed_is_refused(tmp_path: Path) -> None:
    Machine(TWO, allowed="0-3", gpus={NEAR: 1}).build(tmp_path)
    with pytest.raises(PlacementError, match=r"None of the CPUs 4-7 of node 1 may be used"):
        place(tmp_path, "0")


def test_a_gpu_at_a_node_that_is_not_online_is_refused(tmp_path: Path) -> None:
    Machine(TWO, gpus={NEAR: 5}).build(tmp_path)
    with pytest.raises(PlacementError, match=r"Node 5 was asked for, but the nodes of this machine are 0-1"):
        place(tmp_path, "0")


def test_gpus_that_the_driver_was_not_given_are_not_counted(root: Path) -> None:
    add_gpu(root, "0000:01:00.0", 1)
    assert node_of(root, "0") == 0
    assert [gpu.address for gpu in read_gpus(root)] == [NEAR, FAR]


def test_display_chips_and_sound_functions_are_no_gpus(tmp_path: Path) -> None:
    add_gpu(tmp_path, "0000:02:00.0", 0, vendor="0x1a03", kind="0x030000")
    add_gpu(tmp_path, "0000:3b:00.1", 0, kind="0x040300")
    add_gpu(tmp_path, NEAR, 1)
    assert [gpu.address for gpu in read_gpus(tmp_path)] == [NEAR]


def test_a_processors_own_graphics_are_not_counted_beside_a_compute_card(tmp_path: Path) -> None:
    Machine(TWO).build(tmp_path)
    add_gpu(tmp_path, "0000:00:02.0", 0, vendor="0x8086", kind="0x030000")
    add_gpu(tmp_path, NEAR, 1)
    assert node_of(tmp_path, "0") == 1


def test_accelerators_of_amd_are_counted_under_their_own_variable(tmp_path: Path) -> None:
    Machine(TWO).build(tmp_path)
    add_gpu(tmp_path, NEAR, 0, vendor="0x1002", kind="0x120000")
    add_gpu(tmp_path, FAR, 1, vendor="0x1002", kind="0x120000")
    assert {gpu.vendor for gpu in read_gpus(tmp_path)} == {GpuVendor.AMD}
    assert node_of(tmp_path, "0", ROCR_VISIBLE_DEVICES="1", CUDA_VISIBLE_DEVICES="0") == 1


def test_different_models_are_said_to_be_counted_in_bus_order(tmp_path: Path) -> None:
    Machine(TWO).build(tmp_path)
    add_gpu(tmp_path, NEAR, 0, device="0x20b0")
    add_gpu(tmp_path, FAR, 1, device="0x2204")
    assert "CUDA_DEVICE_ORDER=PCI_BUS_ID" in place(tmp_path, "1").notes[0].message
    assert place(tmp_path, "1", CUDA_DEVICE_ORDER="PCI_BUS_ID").notes == ()
    assert place(tmp_path, FAR).notes == ()


@pytest.mark.parametrize("address", ["00000000:3B:00.0", "0000:3b:00.0", "3b:00.0", "0:3B:00.0"])
def test_pci_addresses_of_any_tool_are_one(address: str) -> None:
    assert normal_address(address) == NEAR
