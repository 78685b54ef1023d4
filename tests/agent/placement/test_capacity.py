from __future__ import annotations

import json
from pathlib import Path

import pytest
from machine_tree import Machine, cgroup_v2, write

from envdyno.agent.placement.capacity import CapacityRisk, CapacityWarning, check_capacity
from envdyno.agent.placement.choice import choose
from envdyno.agent.placement.limits import read_limits
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import read_topology

MIB = 1 << 20


def check(
    root: Path, needs_mib: list[int], memory: MemoryPolicy = MemoryPolicy.BIND, **request: int
) -> list[CapacityWarning]:
    """Warnings on two nodes: 500 MiB free and 300 MiB cache on node 0, 900 MiB free on node 1."""
    machine = Machine({0: "0-3", 1: "4-7"}, free={0: 500, 1: 900}, cache={0: 300}).build(root)
    topology, limits = read_topology(machine), read_limits(machine)
    choice = choose(topology, limits, Request(memory=memory, **request))  # type: ignore[arg-type]
    needs = [need * MIB for need in needs_mib]
    return list(check_capacity(choice.placements, needs, topology, limits))


def test_what_fits_is_no_warning(tmp_path: Path) -> None:
    assert check(tmp_path, [500, 900]) == []


def test_a_strict_bind_beyond_the_node_is_said_to_be_killed(tmp_path: Path) -> None:
    (warning,) = check(tmp_path, [900, 100])
    assert (warning.risk, warning.node) == (CapacityRisk.KILLED, 0)
    assert (warning.need_bytes, warning.free_bytes, warning.reclaimable_bytes) == (
        900 * MIB,
        500 * MIB,
        300 * MIB,
    )
    assert "900 MiB are needed on node 0, which has 500 MiB free" in warning.message
    assert "--mem preferred" in warning.message


def test_what_fits_after_dropping_page_cache_is_told_apart(tmp_path: Path) -> None:
    (warning,) = check(tmp_path, [700, 100])
    assert warning.risk is CapacityRisk.RECLAIM
    assert "page cache" in warning.message


def test_needs_of_workers_on_one_node_are_added(tmp_path: Path) -> None:
    (warning,) = check(tmp_path, [400, 450, 10, 10], workers_per_node=2)
    assert (warning.node, warning.need_bytes) == (0, 850 * MIB)


@pytest.mark.parametrize("memory", [MemoryPolicy.PREFERRED, MemoryPolicy.INTERLEAVE, MemoryPolicy.OFF])
def test_policies_that_may_spill_are_not_warned_about(tmp_path: Path, memory: MemoryPolicy) -> None:
    assert check(tmp_path, [9000, 9000], memory) == []


def test_a_memory_limit_below_the_sum_is_named_with_its_file(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"memory.max": str(512 * MIB)})
    (warning,) = check(tmp_path, [300, 300])
    assert (warning.risk, warning.node) == (CapacityRisk.KILLED, None)
    assert "/sys/fs/cgroup/memory.max" in warning.message


def test_a_node_that_does_not_tell_its_free_memory_is_not_judged(tmp_path: Path) -> None:
    root = Machine({0: "0-3"}).build(tmp_path)
    write(root, "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1024 kB")
    topology, limits = read_topology(root), read_limits(root)
    placements = choose(topology, limits).placements
    assert check_capacity(placements, [9000 * MIB], topology, limits) == ()


def test_a_warning_travels_as_json(tmp_path: Path) -> None:
    (warning,) = check(tmp_path, [900, 100])
    assert CapacityWarning.from_json(json.loads(json.dumps(warning.to_json()))) == warning
