"""The machine as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.host.disturbance import Disturbance
from envdyno.host.machine import FactClass
from envdyno.host.site import Site, placement_in_words
from envdyno.record.counted import counted
from envdyno.report.columns import aligned

GIB = 1 << 30


def machine_lines(
    site: Site,
    facts: Mapping[FactClass, Mapping[str, Any]],
    absent: Mapping[str, str],
    found: Sequence[Disturbance],
) -> list[str]:
    """Return the machine as text: what it is, its nodes, its limits, the choice, and what disturbs."""
    identity, context = facts[FactClass.IDENTITY], facts[FactClass.CONTEXT]
    lines = [
        f"{identity['cpu_model'] or 'unknown CPU'}, {identity['architecture']}, "
        f"{len(site.topology.cpus)} CPUs online, {context['memory_bytes'] / GIB:.1f} GiB",
        f"{context['operating_system']}, {context['virtualization']}",
        "",
        *_nodes(site),
        "",
        *_limits(site),
        "",
        "A run would start:",
    ]
    for placement in site.choice.placements:
        threads = f"{counted(placement.threads, 'thread')}"
        lines.append(f"  worker {placement.worker}: {placement_in_words(placement)}, pools of {threads}")
    lines += [f"  node {skip.node} gets no worker: {skip.reason}" for skip in site.choice.skipped]
    lines += [f"  ! {note.message}" for note in site.choice.notes]
    if site.choice.idle_cpus:
        lines.append(f"  CPUs without a worker: {format_cpulist(site.choice.idle_cpus)}")
    lines += ["", "What disturbs:"]
    rows = [(check.name, check.found, f"! {check.advice}" if check.advice else "ok") for check in found]
    lines += [f"  {line}" for line in aligned([(name, state, advice) for name, state, advice in rows])]
    lines += [f"  not told: {name.rpartition('.')[2]} ({why})" for name, why in absent.items()]
    return lines


def _nodes(site: Site) -> Iterator[str]:
    topology = site.topology
    if topology.synthetic_reason:
        yield f"Nodes: {topology.synthetic_reason}"
    rows = [("node", "CPUs", "memory", "free", "distances")]
    for node in topology.nodes:
        distances = " ".join(f"{other}:{distance}" for other, distance in sorted(node.distances.items()))
        rows.append(
            (
                str(node.id),
                format_cpulist(node.cpus) or "none",
                _gib(node.memory_bytes),
                _gib(node.free_bytes),
                distances or "-",
            )
        )
    yield from aligned(rows)
    if topology.isolated:
        yield f"isolated CPUs: {format_cpulist(topology.isolated)}"
    if topology.offline:
        yield f"offline CPUs: {format_cpulist(topology.offline)}"
    yield from (f"! {problem}" for problem in topology.problems)


def _gib(value: int | None) -> str:
    return "not told" if value is None else f"{value / GIB:.1f} GiB"


def _limits(site: Site) -> Iterator[str]:
    limits = site.limits
    affinity = "not told" if limits.affinity is None else format_cpulist(limits.affinity)
    memory = "not told" if limits.mems_allowed is None else format_cpulist(limits.mems_allowed)
    yield f"may use CPUs {affinity} and memory of nodes {memory}"
    quota = "none" if limits.quota_cpus is None else f"{limits.quota_cpus:g} CPUs ({limits.quota_source})"
    ceiling = "none" if limits.memory_limit_bytes is None else _gib(limits.memory_limit_bytes)
    yield f"CPU quota {quota}, memory limit {ceiling}, {limits.effective_cpus} CPUs in effect"


def machine_json(
    site: Site,
    facts: Mapping[FactClass, Mapping[str, Any]],
    absent: Mapping[str, str],
    found: Sequence[Disturbance],
) -> dict[str, Any]:
    """Return all that is known of the machine in plain JSON types."""
    return {
        "facts": {kind.value: dict(values) for kind, values in facts.items()},
        "absent": dict(absent),
        "topology": site.topology.to_json(),
        "limits": site.limits.to_json(),
        "choice": site.choice.to_json(),
        "disturbances": [asdict(disturbance) for disturbance in found],
    }
