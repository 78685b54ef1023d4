"""envdyno finds the machine that the kernel shows."""

from __future__ import annotations

from machine import balancing, hotplug
from topologies import ALL, FLAT, FOUR, ISOLATED, SMT, TWO, Topology

from checks import check
from envdyno.agent.placement.topology import read_topology

_MIB = 1 << 20


@check(*ALL)
def nodes_have_their_real_ids_cpus_memory_and_distances(topology: Topology) -> None:
    found = read_topology()
    assert not found.problems, found.problems
    assert not found.synthetic, found.synthetic_reason
    assert found.cpus == topology.cpus
    assert [node.id for node in found.nodes] == [node.id for node in topology.online]
    for expected, node in zip(topology.online, found.nodes, strict=True):
        assert node.cpus == expected.cpus
        assert node.distances == {
            other.id: topology.distance(expected.id, other.id) for other in topology.online
        }
        assert node.has_memory == (expected.memory_mib > 0)
        assert node.memory_bytes is not None
        # The kernel keeps some of the firmware's memory to itself.
        assert 0.8 * expected.memory_mib * _MIB <= node.memory_bytes <= expected.memory_mib * _MIB
        assert node.free_bytes is not None
        assert node.free_bytes <= node.memory_bytes


@check(*ALL)
def threads_of_a_core_are_siblings(topology: Topology) -> None:
    width = topology.threads_per_core
    cores = tuple(topology.cpus[at : at + width] for at in range(0, len(topology.cpus), width))
    assert read_topology().siblings == cores


@check(FLAT, TWO, FOUR, SMT)
def each_socket_is_one_cache_domain(topology: Topology) -> None:
    share = len(topology.cpus) // topology.sockets
    sockets = [topology.cpus[at : at + share] for at in range(0, len(topology.cpus), share)]
    assert [domain.cpus for domain in read_topology().l3_domains] == sockets


@check(TWO)
def automatic_balancing_is_seen(topology: Topology) -> None:
    assert read_topology().numa_balancing == 0
    with balancing.on():
        assert read_topology().numa_balancing == 1


@check(ISOLATED)
def isolated_cpus_are_listed(topology: Topology) -> None:
    found = read_topology()
    assert found.isolated == (1, 3)
    assert found.cpus == topology.cpus


@check(FOUR)
def a_cpu_that_is_switched_off_is_offline(topology: Topology) -> None:
    off = topology.node(1).cpus[1]
    with hotplug.offline([off]):
        found = read_topology()
    assert found.offline == (off,)
    assert off not in found.cpus
    assert all(off not in core for core in found.siblings)
    node = found.node(1)
    assert node is not None
    assert node.cpus == topology.node(1).cpus[:1]
    assert read_topology().offline == ()


@check(FOUR)
def a_node_whose_cpus_are_all_off_keeps_its_memory(topology: Topology) -> None:
    with hotplug.offline(topology.node(1).cpus):
        node = read_topology().node(1)
    assert node is not None
    assert node.cpus == ()
    assert node.has_memory
