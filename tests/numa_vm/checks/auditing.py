"""The audit tells where threads and pages are, and names what is not where the placement has it."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

from machine import account, balancing, cgroups
from machine.child import in_a_child
from topologies import ALL, FOUR, TWO, Topology

from checks import SkippedError, check
from envdyno.placement import (
    Audit,
    Finding,
    FindingKind,
    MemoryPolicy,
    Placement,
    apply,
    audit,
    choose,
    spawn_placement,
)

_MIB = 1 << 20
_SIZE_MIB = 16
# What the interpreter itself may allocate meanwhile.
_SLACK = 2 * _MIB


@check(*ALL)
def an_audit_counts_new_pages_on_the_node_where_the_kernel_has_them(topology: Topology) -> None:
    for placement in choose().placements:
        in_a_child(lambda placement=placement: _audit_sees_new_pages(placement))  # type: ignore[misc]


@check(*ALL)
def an_audit_of_a_bound_program_finds_nothing_wrong(topology: Topology) -> None:
    for placement in choose().placements:
        report = _audit_of_a_program(placement)
        assert report.findings == (), report.findings
        assert [thread.cpus for thread in report.threads] == [placement.cpus]
        policy = "bind" if placement.policy is MemoryPolicy.BIND else "preferred"
        assert report.policy == f"{policy}:{placement.memory_nodes[0]}"
        assert report.share_on(placement.memory_nodes) == 1.0


@check(FOUR)
def an_audit_of_a_program_with_another_policy_finds_nothing_wrong(topology: Topology) -> None:
    for policy, nodes in (
        (MemoryPolicy.INTERLEAVE, (0, 1, 2, 3)),
        (MemoryPolicy.PREFERRED, (3,)),
        (MemoryPolicy.PREFERRED, (2, 3)),
    ):
        placement = Placement(0, 3, (6, 7), nodes, policy, 2)
        report = _audit_of_a_program(placement)
        assert report.findings == (), (policy, nodes, report.policy, report.findings)


@check(TWO)
def memory_on_a_remote_node_is_named(topology: Topology) -> None:
    placement = _on_node_1()
    assert apply(placement).complete
    account.set_policy(account.BIND, (0,))
    pages = account.Pages(64)
    assert pages.by_node() == {0: pages.count}
    report = audit(placement=placement)
    found = {finding.kind: finding.message for finding in report.findings}
    assert "MiB on node 0" in found[FindingKind.REMOTE_PAGES]
    assert "bind:0" in found[FindingKind.POLICY_CHANGED]
    share = report.share_on((1,))
    assert share is not None
    assert share < 0.5


@check(TWO)
def a_mask_that_shrank_is_named(topology: Topology) -> None:
    placement = _on_node_1()
    assert apply(placement).complete
    os.sched_setaffinity(0, {2})
    (finding,) = (one for one in _audit(placement) if one.kind is FindingKind.MASK_SHRUNK)
    assert "2-3" in finding.message


@check(TWO)
def a_thread_outside_the_placement_is_named(topology: Topology) -> None:
    placement = _on_node_1()
    assert apply(placement).complete
    outside, may_end = threading.Event(), threading.Event()

    def leave() -> None:
        os.sched_setaffinity(0, {0, 1, 2, 3})
        outside.set()
        may_end.wait()

    thread = threading.Thread(target=leave)
    thread.start()
    outside.wait()
    findings = _audit(placement)
    may_end.set()
    thread.join()
    (finding,) = (one for one in findings if one.kind is FindingKind.MASK_WIDENED)
    assert "0-1" in finding.message


@check(FOUR)
def a_cpuset_that_changed_during_the_run_is_named(topology: Topology) -> None:
    with cgroups.inside({"cpuset.cpus": "0-7", "cpuset.mems": "0-3"}) as group:
        placement = Placement(0, 1, (2, 3), (1,), MemoryPolicy.BIND, 2)
        assert apply(placement).complete
        (group / "cpuset.cpus").write_text("0-2")
        (group / "cpuset.mems").write_text("0,2")
        kinds = {finding.kind for finding in _audit(placement)}
    assert {FindingKind.MASK_SHRUNK, FindingKind.POLICY_CHANGED} <= kinds


@check(TWO, limit_s=120)
def pages_that_automatic_balancing_has_marked_are_counted(topology: Topology) -> None:
    # Linux 6.1 answers that such pages are absent when it is asked for them one by one.
    os.sched_setaffinity(0, {2})
    account.set_policy(account.BIND, (1,))
    first = _own_bytes(audit(), 1)
    marked = account.Pages(_SIZE_MIB)
    account.set_policy(account.DEFAULT)
    busy = account.Pages(_SIZE_MIB)
    with balancing.on():
        before = _hinting_updates()
        deadline = time.monotonic() + 20
        while _hinting_updates() - before < marked.count and time.monotonic() < deadline:
            busy.touch()
        if _hinting_updates() - before < marked.count:
            raise SkippedError("automatic balancing marked no pages in 20 s")
        report = audit()
    grown = _own_bytes(report, 1) - first
    assert 2 * _SIZE_MIB * _MIB <= grown <= 2 * _SIZE_MIB * _MIB + _SLACK


def _audit_of_a_program(placement: Placement) -> Audit:
    """Audit another process, all of it placed: a shell that waits."""
    with spawn_placement(placement) as outcome:
        assert outcome.complete, outcome
        program = subprocess.Popen(["/bin/sh", "-c", "echo; read line"], stdin=-1, stdout=-1)
    with program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdout.readline()
        report = audit(program.pid, placement=placement)
        program.stdin.close()
    return report


def _audit_sees_new_pages(placement: Placement) -> None:
    outcome = apply(placement)
    assert outcome.complete, outcome
    before = audit()
    pages = account.Pages(_SIZE_MIB)
    after = audit(placement=placement, outcome=outcome)
    (node,) = placement.memory_nodes
    assert pages.by_node() == {node: pages.count}
    grown = _own_bytes(after, node) - _own_bytes(before, node)
    assert _SIZE_MIB * _MIB <= grown <= _SIZE_MIB * _MIB + _SLACK
    assert not after.absent, after.absent
    assert after.sample is not None
    assert after.sample.pages[node] > 0
    kinds = {finding.kind for finding in after.findings}
    # The interpreter was there before it was bound, so pages of it may be remote; nothing else may be wrong.
    assert kinds <= {FindingKind.REMOTE_PAGES}, after.findings


def _audit(placement: Placement) -> tuple[Finding, ...]:
    return audit(placement=placement).findings


def _own_bytes(report: Audit, node: int) -> int:
    assert report.residency is not None
    return report.residency.own_bytes.get(node, 0)


def _hinting_updates() -> int:
    """Pages that balancing has marked since boot."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "numa_pte_updates":
            return int(value)
    raise AssertionError("this kernel has no automatic balancing")


def _on_node_1() -> Placement:
    return Placement(worker=0, node=1, cpus=(2, 3), memory_nodes=(1,), policy=MemoryPolicy.BIND, threads=2)
