"""Which worker had which CPUs, and where its pages were, node by node."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.record.counted import counted
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

_BEYOND = re.compile(r"\d{6}")
"""No machine has that many CPUs; a list that says so would only fill the memory."""
MAX_CPUS = 1024
"""Of a node, drawn one by one."""


class CpuCell(NamedTuple):
    """One CPU of a node."""

    cpu: int
    workers: tuple[int, ...]
    """Empty: no worker may use it."""


class NodeMap(NamedTuple):
    """One node."""

    node: str
    cpus: tuple[CpuCell, ...]
    pages: tuple[tuple[int, float], ...]
    """By worker, the part of its own pages that were here, after the window."""


class PlacementMap(NamedTuple):
    """The placements that some runs had in common."""

    title: str
    nodes: tuple[NodeMap, ...]


def placement_maps(records: Sequence[RunRecord]) -> tuple[PlacementMap, ...]:
    """Return a map for each choice of placements among the runs that ended well."""
    found: dict[tuple[str, ...], tuple[RunRecord, int]] = {}
    for record in records:
        if record.status is Status.OK and record.workers and record.fingerprint is not None:
            first, count = found.get(record.case.placements, (record, 0))
            found[record.case.placements] = (first, count + 1)
    return tuple(
        PlacementMap(f"{'; '.join(placements)} ({counted(count, 'run')})", _nodes(record))
        for placements, (record, count) in found.items()
    )


def _nodes(record: RunRecord) -> tuple[NodeMap, ...]:
    identity = record.fingerprint.identity if record.fingerprint else {}
    listed = identity.get("nodes")
    nodes: dict[str, Any] = listed if isinstance(listed, dict) else {"-": identity.get("online_cpus")}
    workers_of: dict[int, list[int]] = {}
    for worker in record.workers:
        for cpu in worker.placement.get("cpus") or ():
            workers_of.setdefault(cpu, []).append(worker.worker)
    return tuple(
        NodeMap(
            str(node),
            tuple(CpuCell(cpu, tuple(workers_of.get(cpu, ()))) for cpu in _cpus(cpus)),
            tuple(_pages(record, str(node))),
        )
        for node, cpus in nodes.items()
    )


def _cpus(text: Any) -> Sequence[int]:
    if _BEYOND.search(str(text or "")):
        return ()
    try:
        return tuple(parse_cpulist(str(text or "")))[:MAX_CPUS]
    except ValueError:
        return ()


def _pages(record: RunRecord, node: str) -> list[tuple[int, float]]:
    shares = []
    for worker in record.workers:
        own = ((worker.audit_after or {}).get("residency") or {}).get("own_bytes") or {}
        total = sum(own.values())
        if total and own.get(node):
            shares.append((worker.worker, own[node] / total))
    return shares
