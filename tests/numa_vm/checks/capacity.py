"""The warning before a strict bind comes true when it is not heeded, and not when it is."""

from __future__ import annotations

import signal

from machine import account, cgroups
from machine.child import signal_of_a_child
from topologies import FOUR, TWO, Topology

from checks import check
from envdyno.agent.placement.capacity import CapacityRisk, CapacityWarning, check_capacity
from envdyno.placement import MemoryPolicy, Placement, apply, limits, topology

_MIB = 1 << 20


@check(FOUR, limit_s=120)
def a_strict_bind_beyond_the_node_is_warned_of_and_would_be_killed(machine: Topology) -> None:
    need_mib = machine.node(3).memory_mib + 32
    (warning,) = _warnings(_on_node_3(MemoryPolicy.BIND), need_mib)
    assert (warning.risk, warning.node) == (CapacityRisk.KILLED, 3)
    assert warning.need_bytes == need_mib * _MIB
    assert "--mem preferred" in warning.message
    assert _killed_by(_on_node_3(MemoryPolicy.BIND), need_mib) == signal.SIGKILL


@check(FOUR, limit_s=120)
def a_preferred_node_that_fills_up_needs_no_warning_and_kills_nobody(machine: Topology) -> None:
    need_mib = machine.node(3).memory_mib + 32
    assert _warnings(_on_node_3(MemoryPolicy.PREFERRED), need_mib) == ()
    assert _killed_by(_on_node_3(MemoryPolicy.PREFERRED), need_mib) is None


@check(FOUR, limit_s=120)
def a_strict_bind_that_fits_needs_no_warning_and_is_not_killed(machine: Topology) -> None:
    need_mib = machine.node(3).memory_mib // 2
    assert _warnings(_on_node_3(MemoryPolicy.BIND), need_mib) == ()
    assert _killed_by(_on_node_3(MemoryPolicy.BIND), need_mib) is None


@check(TWO)
def a_memory_limit_below_the_need_is_warned_of_and_would_be_enforced(machine: Topology) -> None:
    need_mib = 96
    on_node_1 = Placement(0, 1, (2, 3), (1,), MemoryPolicy.BIND, 2)
    with cgroups.inside({"memory.max": str(64 * _MIB)}):
        (warning,) = _warnings(on_node_1, need_mib)
        assert (warning.risk, warning.node) == (CapacityRisk.KILLED, None)
        assert "64 MiB" in warning.message
        assert _killed_by(on_node_1, need_mib) == signal.SIGKILL


def _warnings(placement: Placement, need_mib: int) -> tuple[CapacityWarning, ...]:
    return check_capacity([placement], [need_mib * _MIB], topology(), limits())


def _killed_by(placement: Placement, need_mib: int) -> int | None:
    """Bind and touch that much; return the signal that ended it."""

    def body() -> None:
        assert apply(placement).complete
        account.Pages(need_mib)

    return signal_of_a_child(body)


def _on_node_3(policy: MemoryPolicy) -> Placement:
    return Placement(worker=0, node=3, cpus=(6, 7), memory_nodes=(3,), policy=policy, threads=2)
