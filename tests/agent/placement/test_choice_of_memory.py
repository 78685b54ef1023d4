from __future__ import annotations

from pathlib import Path

import pytest
from choosing import choose_on, notes_of
from machine_tree import Machine, write

from envdyno.agent.placement.choice import choose
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.notes import NoteKind
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import read_topology

BIND, PREFERRED, INTERLEAVE, OFF = (
    MemoryPolicy.BIND,
    MemoryPolicy.PREFERRED,
    MemoryPolicy.INTERLEAVE,
    MemoryPolicy.OFF,
)
TWO = {0: "0-3", 1: "4-7"}


def test_off_with_cpus_binds_to_these_and_leaves_memory_alone(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, numa="off", cpus=(3, 4))
    assert choice.placements == (Placement(0, None, (3, 4), (), OFF, 2),)


def test_off_with_interleave_spreads_memory_only(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO), tmp_path, numa="off", memory=INTERLEAVE)
    assert choice.placements == (Placement(0, None, (), (0, 1), INTERLEAVE, 8),)


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


def test_without_nodes_one_worker_has_the_whole_machine_and_no_memory_node(tmp_path: Path) -> None:
    write(tmp_path, "sys/devices/system/cpu/online", "0-3")
    choice = choose(read_topology(tmp_path), read_limits(tmp_path), Request())
    assert choice.placements == (Placement(0, 0, (0, 1, 2, 3), (), BIND, 4),)
    assert len(notes_of(choice, NoteKind.NO_NODES)) == 1
