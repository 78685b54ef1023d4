"""Run records made by hand: what a run of a quiet machine with two nodes would have left."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from envdyno.record.case import CaseRecord, Mode
from envdyno.record.experiment import ExperimentEntry
from envdyno.record.fingerprint import Fingerprint
from envdyno.record.run_record import MachineUse, RunRecord, SoftwareRecord, Throughput
from envdyno.record.status import Doubt, FailureRecord, Status, Warning_
from envdyno.record.worker import StepTime, Totals, Warmup, WorkerRecord, WorkerUse

START = datetime(2026, 7, 1, 12, 0, 0, tzinfo=timezone.utc)
WINDOW_S = 10.0
SUB_WINDOWS = 20
IDENTITY: dict[str, Any] = {
    "cpu_model": "AMD EPYC 7K62 48-Core Processor",
    "architecture": "x86_64",
    "kernel_major": "Linux 6.8",
    "smt": "off",
    "memory_bytes": 512 << 30,
    "nodes": {"0": "0-47", "1": "48-95"},
    "online_cpus": "0-95",
    "isolated_cpus": "",
    "affinity": "0-95",
    "memory_nodes_allowed": "0-1",
    "quota_cpus": None,
    "memory_limit_bytes": None,
    "python": "3.11.9",
    "packages": {"mujoco": "3.3.7", "numpy": "2.4.6"},
}
TRENDING = tuple(1.0 + 0.02 * (place - 9.5) for place in range(SUB_WINDOWS))


def made_run(
    rate: float | None,
    *,
    number: int = 0,
    workload: str = "g1_walk_flat/mujoco",
    options: Mapping[str, Any] | None = None,
    num_envs: int = 8192,
    workers: int = 2,
    timing: str = "throughput",
    phases: Mapping[str, Any] | None = None,
    entry: ExperimentEntry | None = None,
    status: Status = Status.OK,
    failure: FailureRecord | None = None,
    warnings: Sequence[Warning_] = (),
    identity: Mapping[str, Any] | None = None,
    host: str = "lab-03",
    shape: Sequence[float] = (1.0,) * SUB_WINDOWS,
    raw: Sequence[str] = (),
) -> RunRecord:
    """One run.

    Args:
        rate: transitions a second; ``None`` for a run without a figure.
        number: place in time; each run begins half a minute after the one before.
        workload: name of the workload.
        options: its options.
        num_envs: the whole batch.
        workers: one a node.
        timing: throughput or attribution.
        phases: tree of an attribution run.
        entry: place in an experiment.
        status: how it ended.
        failure: its first cause.
        warnings: what is doubtful.
        identity: changes to the machine.
        host: name of the machine.
        shape: relative rate of each sub-window.
        raw: names of raw files, one a worker.
    """
    case = CaseRecord(
        workload=workload,
        options=dict(options or {}),
        num_envs=num_envs,
        shares=(num_envs // workers,) * workers,
        seed=0,
        actions="random",
        warmup_steps=30,
        mode=Mode.WINDOW,
        window_s=WINDOW_S,
        steps=None,
        timing=timing,
        numa="auto",
        placements=tuple(f"CPUs {48 * one}-{48 * one + 47}, memory bind {one}" for one in range(workers)),
    )
    measured = rate is not None
    made = tuple(
        _worker(one, rate, num_envs // workers, workers, shape, raw[one] if raw else None)
        for one in range(workers)
    )
    text = f"{number} {workload} {num_envs} {timing} {entry and (entry.case, entry.side)} {rate}"
    return RunRecord(
        run_id=hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32],
        status=status,
        started_at=(START + timedelta(seconds=30 * number)).isoformat(timespec="milliseconds"),
        command=("envdyno", "run", workload, "--num-envs", str(num_envs)),
        envdyno_version="0.1.0",
        protocol_version=1,
        case=case,
        config_hash=case.config_hash(),
        failure=failure,
        spec={"substeps": 4, "step_dt_s": 0.02, "autoreset": "same_step"} if measured else None,
        throughput=_throughput(rate, num_envs, workers) if rate is not None else None,
        totals=_totals(rate, num_envs) if rate is not None else None,
        reward_mean=0.25 if measured else None,
        workers=made if measured else (),
        machine=_use() if measured else None,
        software=SoftwareRecord(
            python="3.11.9", implementation="cpython", executable="/opt/side/bin/python", distributions={}
        ),
        fingerprint=Fingerprint(
            identity={**IDENTITY, **(identity or {})},
            context={"host": host, "kernel": "6.8.0-60", "virtualization": "none"},
            volatile={"load_average": [0.1, 0.2, 0.1]},
        ),
        warnings=tuple(warnings),
        phases=dict(phases) if phases else None,
        experiment=entry,
        observer_effect=None,
    )


def foreign_load(cores: float) -> Warning_:
    """The doubt that other work leaves."""
    return Warning_(
        code=Doubt.FOREIGN_LOAD,
        message=f"Foreign load of {cores:.2f} cores on the chosen CPUs in the window (limit 0.1).",
        remedy="Wait for a quiet machine, or use --wait-idle.",
    )


def killed() -> FailureRecord:
    """The first cause of a run whose worker the kernel ended."""
    return FailureRecord(
        kind="signal",
        worker=1,
        stage="window",
        message="Worker 1 was killed by SIGKILL in stage window: possibly out of memory.",
        signal="SIGKILL",
        log_tail=("loading assets", "stepping"),
    )


def tree(step_ms: float, phases: Mapping[str, float], inside: Mapping[str, float]) -> dict[str, Any]:
    """A tree of phases: ``env_step`` with parts, and others beside it, in ms of a vector step."""
    env_ms = phases["env_step"]
    parts = [_node(f"env_step/{name}", ms, step_ms) for name, ms in inside.items()]
    nodes = [
        _node(name, ms, step_ms, parts if name == "env_step" else (), env_ms - sum(inside.values()))
        for name, ms in phases.items()
    ]
    return {
        "vector_steps": 400,
        "step_ms": step_ms,
        "cpu_ms_per_step": None,
        "equivalent_cores": None,
        "remainder": _rest(step_ms - sum(phases.values()), step_ms),
        "phases": nodes,
        "other_threads": {},
        "misnested": 0,
    }


def _node(
    path: str, ms: float, step_ms: float, parts: Sequence[Mapping[str, Any]] = (), rest_ms: float = 0.0
) -> dict[str, Any]:
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "status": "timed",
        "ms_per_step": ms,
        "share": ms / step_ms,
        "calls_per_step": 1.0,
        "cpu_ms_per_step": None,
        "equivalent_cores": None,
        "remainder": _rest(rest_ms, step_ms) if parts else None,
        "children": list(parts),
    }


def _rest(ms: float, step_ms: float) -> dict[str, Any]:
    return {"ms_per_step": ms, "share": ms / step_ms, "cpu_ms_per_step": None}


def _throughput(rate: float, num_envs: int, workers: int) -> Throughput:
    return Throughput(
        transitions_per_s=rate,
        elapsed_s=WINDOW_S,
        vector_steps_per_s=rate * workers / num_envs,
        substeps_per_s=4 * rate,
        real_time_factor=rate * 0.02,
        transitions_per_cpu_s=rate / 90,
        episodes_per_s=rate / 1000,
        resets_per_step=num_envs / workers / 1000,
        formula="transitions completed by all workers inside the common window / length of the window",
        edge_mode="host_return",
        edge_share=num_envs / (rate * WINDOW_S) if rate else None,
        start_skew_s=0.0004,
        straggler_index=1.02,
    )


def _totals(rate: float, num_envs: int, share: float = 1.0) -> Totals:
    transitions = int(rate * WINDOW_S * share)
    return Totals(
        vector_steps=max(1, int(rate * WINDOW_S * 2 / num_envs)),
        transitions=transitions,
        reset_rows=0,
        episodes=transitions // 1000,
        nonfinite_rows=0,
        reward_sum=0.25 * transitions,
        nonfinite_rewards=0,
    )


def _use() -> MachineUse:
    return MachineUse(
        elapsed_s=WINDOW_S,
        cpu_s=900.0,
        cpu_cores=90.0,
        control_cpu_s=0.01,
        control_cores=0.001,
        foreign_cores_chosen=0.02,
        foreign_cores_machine=0.03,
        steal_s=0.0,
        throttled_s=0.0,
        pressure_s={"cpu": 0.0, "memory": 0.0, "io": None},
    )


def _worker(
    worker: int, rate: float | None, envs: int, workers: int, shape: Sequence[float], raw: str | None
) -> WorkerRecord:
    first = 48 * worker
    applied = {"state": "applied", "actual": None, "errno": None, "message": None, "remedy": None}
    step_ms = 1e3 * envs * workers / rate if rate else 1.0
    share = 1.0 / workers
    sub_window = (rate or 0.0) * share * WINDOW_S / SUB_WINDOWS
    return WorkerRecord(
        worker=worker,
        pid=4000 + worker,
        num_envs=envs,
        seed=worker,
        placement={
            "worker": worker,
            "node": worker,
            "cpus": list(range(first, first + 48)),
            "memory_nodes": [worker],
            "policy": "bind",
            "threads": 48,
        },
        outcome={"cpu": applied, "memory": applied},
        modules_before_placement=(),
        thread_variables={"set": {"OMP_NUM_THREADS": "48"}, "kept": {}},
        stages_s={
            "import": 0.8,
            "build": 2.0,
            "first_step": 0.1,
            "warmup": 1.5,
            "window": 10.2,
            "close": 0.1,
        },
        warmup=Warmup(steps=30, rounds=1, seconds=1.5, steady=True, relative_change=0.001),
        audit_before=None,
        audit_after={"findings": [], "residency": {"own_bytes": {str(worker): 999 << 20, "9": 1 << 20}}},
        totals=_totals(rate, envs * workers, share) if rate is not None else None,
        share=share,
        transitions_per_s=(rate or 0.0) * share,
        step_time=StepTime(
            p10_ms=0.97 * step_ms,
            p50_ms=step_ms,
            p90_ms=1.04 * step_ms,
            p99_ms=1.2 * step_ms,
            min_ms=0.95 * step_ms,
            max_ms=1.5 * step_ms,
            mean_ms=step_ms,
            steps=400,
        ),
        series=tuple(int(sub_window * one) for one in shape),
        trend=0.0,
        entered_s=0.001,
        use=WorkerUse(
            cpu_s=450.0,
            cpu_percent=94.0,
            rss_bytes=3 << 30,
            minor_faults=100,
            major_faults=0,
            voluntary_switches=1000,
            involuntary_switches=20,
            processes=1,
        ),
        observation_hash="ab" * 32,
        observation_hash_steps=16,
        nonfinite_seen=0,
        raw_samples=raw,
        raw_kept=400 if raw else None,
        exit_status=0,
    )
