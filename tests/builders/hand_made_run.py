"""Runs without processes: a site, what its workers told, and the outcome that the control would keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from simulated_worker import SimulatedWorker

from envdyno.agent.measure.latency import latency
from envdyno.agent.placement.choice import Choice
from envdyno.agent.placement.limits import Limits
from envdyno.agent.placement.nodes import Node
from envdyno.agent.placement.notes import Skipped
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.pools import ThreadVariables
from envdyno.agent.placement.request import Request
from envdyno.agent.placement.topology import Synthetic, Topology
from envdyno.agent.protocol import FromWorker
from envdyno.agent.stages import Stage
from envdyno.host.counters import Use, WorkerUse
from envdyno.host.hardware_counters import HARDWARE_EVENTS, EventCount, HardwareUse
from envdyno.host.site import Site
from envdyno.launch.conductor import WorkerState
from envdyno.launch.failure import Failure, FailureKind
from envdyno.launch.run_outcome import RunOutcome
from envdyno.plan.run_request import RunRequest

Message = dict[str, Any]
SPEC: Message = {
    "num_envs": 4,
    "action": {"shape": [2], "dtype": "float32", "low": -1.0, "high": 1.0},
    "observation": {"obs": {"shape": [4], "dtype": "float64", "low": None, "high": None}},
    "autoreset": "same_step",
    "substeps": 3,
    "step_dt_s": 0.02,
    "episode_limit_steps": None,
    "threads": 1,
    "details": {},
    "modules_under_test": [],
}
QUIET = {
    "steal_s": 0.0,
    "pressure_us": {"cpu": 0, "memory": 0, "io": None},
    "throttled_us": 0,
    "foreign_cores_machine": 0.03,
    "foreign_cores_chosen": 0.02,
}


def site(workers: int = 2, cpus_each: int = 2, **changes: Any) -> Site:
    """A machine with one worker a node, and one more node without CPUs."""
    nodes = tuple(
        Node(
            index,
            tuple(range(index * cpus_each, (index + 1) * cpus_each)),
            8 << 30,
            4 << 30,
            1 << 30,
            {other: 10 if other == index else 20 for other in range(workers)},
        )
        for index in range(workers)
    )
    cpus = tuple(cpu for node in nodes for cpu in node.cpus)
    topology = Topology(
        nodes=nodes,
        cpus=cpus,
        offline=(),
        isolated=(),
        siblings=tuple((cpu,) for cpu in cpus),
        core_classes=(),
        l3_domains=(),
        gpus=(),
        synthetic=Synthetic.NO,
        synthetic_reason=None,
        numa_balancing=0,
        problems=(),
    )
    limits = Limits(
        affinity=cpus,
        cpus_allowed=cpus,
        mems_allowed=tuple(node.id for node in nodes),
        quota_cpus=None,
        quota_source=None,
        memory_limit_bytes=None,
        memory_limit_source=None,
        effective_cpus=len(cpus),
        raw={},
    )
    choice = Choice(
        placements=tuple(
            Placement(index, node.id, node.cpus, (node.id,), MemoryPolicy.BIND, cpus_each)
            for index, node in enumerate(nodes)
        ),
        skipped=(Skipped(9, "it has no CPUs"),),
        notes=(),
        idle_cpus=(),
    )
    parts = {"topology": topology, "limits": limits, "choice": choice}
    for name, fields in changes.items():
        parts[name] = replace(parts[name], **fields)  # type: ignore[type-var]
    return Site(**parts)  # type: ignore[arg-type]


def placed(cpu: Message | None = None, memory: Message | None = None) -> Message:
    """What a worker tells when it has been bound."""
    applied = {"state": "applied", "actual": [0], "errno": None, "message": None, "remedy": None}
    return {
        "pid": 4242,
        "outcome": {"cpu": cpu or applied, "memory": memory or applied},
        "seconds": 0.01,
        "modules": ["envdyno.agent.placement.bind", "json"],
        "python": "3.11.7",
    }


def ready(**changes: Any) -> Message:
    """What a worker tells when it is built and warmed up."""
    warmup = {"steps": 30, "rounds": 1, "seconds": 0.03, "steady": True, "relative_change": 0.001}
    return {
        "spec": SPEC,
        "warmup": warmup,
        "ledger": {"import": 0.1, "build": 0.2, "first_step": 0.01, "warmup": 0.03},
        "observation_hash": {"value": "ab" * 32, "after_steps": 16},
        "nonfinite_rows": 0,
        "audit": {"findings": [], "residency": None},
        "synchronized": False,
        "counting_assumption": None,
        **changes,
    }


def measured(totals: Mapping[str, Any] | None = None, **changes: Any) -> Message:
    """What a worker tells of a window of one second, from 5 s to 6 s."""
    sums = {
        "steps": 1000,
        "transitions": 4000,
        "reset_rows": 0,
        "episodes": 7,
        "nonfinite_rows": 0,
        "reward_sum": 1000.0,
        "nonfinite_rewards": 0,
        **(totals or {}),
    }
    found = latency([1_000_000] * 999)
    assert found is not None
    return {
        "edges": {"start_ns": 5_000_000_000, "end_ns": 6_000_000_000},
        "totals": sums,
        "series": [200] * 20,
        "first_ns": 5_000_500_000,
        "last_ns": 5_999_500_000,
        "raw_kept": sums["steps"],
        "step_time": found.to_json(),
        "audit": {"findings": [], "residency": {"own_bytes": {"0": 999, "1": 1}}},
        "nonfinite_at_end": 0,
        "loaded": loaded(),
        **changes,
    }


def measured_by(worker: SimulatedWorker, **changes: Any) -> Message:
    """What a simulated worker would tell."""
    times = worker.log.raw_times_ns
    return measured(
        asdict(worker.log.totals),
        edges=asdict(worker.edges),
        series=list(worker.log.series),
        first_ns=times[0] if times else None,
        last_ns=times[-1] if times else None,
        raw_kept=len(times),
        **changes,
    )


def loaded() -> Message:
    """What a worker tells of what it has imported."""
    return {
        "distributions": {"numpy": "2.4.6"},
        "origins": [],
        "python": "3.11.7",
        "implementation": "cpython",
        "executable": "/opt/side/bin/python",
    }


def closed() -> Message:
    """What a worker tells at its end."""
    stages = {"import": 0.1, "build": 0.2, "first_step": 0.01, "warmup": 0.03, "window": 1.2, "audit": 0.05}
    return {"ledger": {**stages, "close": 0.01}}


def use(workers: int, elapsed_s: float = 1.0, cpu_s: float = 0.9, **changes: Any) -> Use:
    """What a quiet machine used while the window was open."""
    each = WorkerUse(
        cpu_s=cpu_s / workers,
        rss_bytes=100 << 20,
        minor_faults=3,
        major_faults=0,
        voluntary_switches=5,
        involuntary_switches=2,
        processes=1,
    )
    settings = {
        "elapsed_s": elapsed_s,
        "workers": (each,) * workers,
        "cpu_s": cpu_s,
        "control_cpu_s": 0.001,
        "machine_busy_s": cpu_s + 0.03,
        "chosen_busy_s": cpu_s + 0.02,
        **QUIET,
        **changes,
    }
    return Use(**settings)


def uncounted(workers: int) -> HardwareUse:
    """What a machine without hardware counters gives."""
    why = "this machine has no counter for it (perf_event_open: ENOENT)"
    return HardwareUse(1.0, ({},) * workers, dict.fromkeys(HARDWARE_EVENTS, why))


def counted(workers: int, missing: Mapping[str, str] | None = None, elapsed_s: float = 1.0) -> HardwareUse:
    """What a machine with hardware counters gives: 8 billion instructions in 4 billion cycles each."""
    counts = {
        "instructions": EventCount(8_000_000_000, 1.0),
        "cycles": EventCount(4_000_000_000, 1.0),
        "cache_references": EventCount(40_000_000, 0.8),
        "cache_misses": EventCount(4_000_000, 0.8),
        "branch_misses": EventCount(2_000_000, 0.8),
    }
    told = {name: count for name, count in counts.items() if name not in (missing or {})}
    return HardwareUse(elapsed_s, (told,) * workers, missing or {})


def outcome(
    told: Sequence[Message] | None = None,
    *,
    shares: Sequence[int] = (4, 4),
    ready_changes: Message | None = None,
    placed_message: Message | None = None,
    request: Message | None = None,
    on: Site | None = None,
    **changes: Any,
) -> RunOutcome:
    """The outcome of a run that went well.

    Args:
        told: the MEASURED message of each worker; by default those of :func:`measured`.
        shares: environments of each worker.
        ready_changes: fields of every READY message.
        placed_message: the PLACED message of every worker.
        request: fields of the request.
        on: the site.
        changes: fields of the outcome.
    """
    count = len(shares)
    told = [measured() for _ in shares] if told is None else told
    states = [
        WorkerState(
            process=SimpleNamespace(pid=4242 + index, worker=index),  # type: ignore[arg-type]
            stage=Stage.CLOSE,
            messages={
                FromWorker.PLACED: placed_message or placed(),
                FromWorker.READY: ready(**(ready_changes or {})),
                FromWorker.MEASURED: told[index],
                FromWorker.CLOSED: closed(),
            },
            exit_status=0,
        )
        for index in range(count)
    ]
    wanted: Message = {"workload": "synthetic", "num_envs": sum(shares), "window_s": 1.0, **(request or {})}
    settings: Message = {
        "request": RunRequest(placement=Request(), **wanted),
        "site": on or site(count),
        "shares": tuple(shares),
        "started_at": datetime(2026, 7, 1, 12, 0, 0, tzinfo=timezone.utc),
        "folder": Path("/nowhere/envdyno-x/run-0001"),
        "variables": tuple(ThreadVariables({"OMP_NUM_THREADS": "2"}, {}) for _ in shares),
        "states": states,
        "window_ns": (5_000_000_000, 6_000_000_000),
        "use": use(count),
        "hardware": uncounted(count),
        "elapsed_s": 2.0,
    }
    return RunOutcome(**{**settings, **changes})


def failed_outcome(kind: FailureKind = FailureKind.SIGNAL, **changes: Any) -> RunOutcome:
    """The outcome of a run whose second worker was killed in the window."""
    failure = Failure(
        kind,
        1,
        "window",
        "Worker 1 was killed by SIGKILL in stage window. This may be the kernel's out-of-memory killer: "
        "possibly out of memory.",
        signal="SIGKILL",
        log_tail=("loading assets", "stepping"),
    )
    result = outcome(use=None, hardware=None, failure=failure, **changes)
    for state in result.states:
        for kind_of_message in (FromWorker.MEASURED, FromWorker.CLOSED):
            state.messages.pop(kind_of_message)
    return result
