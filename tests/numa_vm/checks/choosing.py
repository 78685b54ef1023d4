"""envdyno gives every worker CPUs and memory that the machine has."""

from __future__ import annotations

import os

from machine import cgroups, hotplug
from topologies import ALL, BOTH, CXL, FOUR, ISOLATED, MEMLESS, SMT, SPARSE, TWO, Topology

from checks import check
from envdyno.agent.placement.choice import Choice, choose
from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Request, Smt
from envdyno.agent.placement.topology import read_topology

# The node that a worker's memory comes from, where it is not the worker's own.
_NEAREST_MEMORY = {MEMLESS.name: {1: 0}, BOTH.name: {1: 2}}


@check(*ALL)
def every_node_with_cpus_gets_a_worker_and_no_other(topology: Topology) -> None:
    choice = _choose()
    assert [placement.node for placement in choice.placements] == list(topology.cpu_nodes)
    for placement in choice.placements:
        assert placement.node is not None
        assert placement.cpus == topology.node(placement.node).cpus
        assert placement.threads == len(placement.cpus)
    assert [skipped.node for skipped in choice.skipped] == [
        node.id for node in topology.online if not node.cpus
    ]
    assert choice.idle_cpus == ()


@check(*ALL)
def memory_comes_from_the_own_node_or_the_nearest_that_has_memory(topology: Topology) -> None:
    others = _NEAREST_MEMORY.get(topology.name, {})
    for placement in _choose().placements:
        assert placement.node is not None
        source = others.get(placement.node, placement.node)
        assert placement.memory_nodes == (source,)
        # A bind to memory that is remote anyway would only add the risk of running out of it.
        own = source == placement.node
        assert placement.policy is (MemoryPolicy.BIND if own else MemoryPolicy.PREFERRED)


@check(TWO, FOUR, SMT)
def a_worker_for_each_cache_never_spans_two_nodes(topology: Topology) -> None:
    choice = _choose(Request(numa="per-l3"))
    # A socket is one cache, and a node never spans two sockets.
    assert [placement.cpus for placement in choice.placements] == [node.cpus for node in topology.nodes]


@check(SMT)
def threads_of_a_core_go_to_one_worker(topology: Topology) -> None:
    choice = _choose(Request(workers_per_node=2))
    assert [placement.cpus for placement in choice.placements] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    # Three CPUs for two workers: by count alone the second core would be split.
    choice = _choose(Request(workers_per_node=2, cpus=(1, 2, 3)))
    assert [placement.cpus for placement in choice.placements] == [(1,), (2, 3)]


@check(SMT)
def with_smt_off_one_thread_of_each_core_is_used(topology: Topology) -> None:
    choice = _choose(Request(smt=Smt.OFF))
    assert [placement.cpus for placement in choice.placements] == [(0, 2), (4, 6)]
    assert [placement.threads for placement in choice.placements] == [2, 2]
    assert choice.idle_cpus == (1, 3, 5, 7)


@check(TWO)
def more_workers_than_cores_of_a_node_are_refused(topology: Topology) -> None:
    message = _refusal(Request(workers_per_node=3))
    assert "3" in message
    assert "2" in message


@check(SPARSE)
def a_node_that_is_not_there_is_refused_by_name(topology: Topology) -> None:
    message = _refusal(Request(numa="1"))
    assert "1" in message
    assert "0,2-3" in message


@check(CXL, SPARSE)
def a_worker_on_memory_alone_is_refused(topology: Topology) -> None:
    (memory_only,) = (node.id for node in topology.online if not node.cpus)
    message = _refusal(Request(numa=str(memory_only)))
    assert str(memory_only) in message
    assert "CPU" in message


@check(FOUR)
def a_node_whose_cpus_are_off_gets_no_worker(topology: Topology) -> None:
    with hotplug.offline(topology.node(1).cpus):
        choice = _choose()
        message = _refusal(Request(numa="1"))
    assert [placement.node for placement in choice.placements] == [0, 2, 3]
    assert [skipped.node for skipped in choice.skipped] == [1]
    assert "1" in message


@check(FOUR)
def a_cpu_that_is_off_is_in_no_placement(topology: Topology) -> None:
    with hotplug.offline([5]):
        choice = _choose()
        message = _refusal(Request(cpus=(4, 5)))
    assert [placement.cpus for placement in choice.placements] == [(0, 1), (2, 3), (4,), (6, 7)]
    assert "offline" in message


@check(FOUR)
def inside_a_cpuset_only_its_cpus_and_memory_are_chosen(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "1-5", "cpuset.mems": "0,2"}):
        choice = _choose()
    assert [(placement.node, placement.cpus) for placement in choice.placements] == [
        (0, (1,)),
        (1, (2, 3)),
        (2, (4, 5)),
    ]
    # Node 1's own memory is not allowed; node 0 is nearer to it (12) than node 2 (32).
    assert [placement.memory_nodes for placement in choice.placements] == [(0,), (0,), (2,)]
    assert [skipped.node for skipped in choice.skipped] == [3]


@check(FOUR)
def memory_that_a_cpuset_puts_far_from_the_cpus_is_called_remote(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "2-3", "cpuset.mems": "3"}):
        choice = _choose()
    (placement,) = choice.placements
    assert (placement.node, placement.memory_nodes) == (1, (3,))
    (note,) = (note for note in choice.notes if note.kind.value == "remote_memory")
    assert "1" in note.message
    assert "3" in note.message


@check(ISOLATED)
def isolated_cpus_are_left_out_until_they_are_named(topology: Topology) -> None:
    assert [placement.cpus for placement in _choose().placements] == [(0,), (2,)]
    # The kernel starts programs with a mask that leaves isolated CPUs out; `taskset` widens it.
    os.sched_setaffinity(0, topology.cpus)
    choice = _choose()
    assert [placement.cpus for placement in choice.placements] == [(0,), (2,)]
    assert any(note.kind.value == "isolated" and "1,3" in note.message for note in choice.notes)
    choice = _choose(Request(cpus=(1, 2, 3)))
    assert [placement.cpus for placement in choice.placements] == [(1,), (2, 3)]
    assert any(note.kind.value == "isolated" and "1,3" in note.message for note in choice.notes)


@check(TWO)
def an_affinity_mask_of_one_node_leaves_one_worker(topology: Topology) -> None:
    os.sched_setaffinity(0, {3})
    choice = _choose()
    assert [(placement.node, placement.cpus) for placement in choice.placements] == [(1, (3,))]


def _choose(request: Request | None = None) -> Choice:
    return choose(read_topology(), read_limits(), request or Request())


def _refusal(request: Request) -> str:
    """The message of the error that this request must raise."""
    try:
        choice = _choose(request)
    except PlacementError as error:
        return str(error)
    raise AssertionError(f"{request} was not refused, but gave {choice.placements}")
