"""envdyno finds what a process may use: affinity, cpuset, quota, memory limit."""

from __future__ import annotations

import os

from machine import cgroups, cgroups_v1, hotplug
from topologies import ALL, FLAT, FOUR, MEMLESS, TWO, Topology

from checks import check
from envdyno.agent.placement.limits import read_limits

_MIB = 1 << 20


@check(*ALL)
def a_free_process_may_use_every_cpu_and_every_memory_node(topology: Topology) -> None:
    limits = read_limits()
    assert limits.affinity == topology.cpus
    assert limits.mems_allowed == topology.memory_nodes
    assert limits.effective_cpus == len(topology.cpus)
    assert (limits.quota_cpus, limits.memory_limit_bytes) == (None, None)


@check(FOUR)
def a_cpuset_limits_cpus_and_memory_apart(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "2-4,7", "cpuset.mems": "0,3"}):
        limits = read_limits()
    assert limits.affinity == (2, 3, 4, 7)
    assert limits.mems_allowed == (0, 3)
    assert limits.effective_cpus == 4


@check(FOUR)
def a_cpu_that_is_switched_off_does_not_count(topology: Topology) -> None:
    with hotplug.offline([5]):
        limits = read_limits()
    assert limits.affinity == (0, 1, 2, 3, 4, 6, 7)
    assert limits.effective_cpus == 7


@check(TWO)
def an_affinity_mask_limits_a_process(topology: Topology) -> None:
    os.sched_setaffinity(0, {1, 3})
    limits = read_limits()
    assert limits.affinity == (1, 3)
    assert limits.effective_cpus == 2


@check(FLAT)
def the_tightest_of_nested_limits_holds(topology: Topology) -> None:
    outer = {"cpu.max": "50000 100000", "memory.max": str(300 * _MIB)}
    inner = {"cpu.max": "150000 100000", "memory.max": str(200 * _MIB)}
    with cgroups.inside(outer, inner, {}) as group:
        limits = read_limits()
    assert limits.quota_cpus == 0.5
    assert limits.quota_source == str(group.parent.parent / "cpu.max")
    assert limits.memory_limit_bytes == 200 * _MIB
    assert limits.memory_limit_source == str(group.parent / "memory.max")
    assert limits.effective_cpus == 1
    assert limits.quota_is_tight


@check(MEMLESS)
def nested_limits_of_version_1_groups_are_read(topology: Topology) -> None:
    with cgroups_v1.inside("cpu", {"cpu.cfs_quota_us": "150000"}, {"cpu.cfs_quota_us": "-1"}) as group:
        limits = read_limits()
    assert limits.quota_cpus == 1.5
    assert limits.quota_source == str(group.parent / "cpu.cfs_quota_us")
    assert limits.effective_cpus == 2


@check(MEMLESS)
def a_version_1_cpuset_is_read(topology: Topology) -> None:
    with cgroups_v1.inside("cpuset", {"cpuset.cpus": "1-2", "cpuset.mems": "0"}):
        limits = read_limits()
    assert limits.affinity == (1, 2)
    assert limits.mems_allowed == (0,)
