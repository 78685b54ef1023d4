"""System calls that a sandbox refuses: what still works is done, what does not is said."""

from __future__ import annotations

import errno
import os

from machine import account, syscall_filter
from machine.child import in_a_child
from topologies import FOUR, TWO, Topology

from checks import check
from envdyno.placement import (
    MemoryPolicy,
    Placement,
    PlacementError,
    State,
    apply,
    audit,
    bound,
    choose,
    limits,
    spawn_placement,
)

_MEMORY_CALLS = ("get_mempolicy", "mbind", "set_mempolicy", "migrate_pages", "move_pages")


@check(TWO, FOUR)
def under_a_containers_default_profile_cpus_are_bound_and_memory_is_denied(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(syscall_filter.CONTAINER_DEFAULT)
    outcome = apply(placement)
    assert (outcome.cpu.state, outcome.cpu.actual) == (State.APPLIED, placement.cpus)
    assert set(account.affinity_of_threads().values()) == {frozenset(placement.cpus)}
    assert (outcome.memory.state, outcome.memory.errno_name) == (State.DENIED, "EPERM")
    assert outcome.memory.actual is None
    assert "SYS_NICE" in (outcome.memory.remedy or "")
    assert "--mem off" in (outcome.memory.remedy or "")
    pages = account.Pages(2)
    assert _policy_in_numa_maps(pages) == "default"


@check(TWO)
def under_a_containers_default_profile_the_audit_reads_what_is_left(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(syscall_filter.CONTAINER_DEFAULT)
    outcome = apply(placement)
    report = audit(placement=placement, outcome=outcome)
    assert report.policy == "default"
    assert report.residency is not None
    assert report.sample is None
    assert "not permitted" in report.absent["sample"]
    # Memory was never bound, so no page is in the wrong place.
    assert report.findings == (), report.findings


@check(TWO)
def with_sys_nice_memory_is_bound_though_pages_cannot_be_asked_for(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(syscall_filter.CONTAINER_WITH_SYS_NICE)
    assert apply(placement).complete
    assert account.policy() == account.Policy(account.BIND, frozenset({1}))
    report = audit()
    assert report.residency is not None
    assert set(report.absent) == {"sample"}


@check(TWO)
def a_kernel_without_memory_policies_is_unsupported(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(_MEMORY_CALLS, errno.ENOSYS)
    outcome = apply(placement)
    assert outcome.cpu.state is State.APPLIED
    assert (outcome.memory.state, outcome.memory.errno_name) == (State.UNSUPPORTED, "ENOSYS")


@check(TWO)
def a_refused_affinity_is_recorded_and_memory_is_bound_all_the_same(topology: Topology) -> None:
    for code, state in ((errno.EPERM, State.DENIED), (errno.ENOSYS, State.UNSUPPORTED)):
        in_a_child(lambda code=code, state=state: _affinity_refused(topology, code, state))  # type: ignore[misc]


@check(TWO)
def where_affinity_cannot_be_read_the_limits_come_from_proc(topology: Topology) -> None:
    os.sched_setaffinity(0, {1, 2})
    syscall_filter.refuse(("sched_getaffinity",), errno.ENOSYS)
    assert limits().affinity == (1, 2)
    assert [placement.cpus for placement in choose().placements] == [(1,), (2,)]


@check(TWO)
def the_choice_is_the_same_in_a_container(topology: Topology) -> None:
    free = choose()
    syscall_filter.refuse((*syscall_filter.CONTAINER_DEFAULT, *_MEMORY_CALLS))
    assert choose() == free


@check(TWO)
def what_cannot_be_read_before_is_left_alone_by_bound(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(("get_mempolicy",))
    with bound(placement) as outcome:
        assert outcome.cpu.state is State.APPLIED
        assert (outcome.memory.state, outcome.memory.errno_name) == (State.DENIED, "EPERM")
        pages = account.Pages(2)
    # Had the policy been set, it could not have been put back.
    assert _policy_in_numa_maps(pages) == "default"
    assert os.sched_getaffinity(0) == set(topology.cpus)


@check(TWO)
def strictly_a_refusal_is_an_error_and_nothing_stays_bound(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(("set_mempolicy",))
    try:
        with bound(placement, strict=True):
            raise AssertionError("the body ran")
    except PlacementError as error:
        assert "SYS_NICE" in str(error)  # noqa: PT017 (there is no pytest in the guests)
    assert os.sched_getaffinity(0) == set(topology.cpus)


@check(TWO)
def a_started_child_is_on_the_cpus_though_memory_is_refused(topology: Topology) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(syscall_filter.CONTAINER_DEFAULT)

    def body() -> None:
        assert os.sched_getaffinity(0) == set(placement.cpus)
        pages = account.Pages(2)
        # The kernel's own policy: memory of the node whose CPU touches it.
        assert pages.by_numa_maps() == {1: pages.count}

    with spawn_placement(placement) as outcome:
        assert outcome.memory.state is State.DENIED
        in_a_child(body)
    assert os.sched_getaffinity(0) == set(topology.cpus)


def _affinity_refused(topology: Topology, code: int, state: State) -> None:
    placement = _on_node_1(topology)
    syscall_filter.refuse(("sched_setaffinity",), code)
    outcome = apply(placement)
    assert (outcome.cpu.state, outcome.cpu.errno) == (state, code)
    assert outcome.memory.state is State.APPLIED
    assert os.sched_getaffinity(0) == set(topology.cpus)
    pages = account.Pages(2)
    assert pages.by_node() == {1: pages.count}


def _policy_in_numa_maps(pages: account.Pages) -> str:
    return pages.line_in_numa_maps().split()[1]


def _on_node_1(topology: Topology) -> Placement:
    cpus = topology.node(1).cpus
    return Placement(0, 1, cpus, (1,), MemoryPolicy.BIND, len(cpus))
