"""The rig before the product: each guest is the machine that `topologies.py` says it is."""

from __future__ import annotations

from pathlib import Path

from machine import account
from topologies import ALL, ISOLATED, SMT, Topology

from checks import check

_NODES = Path("/sys/devices/system/node")
_CPUS = Path("/sys/devices/system/cpu")


@check(*ALL, ISOLATED)
def the_guest_is_the_machine_that_was_asked_for(topology: Topology) -> None:
    assert _ids(_NODES / "online") == [node.id for node in topology.online]
    assert _ids(_NODES / "has_cpu") == list(topology.cpu_nodes)
    assert _ids(_NODES / "has_memory") == list(topology.memory_nodes)
    assert account.allowed_memory() == set(topology.memory_nodes)
    for node in topology.online:
        assert _ids(_NODES / f"node{node.id}" / "cpulist") == list(node.cpus)
        # The columns follow the online nodes, not their ids.
        row = [int(column) for column in (_NODES / f"node{node.id}" / "distance").read_text().split()]
        assert row == [topology.distance(node.id, other.id) for other in topology.online]


@check(SMT)
def the_guest_shows_two_threads_a_core(topology: Topology) -> None:
    for cpu in topology.cpus:
        assert _ids(_CPUS / f"cpu{cpu}/topology/thread_siblings_list") == [cpu & ~1, cpu | 1]


def _ids(path: Path) -> list[int]:
    return account.cpus(path.read_text())
