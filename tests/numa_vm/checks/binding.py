"""Pages and threads are where envdyno's record says, by the kernel's own account."""

from __future__ import annotations

import threading
from collections.abc import Callable

from machine import account, cgroups, hotplug
from machine.child import in_a_child
from topologies import ALL, BOTH, CXL, FOUR, MEMLESS, SPARSE, TWO, Topology

from checks import check
from envdyno.agent.placement import bind
from envdyno.agent.placement.choice import choose
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.outcome import Outcome, State
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import read_topology

_MEBIBYTES = 8
_MODES = {MemoryPolicy.BIND: account.BIND, MemoryPolicy.PREFERRED: account.PREFERRED}


@check(*ALL)
def every_chosen_worker_runs_and_allocates_where_its_record_says(topology: Topology) -> None:
    for placement in choose(read_topology(), read_limits(), Request()).placements:
        in_a_child(_bound_as_recorded(placement))


@check(FOUR)
def inside_a_cpuset_every_worker_is_where_its_record_says(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "1-5", "cpuset.mems": "0,2"}):
        for placement in choose(read_topology(), read_limits(), Request()).placements:
            in_a_child(_bound_as_recorded(placement))


@check(FOUR)
def with_a_node_switched_off_the_others_are_bound_as_recorded(topology: Topology) -> None:
    with hotplug.offline(topology.node(1).cpus):
        for placement in choose(read_topology(), read_limits(), Request()).placements:
            in_a_child(_bound_as_recorded(placement))


@check(CXL, BOTH, SPARSE)
def memory_can_be_bound_to_a_node_without_cpus(topology: Topology) -> None:
    (memory_only,) = (node.id for node in topology.online if not node.cpus)
    _bound_as_recorded(_placement((0, 1), (memory_only,)))()


@check(TWO, FOUR)
def interleaved_pages_are_spread_evenly(topology: Topology) -> None:
    nodes = topology.memory_nodes
    outcome = bind.apply(_placement((0,), nodes, MemoryPolicy.INTERLEAVE))
    assert outcome.complete, outcome
    pages = account.Pages(_MEBIBYTES)
    # With transparent huge pages the unit is 2 MiB, and the region need not begin at one.
    share = pages.count / len(nodes)
    spread = pages.by_node()
    assert set(spread) == set(nodes)
    assert all(abs(count - share) <= 512 for count in spread.values()), spread


@check(TWO)
def preferred_pages_come_from_the_node_while_it_has_room(topology: Topology) -> None:
    outcome = bind.apply(_placement((0, 1), (1,), MemoryPolicy.PREFERRED))
    assert outcome.complete, outcome
    pages = account.Pages(_MEBIBYTES)
    assert pages.by_node() == {1: pages.count}


@check(FOUR)
def preferred_pages_go_elsewhere_when_the_node_is_full(topology: Topology) -> None:
    outcome = bind.apply(_placement((6, 7), (3,), MemoryPolicy.PREFERRED))
    assert outcome.complete, outcome
    more_than_fits = topology.node(3).memory_mib + 32
    spread = account.Pages(more_than_fits).by_node()
    assert spread[3] > 0
    assert len(spread) > 1


@check(FOUR)
def several_preferred_nodes_are_all_preferred(topology: Topology) -> None:
    outcome = bind.apply(_placement((6, 7), (2, 3), MemoryPolicy.PREFERRED))
    assert outcome.complete, outcome
    assert outcome.memory.actual == (2, 3)
    assert account.policy() == account.Policy(account.PREFERRED_MANY, frozenset({2, 3}))
    pages = account.Pages(_MEBIBYTES)
    assert pages.by_node() == {3: pages.count}


@check(TWO)
def memory_policy_off_leaves_the_kernels_policy(topology: Topology) -> None:
    before = account.policy()
    outcome = bind.apply(_placement((2, 3), (), MemoryPolicy.OFF))
    assert (outcome.cpu.state, outcome.memory.state) == (State.APPLIED, State.OFF)
    assert account.policy() == before
    # By default the kernel takes pages from the node of the CPU that touches them.
    pages = account.Pages(_MEBIBYTES)
    assert pages.by_node() == {1: pages.count}


@check(MEMLESS, BOTH)
def a_bind_to_a_node_without_memory_fails_and_says_so(topology: Topology) -> None:
    outcome = bind.apply(_placement(topology.node(1).cpus, (1,)))
    assert outcome.cpu.state is State.APPLIED
    assert outcome.memory.state is State.FAILED
    assert outcome.memory.errno_name == "EINVAL"
    assert "no memory" in (outcome.memory.message or "")


@check(FOUR)
def what_a_cpuset_cuts_off_is_recorded_as_partial(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "0-3", "cpuset.mems": "0,2"}):
        outcome = bind.apply(_placement((2, 3, 4, 5), (0, 1)))
        assert account.policy().nodes == {0}
        _assert_affinity({2, 3})
    assert (outcome.cpu.state, outcome.cpu.actual) == (State.PARTIAL, (2, 3))
    assert (outcome.memory.state, outcome.memory.actual) == (State.PARTIAL, (0,))


@check(FOUR)
def what_a_cpuset_forbids_is_recorded_as_failed_with_what_it_allows(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "0-3", "cpuset.mems": "0,2"}):
        outcome = bind.apply(_placement((6, 7), (3,)))
        _assert_affinity({0, 1, 2, 3})
    assert (outcome.cpu.state, outcome.cpu.errno_name) == (State.FAILED, "EINVAL")
    assert "0-3" in (outcome.cpu.message or "")
    assert (outcome.memory.state, outcome.memory.errno_name) == (State.FAILED, "EINVAL")
    assert "0,2" in (outcome.memory.message or "")


@check(FOUR)
def a_cpu_that_went_off_after_the_choice_is_recorded(topology: Topology) -> None:
    with hotplug.offline([3]):
        partly = bind.apply(_placement((2, 3), (1,)))
        wholly = bind.apply(_placement((3,), (1,)))
    assert (partly.cpu.state, partly.cpu.actual) == (State.PARTIAL, (2,))
    assert (wholly.cpu.state, wholly.cpu.errno_name) == (State.FAILED, "EINVAL")
    assert "offline" in (wholly.cpu.message or "")


def _placement(
    cpus: tuple[int, ...], memory_nodes: tuple[int, ...], policy: MemoryPolicy = MemoryPolicy.BIND
) -> Placement:
    return Placement(0, None, cpus, memory_nodes, policy, max(1, len(cpus)))


def _bound_as_recorded(placement: Placement) -> Callable[[], None]:
    def body() -> None:
        outcome = bind.apply(placement)
        assert outcome.complete, outcome
        assert outcome.cpu.actual == placement.cpus
        assert outcome.memory.actual == placement.memory_nodes
        assert Outcome.from_json(outcome.to_json()) == outcome
        _assert_affinity(set(placement.cpus))
        if placement.node is not None:
            assert account.node_of_this_cpu() == placement.node
        assert account.policy() == account.Policy(_MODES[placement.policy], frozenset(placement.memory_nodes))
        pages = account.Pages(_MEBIBYTES)
        (node,) = placement.memory_nodes
        assert pages.by_node() == {node: pages.count}

    return body


def _assert_affinity(cpus: set[int]) -> None:
    """Every thread, one started now included, may use these CPUs."""
    may_end = threading.Event()
    thread = threading.Thread(target=may_end.wait)
    thread.start()
    try:
        threads = account.affinity_of_threads()
    finally:
        may_end.set()
        thread.join()
    assert len(threads) == 2
    assert set(threads.values()) == {frozenset(cpus)}
