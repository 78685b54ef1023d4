from __future__ import annotations

import json
from pathlib import Path

import pytest
from choosing import choose_on, cpus_of, notes_of
from machine_tree import Machine

from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.notes import NoteKind
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import read_topology

BIND, OFF = MemoryPolicy.BIND, MemoryPolicy.OFF
TWO = {0: "0-3", 1: "4-7"}


def test_auto_gives_every_node_a_worker_bound_to_its_cpus_and_memory(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path)
    assert choice.placements == (
        Placement(0, 0, (0, 1, 2, 3), (0,), BIND, 4),
        Placement(1, 1, (4, 5, 6, 7), (1,), BIND, 4),
    )
    assert choice.skipped == ()
    assert choice.notes == ()
    assert choice.idle_cpus == ()


def test_off_gives_one_worker_that_is_not_bound(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, numa="off")
    assert choice.placements == (Placement(0, None, (), (), OFF, 8),)
    assert choice.idle_cpus == ()


def test_off_with_several_workers_divides_the_threads(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-4"}), tmp_path, numa="off", workers_per_node=2)
    assert [placement.threads for placement in choice.placements] == [3, 2]


def test_the_threads_that_are_asked_for_size_the_pools_and_leave_the_cpus_alone(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, threads=3)
    assert [(placement.threads, len(placement.cpus)) for placement in choice.placements] == [(3, 4), (3, 4)]
    unbound = choose_on(Machine(TWO), tmp_path, numa="off", workers_per_node=2, threads=8)
    assert [placement.threads for placement in unbound.placements] == [8, 8]


def test_more_threads_than_cpus_are_refused_with_both_numbers(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match=r"5 threads .* worker 0 has 4 CPUs \(0-3\).*at most 4"):
        choose_on(Machine(TWO), tmp_path, threads=5)
    with pytest.raises(PlacementError, match=r"9 threads .* has 8 CPUs:"):
        choose_on(Machine(TWO), tmp_path, numa="off", threads=9)
    with pytest.raises(PlacementError, match="at least 1 is needed"):
        choose_on(Machine(TWO), tmp_path, threads=0)


@pytest.mark.parametrize(("numa", "nodes"), [("1", [1]), ("0,1", [0, 1]), ("0-1", [0, 1])])
def test_a_list_gives_these_nodes_a_worker(tmp_path: Path, numa: str, nodes: list[int]) -> None:
    choice = choose_on(Machine(TWO), tmp_path, numa=numa)
    assert [placement.node for placement in choice.placements] == nodes


def test_cpus_of_nodes_that_were_not_asked_for_are_idle(tmp_path: Path) -> None:
    assert choose_on(Machine(TWO), tmp_path, numa="1").idle_cpus == (0, 1, 2, 3)


@pytest.mark.parametrize("numa", ["", "x", "gpu:", "auto,0", "-1", "nodes", "1;2"])
def test_an_unknown_numa_is_refused_with_the_forms_there_are(tmp_path: Path, numa: str) -> None:
    with pytest.raises(PlacementError, match="auto, off, a list of nodes such as 0,1, gpu:K, per-l3"):
        choose_on(Machine(), tmp_path, numa=numa)


def test_asking_for_a_node_that_is_not_there_names_both(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match=r"Node 1 was asked for, but the nodes of this machine are 0\."):
        choose_on(Machine(), tmp_path, numa="1")
    with pytest.raises(
        PlacementError, match=r"Node 1 was asked for, but the nodes of this machine are 0,2\."
    ):
        choose_on(Machine({0: "0-1", 2: "2-3"}), tmp_path / "sparse", numa="0,1")


@pytest.mark.parametrize(
    ("cpus", "expected"),
    [
        ((9,), r"9 is not on this machine"),
        ((2, 3), r"3 is offline"),
        ((5, 6), r"5-6 are outside the process's affinity mask or cpuset"),
        ((3, 5, 9), r"9 is not on this machine and 3 is offline and 5 is outside"),
    ],
)
def test_asking_for_cpus_that_cannot_be_used_tells_why_of_each(
    tmp_path: Path, cpus: tuple[int, ...], expected: str
) -> None:
    machine = Machine({0: "0-2,4-7"}, present="0-7", allowed="0-4")
    with pytest.raises(PlacementError, match=rf"{expected}.*CPUs that may be used: 0-2,4\."):
        choose_on(machine, tmp_path, cpus=cpus)


def test_an_empty_list_of_cpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="at least one"):
        choose_on(Machine(), tmp_path, cpus=())


def test_workers_use_the_allowed_part_of_their_node(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO, allowed="2-3,5"), tmp_path)
    assert cpus_of(choice) == [(2, 3), (5,)]


def test_allowed_ids_are_used_and_not_numbers_from_zero(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-7"}, allowed="4-5"), tmp_path, workers_per_node=2)
    assert cpus_of(choice) == [(4,), (5,)]


def test_a_node_without_allowed_cpus_is_dropped_with_the_reason(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO, allowed="1"), tmp_path)
    assert cpus_of(choice) == [(1,)]
    (skipped,) = choice.skipped
    assert skipped.node == 1
    assert "None of the CPUs 4-7 of node 1 may be used" in skipped.reason


def test_asking_for_a_node_without_allowed_cpus_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match=r"node 1 was asked for.*Nodes with usable CPUs: 0\."):
        choose_on(Machine(TWO, allowed="1"), tmp_path, numa="1")


def test_a_node_without_cpus_never_gets_a_worker(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-1", 1: "2-3", 2: ""}), tmp_path)
    assert [placement.node for placement in choice.placements] == [0, 1]
    assert choice.skipped[0].reason == "Node 2 has no online CPU; it is memory only."
    assert notes_of(choice, NoteKind.MEMORY_ONLY_NODES) == ["Memory without CPUs (CXL, HBM or GPU): node 2."]
    with pytest.raises(PlacementError, match="node 2 was asked for"):
        choose_on(Machine({0: "0-1", 1: "2-3", 2: ""}), tmp_path, numa="2")


def test_a_node_whose_cpus_are_all_offline_never_gets_a_worker(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-1", 1: ""}, present="0-3"), tmp_path)
    assert [placement.node for placement in choice.placements] == [0]


@pytest.mark.parametrize("workers", [0, -1])
def test_less_than_one_worker_is_refused(tmp_path: Path, workers: int) -> None:
    with pytest.raises(PlacementError, match="at least 1"):
        choose_on(Machine(), tmp_path, workers_per_node=workers)


def test_a_mask_without_online_cpus_is_refused(tmp_path: Path) -> None:
    root = Machine({0: "0-3"}).build(tmp_path)
    topology, limits = read_topology(root), read_limits(root)
    moved = type(limits).from_json({**limits.to_json(), "affinity": [9]})
    with pytest.raises(PlacementError, match="may run on 9, and 0-3 are online"):
        choose(topology, moved, Request())


def test_problems_of_the_topology_travel_with_the_choice(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-3"}, online_nodes="0,7", distances={0: "10 20"}), tmp_path)
    assert "Node 7 is listed as online" in notes_of(choice, NoteKind.TOPOLOGY)[0]


def test_cpus_in_no_node_are_named_and_idle(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-1"}, online="0-3"), tmp_path)
    assert choice.idle_cpus == (2, 3)
    assert "CPUs 2-3 are in no node" in notes_of(choice, NoteKind.TOPOLOGY)[0]


def test_when_no_usable_cpu_is_in_a_node_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="no usable CPU is in a node"):
        choose_on(Machine({0: "0-1"}, online="0-3"), tmp_path, cpus=(2, 3))


def test_a_large_sparse_machine_is_placed_by_its_real_ids(tmp_path: Path) -> None:
    nodes = {node: f"{node * 16}-{node * 16 + 15}" for node in (3, 64, 127)}
    choice = choose_on(Machine(nodes), tmp_path, workers_per_node=2)
    assert [placement.node for placement in choice.placements] == [3, 3, 64, 64, 127, 127]
    assert choice.placements[5].cpus == tuple(range(127 * 16 + 8, 127 * 16 + 16))
    assert choice.placements[5].memory_nodes == (127,)


def test_a_choice_travels_as_json(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-3", 1: ""}, isolated="3"), tmp_path)
    assert Choice.from_json(json.loads(json.dumps(choice.to_json()))) == choice
