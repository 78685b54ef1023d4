from __future__ import annotations

import json
from pathlib import Path

import pytest
from machine_tree import Machine, cgroup_v2, write

from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.notes import NoteKind
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.request import Request, Smt
from envdyno.agent.placement.topology import read_topology

BIND, PREFERRED, INTERLEAVE, OFF = (
    MemoryPolicy.BIND,
    MemoryPolicy.PREFERRED,
    MemoryPolicy.INTERLEAVE,
    MemoryPolicy.OFF,
)


def choose_on(machine: Machine, root: Path, **request: object) -> Choice:
    """What is chosen on a machine."""
    machine.build(root)
    return choose(read_topology(root), read_limits(root), Request(**request), environ={})  # type: ignore[arg-type]


def cpus_of(choice: Choice) -> list[tuple[int, ...]]:
    """CPUs of each worker."""
    return [placement.cpus for placement in choice.placements]


def notes_of(choice: Choice, kind: NoteKind) -> list[str]:
    """Messages of one kind."""
    return [note.message for note in choice.notes if note.kind is kind]


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


def test_off_with_cpus_binds_to_these_and_leaves_memory_alone(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, numa="off", cpus=(3, 4))
    assert choice.placements == (Placement(0, None, (3, 4), (), OFF, 2),)


def test_off_with_interleave_spreads_memory_only(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, numa="off", memory=INTERLEAVE)
    assert choice.placements == (Placement(0, None, (), (0, 1), INTERLEAVE, 8),)


def test_off_with_several_workers_divides_the_threads(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-4"}), tmp_path, numa="off", workers_per_node=2)
    assert [placement.threads for placement in choice.placements] == [3, 2]


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


def test_a_node_without_memory_prefers_the_nearest_memory(tmp_path: Path) -> None:
    machine = Machine(
        {0: "0-1", 1: "2-3", 2: "4-5"},
        memory={2: 0},
        distances={0: "10 21 31", 1: "21 10 15", 2: "31 15 10"},
    )
    choice = choose_on(machine, tmp_path)
    assert choice.placements[2] == Placement(2, 2, (4, 5), (1,), PREFERRED, 2)
    (message,) = notes_of(choice, NoteKind.REMOTE_MEMORY)
    assert "node 2 is remote: it has no memory. Node 1 is preferred" in message


def test_equally_near_memory_is_chosen_by_id(tmp_path: Path) -> None:
    machine = Machine({0: "0-1", 1: "2-3", 2: "4-5"}, memory={2: 0})
    assert choose_on(machine, tmp_path).placements[2].memory_nodes == (0,)


def test_every_group_of_cpus_gets_a_worker_when_memory_is_on_some_nodes_only(tmp_path: Path) -> None:
    machine = Machine(
        {0: "0-1", 1: "2-3", 2: "4-5", 3: "6-7"},
        memory={1: 0, 3: 0},
        distances={1: "16 10 22 22", 3: "22 22 16 10"},
    )
    choice = choose_on(machine, tmp_path)
    assert [placement.memory_nodes for placement in choice.placements] == [(0,), (0,), (2,), (2,)]
    assert [placement.policy for placement in choice.placements] == [BIND, PREFERRED, BIND, PREFERRED]
    assert choice.idle_cpus == ()


def test_memory_without_cpus_may_serve_cpus_without_memory(tmp_path: Path) -> None:
    machine = Machine(
        {0: "0-1", 1: "2-3", 2: ""},
        memory={1: 0},
        distances={0: "10 21 24", 1: "21 10 14", 2: "24 14 10"},
    )
    choice = choose_on(machine, tmp_path)
    assert choice.placements[0].memory_nodes == (0,)
    assert choice.placements[1] == Placement(1, 1, (2, 3), (2,), PREFERRED, 2)


def test_memory_that_the_cpuset_does_not_allow_is_not_asked_for(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO, mems="0"), tmp_path)
    assert [placement.memory_nodes for placement in choice.placements] == [(0,), (0,)]
    assert [placement.policy for placement in choice.placements] == [BIND, PREFERRED]
    (message,) = notes_of(choice, NoteKind.REMOTE_MEMORY)
    assert "its cpuset allows memory of node 0 only" in message


def test_cpus_of_one_node_and_memory_of_another_are_called_remote(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO, allowed="4-7", mems="0"), tmp_path)
    assert choice.placements == (Placement(0, 1, (4, 5, 6, 7), (0,), PREFERRED, 4),)
    assert len(notes_of(choice, NoteKind.REMOTE_MEMORY)) == 1


def test_interleave_goes_over_the_allowed_memory_that_has_cpus(tmp_path: Path) -> None:
    machine = Machine({0: "0-1", 1: "2-3", 2: "", 3: "4-5"}, mems="0,2-3")
    choice = choose_on(machine, tmp_path, memory=INTERLEAVE)
    assert {placement.memory_nodes for placement in choice.placements} == {(0, 3)}
    assert {placement.policy for placement in choice.placements} == {INTERLEAVE}


def test_preferred_prefers_the_own_node(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, memory=PREFERRED)
    assert [(item.memory_nodes, item.policy) for item in choice.placements] == [
        ((0,), PREFERRED),
        ((1,), PREFERRED),
    ]


def test_memory_off_binds_cpus_only(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, memory=OFF)
    assert [(item.cpus, item.memory_nodes, item.policy) for item in choice.placements] == [
        ((0, 1, 2, 3), (), OFF),
        ((4, 5, 6, 7), (), OFF),
    ]


@pytest.mark.parametrize(("balancing", "memory", "count"), [(1, OFF, 1), (1, BIND, 0), (0, OFF, 0)])
def test_automatic_balancing_is_named_when_memory_is_not_bound(
    tmp_path: Path, balancing: int, memory: MemoryPolicy, count: int
) -> None:
    choice = choose_on(Machine(TWO, numa_balancing=balancing), tmp_path, memory=memory)
    assert len(notes_of(choice, NoteKind.NUMA_BALANCING)) == count


SMT = Machine({0: "0-3,8-11", 1: "4-7,12-15"}, siblings=[f"{cpu},{cpu + 8}" for cpu in range(8)])


def test_siblings_stay_together_when_a_node_is_shared_out(tmp_path: Path) -> None:
    choice = choose_on(SMT, tmp_path, workers_per_node=2)
    assert cpus_of(choice) == [(0, 1, 8, 9), (2, 3, 10, 11), (4, 5, 12, 13), (6, 7, 14, 15)]


def test_smt_off_uses_one_thread_of_each_core(tmp_path: Path) -> None:
    choice = choose_on(SMT, tmp_path, smt=Smt.OFF)
    assert cpus_of(choice) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert choice.idle_cpus == tuple(range(8, 16))


def test_smt_off_takes_the_sibling_that_is_allowed(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-3"}, siblings=["0-1", "2-3"], allowed="1-3"), tmp_path, smt=Smt.OFF)
    assert cpus_of(choice) == [(1, 2)]


def test_cores_are_shared_out_as_evenly_as_can_be(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-6"}), tmp_path, workers_per_node=3)
    assert cpus_of(choice) == [(0, 1, 2), (3, 4), (5, 6)]


def test_more_workers_than_cores_are_refused_for_a_core_is_never_split(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, siblings=["0,2", "1,3"])
    with pytest.raises(PlacementError, match=r"3 workers.*node 0, which has 2 usable cores \(CPUs 0-3\)"):
        choose_on(machine, tmp_path, workers_per_node=3)


@pytest.mark.parametrize("workers", [0, -1])
def test_less_than_one_worker_is_refused(tmp_path: Path, workers: int) -> None:
    with pytest.raises(PlacementError, match="at least 1"):
        choose_on(Machine(), tmp_path, workers_per_node=workers)


def test_workers_get_cores_that_share_a_cache(tmp_path: Path) -> None:
    machine = Machine({0: "0-7"}, l3=["0-1,4-5", "2-3,6-7"])
    assert cpus_of(choose_on(machine, tmp_path, workers_per_node=2)) == [(0, 1, 4, 5), (2, 3, 6, 7)]


def test_per_l3_gives_every_cache_a_worker(tmp_path: Path) -> None:
    machine = Machine(TWO, l3=["0-1", "2-3", "4-5", "6-7"])
    choice = choose_on(machine, tmp_path, numa="per-l3")
    assert [(item.node, item.cpus) for item in choice.placements] == [
        (0, (0, 1)),
        (0, (2, 3)),
        (1, (4, 5)),
        (1, (6, 7)),
    ]


def test_a_cache_that_spans_nodes_is_cut_at_the_node(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO, l3=["0-7"]), tmp_path, numa="per-l3")
    assert [(item.node, item.memory_nodes) for item in choice.placements] == [(0, (0,)), (1, (1,))]


def test_caches_without_allowed_cpus_get_no_worker(tmp_path: Path) -> None:
    machine = Machine({0: "0-7"}, l3=["0-3", "4-7"], allowed="0,5")
    assert cpus_of(choose_on(machine, tmp_path, numa="per-l3")) == [(0,), (5,)]


def test_per_l3_on_a_machine_that_shows_no_l3_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="shows no level-3 cache"):
        choose_on(Machine(), tmp_path, numa="per-l3")


def test_per_l3_and_workers_per_node_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="leave out --workers-per-node"):
        choose_on(Machine(l3=["0-3"]), tmp_path, numa="per-l3", workers_per_node=2)


HYBRID = Machine({0: "0-5"}, siblings=["0-1", "2-3"], max_khz={"0-3": 5_200_000, "4-5": 3_900_000})


def test_a_worker_with_fast_and_slow_cores_is_named(tmp_path: Path) -> None:
    (message,) = notes_of(choose_on(HYBRID, tmp_path), NoteKind.MIXED_CLASSES)
    assert "0-3 are performance cores, 4-5 are efficiency cores" in message


def test_per_class_gives_each_kind_of_core_a_worker(tmp_path: Path) -> None:
    choice = choose_on(HYBRID, tmp_path, numa="per-class")
    assert cpus_of(choice) == [(0, 1, 2, 3), (4, 5)]
    assert notes_of(choice, NoteKind.MIXED_CLASSES) == []


def test_cpus_of_one_kind_are_not_called_mixed(tmp_path: Path) -> None:
    choice = choose_on(HYBRID, tmp_path, cpus=(0, 1, 2, 3))
    assert notes_of(choice, NoteKind.MIXED_CLASSES) == []


def test_per_class_on_a_machine_of_one_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="one kind of core"):
        choose_on(Machine(), tmp_path, numa="per-class")


def test_isolated_cpus_are_left_out_and_listed(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-7"}, isolated="6-7"), tmp_path)
    assert cpus_of(choice) == [(0, 1, 2, 3, 4, 5)]
    assert choice.idle_cpus == (6, 7)
    assert "The isolated CPUs 6-7 are left out" in notes_of(choice, NoteKind.ISOLATED)[0]


def test_isolated_cpus_that_are_named_are_used_with_a_warning(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-7"}, isolated="6-7"), tmp_path, cpus=(5, 6))
    assert cpus_of(choice) == [(5, 6)]
    assert "does not balance threads" in notes_of(choice, NoteKind.ISOLATED)[0]


def test_when_all_allowed_cpus_are_isolated_the_way_to_use_them_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="--cpus 6-7"):
        choose_on(Machine({0: "0-7"}, isolated="6-7", allowed="6-7"), tmp_path)


def test_a_mask_without_online_cpus_is_refused(tmp_path: Path) -> None:
    root = Machine({0: "0-3"}).build(tmp_path)
    topology, limits = read_topology(root), read_limits(root)
    moved = type(limits).from_json({**limits.to_json(), "affinity": [9]})
    with pytest.raises(PlacementError, match="may run on 9, and 0-3 are online"):
        choose(topology, moved, Request())


def test_without_nodes_one_worker_has_the_whole_machine_and_no_memory_node(tmp_path: Path) -> None:
    write(tmp_path, "sys/devices/system/cpu/online", "0-3")
    choice = choose(read_topology(tmp_path), read_limits(tmp_path), Request())
    assert choice.placements == (Placement(0, 0, (0, 1, 2, 3), (), BIND, 4),)
    assert len(notes_of(choice, NoteKind.NO_NODES)) == 1


@pytest.mark.parametrize(
    ("quota", "threads"),
    [("200000 100000", [1, 1]), ("300000 100000", [2, 1]), ("max 100000", [4, 4]), ("50000 100000", [1, 1])],
)
def test_a_quota_cuts_threads_and_leaves_cpus(tmp_path: Path, quota: str, threads: list[int]) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": quota})
    choice = choose_on(Machine(TWO), tmp_path)
    assert [placement.threads for placement in choice.placements] == threads
    assert cpus_of(choice) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert len(notes_of(choice, NoteKind.QUOTA)) == (0 if quota.startswith("max") else 1)


def test_a_quota_below_the_number_of_workers_is_said_to_throttle(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": "50000 100000"})
    (message,) = notes_of(choose_on(Machine(TWO), tmp_path), NoteKind.QUOTA)
    assert "0.5 CPUs, /sys/fs/cgroup/cpu.max" in message
    assert "throttled" in message


def test_an_unbound_worker_has_threads_for_the_quota(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": "300000 100000"})
    assert choose_on(Machine(TWO), tmp_path, numa="off").placements[0].threads == 3


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
