"""From the records of a bundle to the evidence that is judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from envdyno.judge.evidence import (
    CaseEvidence,
    ExperimentEvidence,
    RunKind,
    RunOrder,
    RunSample,
    Side,
    SideEvidence,
    WorkValue,
)
from envdyno.judge.hardware_change import hardware_figures
from envdyno.judge.phase_tree import REMAINDER
from envdyno.judge.work_facts import plain, work_facts
from envdyno.record.experiment import ExperimentRecord, SideRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

MACHINE_FIELDS = (
    "cpu_model",
    "architecture",
    "kernel_major",
    "smt",
    "nodes",
    "online_cpus",
    "isolated_cpus",
    "affinity",
    "memory_nodes_allowed",
    "quota_cpus",
    "memory_limit_bytes",
)
"""Fields of a fingerprint's identity that belong to the machine, not to a side."""
HELD_OPEN = ("python",)
"""Fields of a side's own that are part of its identity, but may differ where the plan says so."""


def machine_key(record: RunRecord) -> str | None:
    """Return a key of the machine and of what may be used of it; ``None`` without a fingerprint."""
    return None if record.fingerprint is None else key_of_machine(record.fingerprint.identity)


def key_of_machine(identity: Mapping[str, Any]) -> str:
    """Return the same key from the identity in a fingerprint."""
    text = json.dumps({name: identity.get(name) for name in MACHINE_FIELDS}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def experiment_evidence(
    head: ExperimentRecord, records: Sequence[RunRecord], base: str, other: str
) -> ExperimentEvidence:
    """Return what an experiment says of two of its sides.

    Args:
        head: the head of the bundle.
        records: its records; those of other sides and of no experiment are passed over.
        base: name of the side that ratios are relative to.
        other: name of the side that is compared with it.
    """
    roles = {base: Side.BASE, other: Side.HEAD}
    own = [record for record in records if record.experiment and record.experiment.side in roles]
    plan = head.plan["experiment"]
    planned_pairs = int(str(plan["pairs"]).partition("..")[0])
    elsewhere = several_machines(own)
    by_case: dict[str, list[RunRecord]] = {}
    for record in own:
        if record.experiment is not None:
            by_case.setdefault(record.experiment.case, []).append(record)
    cases = tuple(
        CaseEvidence(
            case=case,
            runs=tuple(_samples(by_case.get(case, ()), roles, planned_pairs)),
            planned_pairs=planned_pairs,
            tolerances=dict(head.plan.get("tolerances", {})),
            not_aligned=head.misaligned.get(case) or elsewhere,
        )
        for case in head.cases
    )
    sides = {side.name: side for side in head.sides}
    started = [seconds(record.started_at) for record in own]
    keys = {key for record in own if (key := machine_key(record)) is not None}
    return ExperimentEvidence(
        cases=cases,
        base=_side_evidence(sides[base], own),
        head=_side_evidence(sides[other], own),
        order=RunOrder.BLOCKED if plan["order"] == "blocked" else RunOrder.PAIRED,
        machine=keys.pop() if len(keys) == 1 else None,
        measured_at_s=min(started, default=None),
        declared_differences=frozenset(HELD_OPEN),
        is_aa=bool(plan["aa"]),
    )


def several_machines(records: Iterable[RunRecord]) -> str | None:
    """Return in which fields the machines of an experiment's runs differ; ``None`` where all are one."""
    known = (record.fingerprint.identity for record in records if record.fingerprint)
    identities = {
        json.dumps([one.get(name) for name in MACHINE_FIELDS], sort_keys=True): one for one in known
    }
    parts = []
    for name in MACHINE_FIELDS:
        values = dict.fromkeys(json.dumps(one.get(name), sort_keys=True) for one in identities.values())
        if len(values) > 1:
            parts.append(f"{name} is {' or '.join(values)}")
    if not parts:
        return None
    return f"its runs were made on different machines, or under different limits ({'; '.join(parts)})"


def seconds(stamp: str) -> float:
    """Return a time stamp in Unix time."""
    return datetime.fromisoformat(stamp).timestamp()


def _samples(
    records: Iterable[RunRecord], roles: Mapping[str, Side], planned_pairs: int
) -> Iterator[RunSample]:
    """Yield the runs of a case. A pair that was only to be made if needed, and was not, is no missing one."""
    for record in records:
        entry = record.experiment
        if entry is not None and (record.status is not Status.SKIPPED or entry.pair <= planned_pairs):
            yield run_sample(record, roles[entry.side])


def run_sample(record: RunRecord, side: Side) -> RunSample:
    """Return one run of an experiment as the judge takes it.

    Raises:
        ValueError: the record is of no experiment.
    """
    entry = record.experiment
    if entry is None:
        raise ValueError(f"The run {record.run_id} is of no experiment.")
    found = record.throughput
    kind = RunKind(record.case.timing)
    step_ms, step_cpu_ms = _step_ms(record)
    status, reason = _status(record, kind)
    return RunSample(
        case=entry.case,
        side=side,
        pair=entry.pair - 1,
        position=entry.position,
        started_at_s=seconds(record.started_at),
        status=status,
        kind=kind,
        attempt=entry.attempt,
        transitions_per_s=found.transitions_per_s if found and found.transitions_per_s > 0 else None,
        transitions_per_cpu_s=found.transitions_per_cpu_s if found else None,
        vector_step_ms=step_ms,
        vector_step_cpu_ms=step_cpu_ms,
        config_hash=record.config_hash,
        canary_per_s=entry.canary_per_s,
        edge_share=found.edge_share if found else None,
        foreign_load_cores=record.machine.foreign_cores_chosen if record.machine else None,
        disturbed=entry.disturbed,
        series_per_s=_series(record),
        phases_ms=phase_times(record, "ms_per_step"),
        phases_cpu_ms=phase_times(record, "cpu_ms_per_step"),
        hardware=hardware_figures(record),
        work=work_facts(record),
        reason=reason,
    )


def _status(record: RunRecord, kind: RunKind) -> tuple[Status, str | None]:
    """Return how a run ended, and why where not well, without its full stop.

    A window without a step gives nothing to judge.
    """
    rate = record.throughput.transitions_per_s if record.throughput else 0.0
    if record.status is Status.OK and kind is RunKind.THROUGHPUT and rate <= 0:
        return Status.INVALID, "no transition was completed in its window"
    return record.status, record.failure.message.rstrip(".") if record.failure else None


def _step_ms(record: RunRecord) -> tuple[float | None, float | None]:
    """Return wall and CPU time of one vector step of one worker, in ms."""
    if record.phases is not None:
        return record.phases["step_ms"], record.phases.get("cpu_ms_per_step")
    if record.throughput is None or record.totals is None or not record.totals.vector_steps:
        return None, None
    steps = record.totals.vector_steps
    wall = record.throughput.elapsed_s * len(record.workers) / steps * 1e3
    if record.machine is None or record.machine.elapsed_s <= 0:
        return wall, None
    return wall, record.machine.cpu_cores * record.throughput.elapsed_s / steps * 1e3


def _series(record: RunRecord) -> tuple[float, ...] | None:
    """Return the transitions a second of all workers in each sub-window."""
    lengths = {len(worker.series) for worker in record.workers}
    if record.throughput is None or len(lengths) != 1 or lengths == {0}:
        return None
    (count,) = lengths
    span_s = record.throughput.elapsed_s / count
    return tuple(
        sum(parts) / span_s for parts in zip(*(worker.series for worker in record.workers), strict=True)
    )


def phase_times(record: RunRecord, field: str) -> dict[str, float] | None:
    """Return one figure of every timed phase by path; ``None`` for a run whose phases were not timed.

    A phase that no timer covers has no figure. What is timed inside it moves to its parent, under both
    names: ``env_step/step_core.physics``.
    """
    if record.phases is None:
        return None
    times: dict[str, float] = {}

    def gather(nodes: Sequence[Mapping[str, Any]], parent: str, prefix: str) -> None:
        for node in nodes:
            name = f"{node['name']} (phase)" if node["name"] == REMAINDER else node["name"]
            path = f"{parent}{prefix}{name}"
            if node.get(field) is not None:
                times[path] = node[field]
                gather(node["children"], f"{path}/", "")
            else:
                gather(node["children"], parent, f"{prefix}{name}.")

    gather(record.phases["phases"], "", "")
    return times or None


def _side_evidence(side: SideRecord, records: Sequence[RunRecord]) -> SideEvidence:
    code = side.identity.get("code")
    identity: dict[str, WorkValue] = {}
    for record in records:
        if record.experiment and record.experiment.side == side.name and record.fingerprint:
            found = record.fingerprint.identity
            identity = {name: plain(found.get(name)) for name in (*MACHINE_FIELDS, *HELD_OPEN)}
            break
    return SideEvidence(
        name=side.name,
        revision=side.digest if code is None else code.get("commit"),
        dirty=bool(code and code.get("dirty")),
        identity=identity,
    )
