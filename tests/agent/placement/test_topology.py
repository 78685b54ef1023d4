from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from machine_tree import CPU, NODE, Machine, write

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.topology import Topology, read_topology


def test_a_machine_with_one_node_is_read(tmp_path: Path) -> None:
    topology = read_topology(Machine().build(tmp_path))
    (node,) = topology.nodes
    assert (node.id, node.cpus, node.memory_bytes, node.distances) == (0, (0, 1, 2, 3), 1 << 30, {0: 10})
    assert topology.cpus == (0, 1, 2, 3)
    assert not topology.synthetic
    assert topology.problems == ()


def test_two_nodes_have_their_own_cpus_memory_and_distances(tmp_path: Path) -> None:
    machine = Machine({0: "0-3", 1: "4-7"}, memory={1: 2048}, free={0: 100}, cache={0: 300})
    first, second = read_topology(machine.build(tmp_path)).nodes
    assert (first.cpus, second.cpus) == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert (first.free_bytes, first.reclaimable_bytes) == (100 << 20, 300 << 20)
    assert second.memory_bytes == 2048 << 20
    assert first.distances == {0: 10, 1: 21}


def test_distances_are_keyed_by_the_online_nodes_not_by_position(tmp_path: Path) -> None:
    machine = Machine({0: "0-1", 2: "2-3", 3: ""}, distances={3: "20 25 10"})
    assert read_topology(machine.build(tmp_path)).nodes[2].distances == {0: 20, 2: 25, 3: 10}


def test_a_row_of_distances_of_another_length_is_not_used(tmp_path: Path) -> None:
    topology = read_topology(Machine({0: "0-1", 2: "2-3"}, distances={2: "20 20 10"}).build(tmp_path))
    assert topology.nodes[1].distances == {}
    assert "distance has 3 columns for 2 online nodes" in topology.problems[0]


def test_node_ids_may_be_sparse_and_offset(tmp_path: Path) -> None:
    topology = read_topology(Machine({8: "0-1", 252: "2-3"}).build(tmp_path))
    assert [node.id for node in topology.nodes] == [8, 252]
    assert topology.node(252) is topology.nodes[1]
    assert topology.node(1) is None


def test_more_than_64_nodes_and_1024_cpus_are_read(tmp_path: Path) -> None:
    machine = Machine({node: f"{node * 16}-{node * 16 + 15}" for node in range(80)})
    topology = read_topology(machine.build(tmp_path))
    assert len(topology.nodes) == 80
    assert topology.cpus == tuple(range(1280))
    assert topology.nodes[79].cpus == tuple(range(1264, 1280))


@pytest.mark.parametrize(
    "lists",
    [{0: "0,2,4,6", 1: "1,3,5,7"}, {0: "0-7:2", 1: "1-7:2"}, {0: "0-1,4-5", 1: "2-3,6-7"}],
    ids=["interleaved", "strided", "gaps"],
)
def test_cpus_of_a_node_need_not_be_contiguous(tmp_path: Path, lists: dict[int, str]) -> None:
    nodes = read_topology(Machine(lists, online="0-7").build(tmp_path)).nodes
    assert sorted(nodes[0].cpus + nodes[1].cpus) == list(range(8))
    assert 0 in nodes[0].cpus
    assert 3 in nodes[1].cpus


def test_offline_cpus_are_those_present_and_not_online(tmp_path: Path) -> None:
    machine = Machine({0: "0-2,4-7"}, present="0-7")
    topology = read_topology(machine.build(tmp_path))
    assert topology.cpus == (0, 1, 2, 4, 5, 6, 7)
    assert topology.offline == (3,)


def test_cpus_that_do_not_exist_are_not_offline(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, present="0-3", offline_file=",4-5")
    assert read_topology(machine.build(tmp_path)).offline == ()


def test_a_node_does_not_have_cpus_that_are_offline(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, online="0-2", present="0-3")
    assert read_topology(machine.build(tmp_path)).nodes[0].cpus == (0, 1, 2)


def test_isolated_cpus_are_listed(tmp_path: Path) -> None:
    assert read_topology(Machine({0: "0-7"}, isolated="6-7").build(tmp_path)).isolated == (6, 7)


def test_memory_without_cpus_and_cpus_without_memory_are_told_apart(tmp_path: Path) -> None:
    machine = Machine({0: "0-1", 2: "", 3: "2-3"}, memory={3: 0})
    plain, memory_only, cpu_only = read_topology(machine.build(tmp_path)).nodes
    assert plain.has_memory
    assert (memory_only.cpus, memory_only.has_memory) == ((), True)
    assert (cpu_only.cpus, cpu_only.has_memory, cpu_only.memory_bytes) == ((2, 3), False, 0)


def test_a_node_that_does_not_tell_its_memory_is_taken_to_have_some(tmp_path: Path) -> None:
    root = Machine().build(tmp_path)
    (root / NODE / "node0/meminfo").unlink()
    (node,) = read_topology(root).nodes
    assert node.memory_bytes is None
    assert node.has_memory


def test_without_a_node_directory_one_node_stands_for_the_machine(tmp_path: Path) -> None:
    write(tmp_path, f"{CPU}/online", "0-5")
    write(tmp_path, "proc/meminfo", "MemTotal: 4096 kB\nMemFree: 1024 kB\nMemAvailable: 3072 kB")
    topology = read_topology(tmp_path)
    (node,) = topology.nodes
    assert topology.synthetic
    assert "stands for the whole machine" in (topology.synthetic_reason or "")
    assert (node.id, node.cpus, node.memory_bytes) == (0, (0, 1, 2, 3, 4, 5), 4096 << 10)
    assert (node.free_bytes, node.reclaimable_bytes) == (1024 << 10, 2048 << 10)


def test_an_empty_root_gives_a_machine_with_this_many_cpus(tmp_path: Path) -> None:
    topology = read_topology(tmp_path)
    assert topology.synthetic
    assert topology.cpus == tuple(range(os.cpu_count() or 1))
    assert topology.nodes[0].memory_bytes is None


def test_cpus_are_found_in_folders_or_in_stat_when_there_is_no_list(tmp_path: Path) -> None:
    write(tmp_path, "proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu3 1 2 3 4\nintr 5")
    assert read_topology(tmp_path).cpus == (0, 3)
    write(tmp_path, f"{CPU}/cpu0/topology/core_id", "0")
    write(tmp_path, f"{CPU}/cpu1/online", "1")
    write(tmp_path, f"{CPU}/cpu2/online", "0")
    assert read_topology(tmp_path).cpus == (0, 1)


def test_a_node_that_is_listed_without_a_directory_is_left_out_and_named(tmp_path: Path) -> None:
    topology = read_topology(Machine({0: "0-3"}, online_nodes="0-1", distances={0: "10 20"}).build(tmp_path))
    assert [node.id for node in topology.nodes] == [0]
    assert "Node 1 is listed as online" in topology.problems[0]


def test_a_garbled_cpulist_is_named_and_the_mask_is_used(tmp_path: Path) -> None:
    root = Machine({0: "0-1", 1: "2-3"}, online="0-3").build(tmp_path)
    write(root, f"{NODE}/node1/cpulist", "2-x")
    write(root, f"{NODE}/node1/cpumap", "c")
    topology = read_topology(root)
    assert topology.nodes[1].cpus == (2, 3)
    assert "node1/cpulist" in topology.problems[0]
    assert "'2-x'" in topology.problems[0]


def test_a_node_whose_lists_are_all_garbled_gets_cpus_from_its_links(tmp_path: Path) -> None:
    root = Machine({0: "0-1", 1: "2-3"}, online="0-3").build(tmp_path)
    write(root, f"{NODE}/node1/cpulist", "?")
    write(root, f"{NODE}/node1/cpumap", "?")
    write(root, f"{NODE}/node1/cpu2/x", "")
    topology = read_topology(root)
    assert topology.nodes[1].cpus == (2,)
    assert len(topology.problems) == 2


def test_siblings_are_grouped_by_core(tmp_path: Path) -> None:
    machine = Machine({0: "0-1,4-5", 1: "2-3,6-7"}, siblings=["0,4", "1,5", "2,6", "3,7"])
    assert read_topology(machine.build(tmp_path)).siblings == ((0, 4), (1, 5), (2, 6), (3, 7))


def test_an_offline_sibling_is_no_sibling(tmp_path: Path) -> None:
    machine = Machine({0: "0-2"}, online="0-2", present="0-3", siblings=["0-1", "2-3"])
    assert read_topology(machine.build(tmp_path)).siblings == ((0, 1), (2,))


def test_a_cpu_whose_core_is_not_told_stands_alone(tmp_path: Path) -> None:
    root = Machine({0: "0-1"}, siblings=["0-1"]).build(tmp_path)
    for cpu in (0, 1):
        (root / CPU / f"cpu{cpu}/topology/thread_siblings_list").unlink()
    assert read_topology(root).siblings == ((0,), (1,))


def test_the_newer_name_of_the_siblings_file_is_read(tmp_path: Path) -> None:
    root = Machine({0: "0-1"}).build(tmp_path)
    write(root, f"{CPU}/cpu0/topology/core_cpus_list", "0-1")
    assert read_topology(root).siblings == ((0, 1),)


def test_l3_domains_follow_the_level_not_the_index(tmp_path: Path) -> None:
    topology = read_topology(Machine({0: "0-7"}, l3=["0-3", "4-7"]).build(tmp_path))
    assert [domain.cpus for domain in topology.l3_domains] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert topology.l3_domains[0].size_bytes == 32 << 20


def test_a_machine_without_l3_has_no_domains(tmp_path: Path) -> None:
    assert read_topology(Machine().build(tmp_path)).l3_domains == ()


@pytest.mark.parametrize(
    "speeds",
    [
        {"capacity": {"0-3": 446, "4-7": 1024}},
        {"max_khz": {"0-3": 1_800_000, "4-7": 2_840_000}},
    ],
    ids=["capacity", "frequency"],
)
def test_fast_and_slow_cores_are_classes_fastest_first(
    tmp_path: Path, speeds: dict[str, dict[str, int]]
) -> None:
    classes = read_topology(Machine({0: "0-7"}, **speeds).build(tmp_path)).core_classes
    assert [(item.name, item.cpus) for item in classes] == [
        ("performance", (4, 5, 6, 7)),
        ("efficiency", (0, 1, 2, 3)),
    ]


def test_three_kinds_of_cores_are_three_classes(tmp_path: Path) -> None:
    machine = Machine({0: "0-7"}, capacity={"0-3": 250, "4-6": 700, "7": 1024})
    classes = read_topology(machine.build(tmp_path)).core_classes
    assert [item.name for item in classes] == ["performance", "middle", "efficiency"]
    assert classes[0].capacity == 1024


def test_favoured_cores_of_one_kind_are_no_class(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, max_khz={"0-2": 5_400_000, "3": 5_800_000})
    assert read_topology(machine.build(tmp_path)).core_classes == ()


def test_classes_are_not_guessed_when_a_cpu_does_not_tell_its_speed(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, max_khz={"0-1": 1_000_000, "2": 5_000_000})
    assert read_topology(machine.build(tmp_path)).core_classes == ()


def test_hybrid_processors_that_name_their_classes_are_believed(tmp_path: Path) -> None:
    root = Machine({0: "0-5"}, max_khz={"0-5": 5_000_000}).build(tmp_path)
    write(root, "sys/devices/cpu_core/cpus", "0-3")
    write(root, "sys/devices/cpu_atom/cpus", "4-5")
    classes = read_topology(root).core_classes
    assert [(item.name, item.cpus) for item in classes] == [
        ("performance", (0, 1, 2, 3)),
        ("efficiency", (4, 5)),
    ]


@pytest.mark.parametrize("value", [0, 1, 2, None])
def test_numa_balancing_is_kept_as_it_is(tmp_path: Path, value: int | None) -> None:
    assert read_topology(Machine(numa_balancing=value).build(tmp_path)).numa_balancing == value


def test_a_topology_travels_as_json(tmp_path: Path) -> None:
    machine = Machine(
        {0: "0-3", 2: "4-7", 5: ""},
        siblings=["0-1"],
        l3=["0-3"],
        capacity={"0-3": 400, "4-7": 1024},
        gpus={"0000:3b:00.0": 2},
    )
    topology = read_topology(machine.build(tmp_path))
    assert Topology.from_json(json.loads(json.dumps(topology.to_json()))) == topology


def test_this_machine_is_read_without_problems() -> None:
    topology = read_topology()
    assert topology.problems == ()
    assert format_cpulist(topology.cpus)
    assert sorted(cpu for core in topology.siblings for cpu in core) == list(topology.cpus)


def test_a_cache_of_unknown_size_is_a_domain_all_the_same(tmp_path: Path) -> None:
    root = Machine({0: "0-3"}, l3=["0-3"]).build(tmp_path)
    write(root, f"{CPU}/cpu0/cache/index3/size", "big")
    (domain,) = read_topology(root).l3_domains
    assert (domain.cpus, domain.size_bytes) == ((0, 1, 2, 3), None)


def test_siblings_that_do_not_name_their_own_cpu_are_not_believed(tmp_path: Path) -> None:
    root = Machine({0: "0-2"}).build(tmp_path)
    write(root, f"{CPU}/cpu1/topology/thread_siblings_list", "2")
    assert read_topology(root).siblings == ((0,), (1,), (2,))


def test_a_number_that_is_none_is_not_read(tmp_path: Path) -> None:
    root = Machine().build(tmp_path)
    write(root, "proc/sys/kernel/numa_balancing", "on")
    assert read_topology(root).numa_balancing is None


def test_a_node_without_distances_has_none(tmp_path: Path) -> None:
    root = Machine().build(tmp_path)
    (root / NODE / "node0/distance").unlink()
    (node,) = read_topology(root).nodes
    assert node.distances == {}
    assert (node.distance(0), node.distance(1)) == (10, float("inf"))
