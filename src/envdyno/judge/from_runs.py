"""From the records of single runs, of no experiment, to evidence with one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from envdyno.judge.evidence import (
    CaseEvidence,
    ExperimentEvidence,
    RunKind,
    RunSample,
    Side,
    SideEvidence,
    WorkValue,
)
from envdyno.judge.from_records import MACHINE_FIELDS, machine_key, seconds
from envdyno.judge.work_facts import plain, work_facts
from envdyno.record.run_record import RunRecord
from envdyno.record.setting import Setting, scouted_num_envs

SOFTWARE_FIELDS = ("python", "packages")


def runs_evidence(records: Sequence[RunRecord], name: str) -> ExperimentEvidence:
    """Return single runs as the base side of an experiment that has no other.

    Args:
        records: of one machine; of several machines, no absolute figure can be compared.
        name: what the side is called.
    """
    own = [record for record in records if record.case.timing == RunKind.THROUGHPUT.value]
    samples: dict[str, list[RunSample]] = {}
    numbers: Counter[str] = Counter()
    for record in own:
        case = case_name(record)
        samples.setdefault(case, []).append(_sample(record, case, numbers[case]))
        numbers[case] += 1
    keys = {machine_key(record) for record in own}
    return ExperimentEvidence(
        cases=tuple(CaseEvidence(case=case, runs=tuple(runs)) for case, runs in samples.items()),
        base=SideEvidence(name=name, identity=_identity(own)),
        machine=keys.pop() if len(keys) == 1 else None,
        measured_at_s=min((seconds(record.started_at) for record in own), default=None),
    )


def case_name(record: RunRecord) -> str:
    """Return what makes runs repetitions of each other: workload, batch size, options and threads.

    Runs of a sweep have the name of their setting, or of the scouting that they are part of.
    """
    entry = record.experiment
    if entry is not None and (Setting.of_case(entry.case) or scouted_num_envs(entry.case)):
        return entry.case
    options = "".join(f" {key}={value}" for key, value in sorted(record.case.options.items()))
    threads = "" if record.case.threads is None else f" threads={record.case.threads}"
    return f"{record.case.workload}{options} num_envs={record.case.num_envs}{threads}"


def _sample(record: RunRecord, case: str, number: int) -> RunSample:
    found = record.throughput
    return RunSample(
        case=case,
        side=Side.BASE,
        pair=number,
        position=0,
        started_at_s=seconds(record.started_at),
        status=record.status,
        transitions_per_s=found.transitions_per_s if found else None,
        transitions_per_cpu_s=found.transitions_per_cpu_s if found else None,
        config_hash=record.config_hash,
        edge_share=found.edge_share if found else None,
        foreign_load_cores=record.machine.foreign_cores_chosen if record.machine else None,
        work=work_facts(record),
        reason=record.failure.message if record.failure else None,
    )


def _identity(records: Iterable[RunRecord]) -> dict[str, WorkValue]:
    """Return the fields that all runs agree on; where they do not, what they say together."""
    identity: dict[str, WorkValue] = {}
    known = [record.fingerprint.identity for record in records if record.fingerprint is not None]
    for name in (*MACHINE_FIELDS, *SOFTWARE_FIELDS):
        values = list(dict.fromkeys(str(plain(found.get(name))) for found in known))
        identity[name] = plain(known[0].get(name)) if len(values) == 1 else " | ".join(values) or None
    return identity
