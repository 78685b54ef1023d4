"""`envdyno run` as a user starts it: its record says where the workers were, and there they were."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from machine import syscall_filter
from machine.witness import Sight, Witness
from topologies import CXL, SMT, TWO, Topology

from checks import SkippedError, check

# Set by run_all.py: an interpreter that has envdyno and what its command line needs.
_PYTHON = "ENVDYNO_PYTHON"
_LIMIT_S = 300
_NOT_MEASURED = 5
# What takes moments on a machine can take a minute in a guest whose host is busy.
_QUICK_STAGES = ("start", "bind", "audit", "close")


class _Run(NamedTuple):
    status: int
    record: dict[str, Any]
    errors: str
    seen: dict[int, Sight]
    """Processes as a witness saw them."""


@check(TWO, limit_s=_LIMIT_S)
def a_run_with_two_workers_is_placed_as_its_record_says(topology: Topology) -> None:
    run = _run()
    assert (run.status, run.record["status"]) == (0, "ok"), run.errors
    assert run.record["case"]["shares"] == [4, 4]
    assert run.record["throughput"]["transitions_per_s"] > 0
    workers = run.record["workers"]
    assert [worker["placement"]["node"] for worker in workers] == list(topology.cpu_nodes)
    for worker in workers:
        node = worker["placement"]["node"]
        assert worker["outcome"]["cpu"]["state"] == "applied"
        assert worker["outcome"]["memory"]["state"] == "applied"
        _assert_on_cpus_of(topology, node, worker, run.seen)
        audit = worker["audit_after"]
        assert audit["findings"] == []
        assert audit["policy"] == f"bind:{node}"
        assert set(audit["residency"]["own_bytes"]) == {str(node)}
        sight = run.seen[worker["pid"]]
        assert sight.policies == {f"bind:{node}"}
        assert set(sight.pages) == {node}


@check(CXL, limit_s=_LIMIT_S)
def in_a_container_a_run_carries_on_and_records_what_was_denied(topology: Topology) -> None:
    run = _run(before=lambda: syscall_filter.refuse(syscall_filter.CONTAINER_DEFAULT))
    assert (run.status, run.record["status"]) == (0, "ok"), run.errors
    workers = run.record["workers"]
    assert [worker["placement"]["node"] for worker in workers] == list(topology.cpu_nodes)
    for worker in workers:
        node = worker["placement"]["node"]
        assert worker["outcome"]["cpu"]["state"] == "applied"
        memory = worker["outcome"]["memory"]
        assert (memory["state"], memory["errno_name"]) == ("denied", "EPERM")
        assert "SYS_NICE" in memory["remedy"]
        _assert_on_cpus_of(topology, node, worker, run.seen)
        assert worker["audit_after"]["findings"] == []
        assert worker["audit_after"]["policy"] == "default"
        assert run.seen[worker["pid"]].policies == {"default"}


@check(SMT, limit_s=_LIMIT_S)
def in_a_container_a_strict_run_stops_and_says_why(topology: Topology) -> None:
    run = _run("--strict-placement", before=lambda: syscall_filter.refuse(syscall_filter.CONTAINER_DEFAULT))
    assert (run.status, run.record["status"]) == (_NOT_MEASURED, "failed"), run.record
    assert run.record["throughput"] is None
    why = run.record["failure"]["message"]
    assert "memory policy" in why, why
    assert "SYS_NICE" in why, why


def _assert_on_cpus_of(topology: Topology, node: int, worker: dict[str, Any], seen: dict[int, Sight]) -> None:
    """Placement, record and kernel agree about the CPUs of every thread."""
    cpus = topology.node(node).cpus
    assert tuple(worker["placement"]["cpus"]) == cpus
    recorded = {thread["tid"]: tuple(thread["cpus"]) for thread in worker["audit_after"]["threads"]}
    assert set(recorded.values()) == {cpus}
    affinity = seen[worker["pid"]].affinity
    assert set(affinity) == set(recorded)
    assert set(affinity.values()) == {frozenset(cpus)}


def _run(*options: str, before: Callable[[], None] | None = None) -> _Run:
    """Run the synthetic workload for a second, watched from outside."""
    python = os.environ.get(_PYTHON, "")
    if not Path(python).exists():
        raise SkippedError(f"there is no {python or 'interpreter with envdyno'}; `make` makes it")
    command = [python, "-m", "envdyno", "run", "synthetic", "-n", "8", "--duration", "1s", "--json", "-q"]
    for stage in _QUICK_STAGES:
        command += ["--deadline", f"{stage}={_LIMIT_S}s"]
    with Witness() as witness:
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=False, preexec_fn=before
        )
    record = json.loads(done.stdout) if done.stdout.strip() else {}
    return _Run(done.returncode, record, done.stderr, witness.last)
