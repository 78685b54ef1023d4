"""What `bound` and `spawn_placement` change is put back exactly, or said to be not."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
from typing import Any

from machine import account, cgroups, hotplug
from topologies import FOUR, TWO, Topology

from checks import check
from envdyno.placement import MemoryPolicy, Placement, RestoreError, bound, spawn_placement

_POLICIES: tuple[tuple[int, tuple[int, ...]], ...] = (
    (account.DEFAULT, ()),
    (account.LOCAL, ()),
    (account.PREFERRED, (0,)),
    (account.PREFERRED | account.STATIC_NODES, (0,)),
    (account.BIND, (0, 1)),
    (account.BIND | account.STATIC_NODES, (0, 1)),
    (account.INTERLEAVE | account.RELATIVE_NODES, (0, 1)),
)


@check(TWO)
def mask_and_policy_are_put_back_with_flags_and_nodes(topology: Topology) -> None:
    for mode, nodes in _POLICIES:
        os.sched_setaffinity(0, {0, 3})
        account.set_policy(mode, nodes)
        before = account.policy()
        with bound(_on_node_1()) as outcome:
            assert outcome.complete, outcome
            assert account.policy() == account.Policy(account.BIND, frozenset({1}))
            assert set(account.affinity_of_threads().values()) == {frozenset({2, 3})}
        assert account.policy() == before
        assert set(account.affinity_of_threads().values()) == {frozenset({0, 3})}


@check(TWO)
def mask_and_policy_are_put_back_when_the_body_raises(topology: Topology) -> None:
    os.sched_setaffinity(0, {0})
    account.set_policy(account.INTERLEAVE | account.STATIC_NODES, (0, 1))
    before = account.policy()
    try:
        with bound(_on_node_1()):
            raise KeyError("from the body")
    except KeyError:
        pass
    assert account.policy() == before
    assert os.sched_getaffinity(0) == {0}


@check(FOUR)
def a_policy_that_names_nodes_outside_the_cpuset_is_put_back_with_them(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "0-7", "cpuset.mems": "0,2"}):
        account.set_policy(account.BIND | account.STATIC_NODES, (0, 1))
        with bound(Placement(0, 2, (4, 5), (2,), MemoryPolicy.BIND, 2)) as outcome:
            assert outcome.complete, outcome
            pages = account.Pages(2)
            assert pages.by_node() == {2: pages.count}
        assert account.policy() == account.Policy(account.BIND | account.STATIC_NODES, frozenset({0, 1}))


@check(FOUR)
def a_mask_that_cannot_be_put_back_is_an_error_that_tells_both_states(topology: Topology) -> None:
    os.sched_setaffinity(0, {3})
    manager = bound(Placement(0, 2, (4, 5), (2,), MemoryPolicy.BIND, 2))
    manager.__enter__()
    with hotplug.offline([3]):
        message = _restore_error(manager)
    assert "CPU mask" in message
    assert "3" in message
    assert "4-5" in message
    # The other half is back all the same.
    assert account.policy() == account.Policy(account.DEFAULT, frozenset())


@check(FOUR)
def a_policy_that_cannot_be_put_back_is_an_error_that_tells_both_states(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "0-7", "cpuset.mems": "0-3"}) as group:
        account.set_policy(account.BIND, (1,))
        manager = bound(Placement(0, 0, (0, 1), (0,), MemoryPolicy.BIND, 2))
        manager.__enter__()
        (group / "cpuset.mems").write_text("0,2")
        message = _restore_error(manager)
        assert "memory policy" in message
        assert "bind:1" in message
        assert "bind:0" in message
        assert os.sched_getaffinity(0) == set(topology.cpus)


@check(TWO)
def a_started_program_is_placed_from_its_first_page_and_the_parent_stays(topology: Topology) -> None:
    os.sched_setaffinity(0, {0})
    before = account.policy()
    with spawn_placement(_on_node_1()) as outcome:
        assert outcome.complete, outcome
        program = "cat /proc/self/status /proc/self/numa_maps; echo pool $OMP_NUM_THREADS"
        run = subprocess.run(["/bin/sh", "-c", program], capture_output=True, text=True, check=True)
    assert re.search(r"^Cpus_allowed_list:\s*2-3$", run.stdout, re.MULTILINE)
    assert "pool 2" in run.stdout
    anonymous = [line for line in run.stdout.splitlines() if " heap " in line or " stack " in line]
    assert anonymous
    for line in anonymous:
        assert " bind:1 " in line, line
        assert re.search(r" N1=\d", line), line
        assert " N0=" not in line, line
    assert account.policy() == before
    assert os.sched_getaffinity(0) == {0}
    assert "OMP_NUM_THREADS" not in os.environ


@check(TWO)
def children_of_multiprocessing_inherit_the_placement(topology: Topology) -> None:
    for method in ("fork", "spawn"):
        context: Any = multiprocessing.get_context(method)
        child = context.Process(target=_assert_on_node_1)
        with spawn_placement(_on_node_1()):
            child.start()
        child.join()
        assert child.exitcode == 0, method
    assert account.policy().mode == account.DEFAULT


def _assert_on_node_1() -> None:
    assert account.policy() == account.Policy(account.BIND, frozenset({1}))
    assert account.node_of_this_cpu() == 1
    pages = account.Pages(2)
    assert pages.by_node() == {1: pages.count}


def _on_node_1() -> Placement:
    return Placement(worker=0, node=1, cpus=(2, 3), memory_nodes=(1,), policy=MemoryPolicy.BIND, threads=2)


def _restore_error(manager: object) -> str:
    try:
        manager.__exit__(None, None, None)  # type: ignore[attr-defined]
    except RestoreError as error:
        return str(error)
    raise AssertionError("what could not be put back was not said")
