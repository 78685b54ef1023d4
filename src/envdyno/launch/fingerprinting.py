"""The fingerprint of a run: machine, limits and software, in three classes."""

from __future__ import annotations

from typing import Any

from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.protocol import FromWorker
from envdyno.host.machine import FactClass, read_facts
from envdyno.host.site import Site
from envdyno.launch.run_outcome import RunOutcome
from envdyno.record.case import CaseRecord
from envdyno.record.fingerprint import Fingerprint


def fingerprint(outcome: RunOutcome, case: CaseRecord) -> tuple[Fingerprint, dict[str, str]]:
    """Return the fingerprint of a run, and the reasons for what is absent in it."""
    facts, absent = read_facts()
    loaded = outcome.message(0, FromWorker.MEASURED).get("loaded") or {}
    identity = {
        **facts[FactClass.IDENTITY],
        **_topology(outcome.site),
        "python": loaded.get("python"),
        "packages": loaded.get("distributions"),
        "config_hash": case.config_hash(),
        "actions": case.actions,
        "window_s": case.window_s,
        "steps": case.steps,
    }
    if not loaded:
        for name in ("python", "packages"):
            absent[f"fingerprint.identity.{name}"] = "no worker came so far as to tell"
    context = {
        **facts[FactClass.CONTEXT],
        "numa_balancing": outcome.site.topology.numa_balancing,
        "limits_raw": dict(outcome.site.limits.raw),
        "topology_problems": list(outcome.site.topology.problems),
    }
    volatile = {
        **facts[FactClass.VOLATILE],
        "free_bytes_of_nodes": {str(node.id): node.free_bytes for node in outcome.site.topology.nodes},
    }
    return Fingerprint(identity=identity, context=context, volatile=volatile), absent


def machine_identity(site: Site) -> dict[str, Any]:
    """Return what has to match before figures from two runs may be put together: machine and limits."""
    facts, _absent = read_facts()
    return {**facts[FactClass.IDENTITY], **_topology(site)}


def _topology(site: Site) -> dict[str, Any]:
    """Return the parts of topology and limits that have to match before figures are compared."""
    limits = site.limits
    return {
        "nodes": {str(node.id): format_cpulist(node.cpus) for node in site.topology.nodes},
        "online_cpus": format_cpulist(site.topology.cpus),
        "isolated_cpus": format_cpulist(site.topology.isolated),
        "affinity": None if limits.affinity is None else format_cpulist(limits.affinity),
        "memory_nodes_allowed": None if limits.mems_allowed is None else format_cpulist(limits.mems_allowed),
        "quota_cpus": limits.quota_cpus,
        "memory_limit_bytes": limits.memory_limit_bytes,
    }
