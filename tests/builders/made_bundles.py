"""Bundles made by hand, named by what happened in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from made_records import IDENTITY, START, TRENDING, foreign_load, killed, made_run, tree

from envdyno.experiment.judging import judge_experiment, plan_of
from envdyno.experiment.material import Material
from envdyno.plan.experiment import ExperimentPlan
from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentEntry, ExperimentRecord, SideRecord
from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord, Status

GO2 = "flashsac/go2_joystick_flat/mujoco"
G1 = "sac/g1_walk_flat/mujoco"
NOISE = (1.000, 1.004, 0.997, 1.002, 0.995, 1.003, 0.999, 1.001)
PHASES = (
    {"env_step": 12.0, "action_select": 1.6, "replay": 0.9},
    {"apply_action": 0.2, "physics": 10.1, "update_state": 1.4, "reset_done": 0.1},
)


class Made(NamedTuple):
    """What a bundle holds."""

    head: ExperimentRecord | None
    records: tuple[RunRecord, ...]

    def material(self, name: str = "bundle") -> Material:
        """What reports and exports are made of; judged on the day of the runs."""
        if self.head is None:
            return Material(name, self.records)
        gate = plan_of(self.head).gate
        judgements = judge_experiment(self.head, self.records, gate, today=START.date())
        return Material(name, self.records, None, self.head, tuple(judgements), gate is not None)

    def write(self, folder: Path, *, raw: bool = False) -> Bundle:
        """Write it as a bundle; with raw samples where a record names them."""
        bundle = Bundle.create(folder)
        if self.head is not None:
            bundle.write_experiment(self.head)
        journal = bundle.journal()
        for record in self.records:
            journal.append(record)
            if raw:
                _write_raw(bundle, record)
        journal.close()
        return bundle


def experiment(
    rates: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    gate: Mapping[str, Any] | None = None,
    change: Callable[[RunRecord], RunRecord | None] = lambda record: record,
    slower_ms: float = 0.0,
    sides: tuple[str, str] = ("base", "head"),
    planned_pairs: int | None = None,
    shape: Sequence[float] | None = None,
    day: int = 0,
) -> Made:
    """An experiment from the rates of both sides by case.

    Args:
        rates: by case, the rates of the base side and of the other.
        gate: settings of the gate; ``None`` for the usual one.
        change: what happens to each record; ``None`` leaves it out.
        slower_ms: how much longer the first case's physics takes on the other side, in attribution runs;
            with 0 there are none.
        sides: names of the two sides.
        planned_pairs: pairs of each case in the plan.
        shape: relative rates of the sub-windows.
        day: how many days later it was made.
    """
    records: list[RunRecord] = []
    number = 2880 * day
    more: dict[str, Any] = {} if shape is None else {"shape": shape}
    for case, (base, other) in rates.items():
        for pair, both in enumerate(zip(base, other, strict=True), 1):
            for position, index in enumerate((0, 1) if pair % 2 else (1, 0)):
                entry = _entry(case, sides[index], pair, position, f"{case}-{pair}-{sides[index]}")
                raw = [f"{entry.folder}/worker-{worker}.npy" for worker in (0, 1)]
                found = change(
                    made_run(both[index], number=number, workload=case, entry=entry, raw=raw, **more)
                )
                records += [found] if found is not None else []
                number += 1
        late_ms = slower_ms if case == next(iter(rates)) else 0.0
        for pair in (1, 2, 3) if slower_ms else ():
            for position, index in enumerate((0, 1) if pair % 2 else (1, 0)):
                outer, inner = (dict(part) for part in PHASES)
                late = late_ms * index * NOISE[pair]
                inner["physics"] += late
                outer["env_step"] += late
                records.append(
                    made_run(
                        both[index],
                        number=number,
                        workload=case,
                        timing="attribution",
                        phases=tree(sum(outer.values()) + 0.3, outer, inner),
                        entry=_entry(case, sides[index], pair, position, f"{case}-{pair}-{sides[index]}-a"),
                    )
                )
                number += 1
    pairs = planned_pairs or max((len(base) for base, _ in rates.values()), default=3)
    return Made(_head(tuple(rates), sides, pairs, dict(gate or {"min_ratio": 0.9}), day), tuple(records))


def _entry(case: str, side: str, pair: int, position: int, planned: str) -> ExperimentEntry:
    return ExperimentEntry(
        planned_id=planned,
        case=case,
        side=side,
        pair=pair,
        position=position,
        attempt=0,
        final=True,
        disturbed=False,
        canary_per_s=700.0,
        folder=f"runs/{hash_of(planned):x}.0",
    )


def hash_of(text: str) -> int:
    """A number for a text, the same in every process."""
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()
    return int.from_bytes(digest[:8], "big")


def _head(
    cases: tuple[str, ...], sides: tuple[str, str], pairs: int, gate: dict[str, Any], day: int
) -> ExperimentRecord:
    plan = ExperimentPlan.model_validate(
        {
            "experiment": {"cases": list(cases), "num_envs": [8192], "pairs": str(pairs)},
            # A plan refuses odd names of sides; the head of a bundle that somebody else made may hold them.
            "sides": {name: {"options": {"runtime": name}} for name in ("base", "head")},
            "gate": gate,
        }
    )
    commits = ("60c2ce7c" + "0" * 32, "2a3bcea7" + "0" * 32)
    packages = ({"mujoco": "3.3.7", "numpy": "2.4.6"}, {"mujoco": "4.0.0", "numpy": "2.4.6"})
    return ExperimentRecord(
        experiment_id=f"{day:032x}",
        created_at=START.replace(day=1 + day).isoformat(timespec="milliseconds"),
        envdyno_version="0.1.0",
        command=("envdyno", "ab", "--base", "main", "--head", "dev", *cases, "--gate", "0.9"),
        directory="/home/alice/robots",
        working_directory="/home/alice/robots",
        plan=plan.to_json(),
        plan_digest=plan.digest,
        sides=tuple(
            SideRecord(
                name=name,
                label=commit[:8],
                digest=commit,
                identity={
                    "code": {"repository": "/home/alice/robots", "commit": commit, "dirty": False},
                    "packages": {"versions": versions},
                },
            )
            for name, commit, versions in zip(sides, commits, packages, strict=True)
        ),
        cases=cases,
        orders=dict.fromkeys(cases, " ".join(("AB", "BA")[pair % 2] for pair in range(pairs))),
        planned=(),
        differences={sides[1]: ("code", "packages")},
        package_differences=("mujoco 3.3.7 → 4.0.0",),
        machine=dict(IDENTITY),
    )


def _rates(level: float, ratio: float, pairs: int = 6) -> tuple[list[float], list[float]]:
    base = [level * NOISE[pair] for pair in range(pairs)]
    return base, [ratio * level * NOISE[(3 * pair + 1) % len(NOISE)] for pair in range(pairs)]


def passing() -> Made:
    """Two cases, a little slower, well above the gate."""
    return experiment({GO2: _rates(312_512, 0.985), G1: _rates(110_693, 1.004)})


def failing() -> Made:
    """One case that lost a third, by its physics; one that did not."""
    return experiment({GO2: _rates(312_512, 0.644), G1: _rates(110_693, 1.004)}, slower_ms=7.3)


def undecided() -> Made:
    """One case so noisy that its interval spans the gate."""
    base, head = _rates(110_693, 0.93, 3)
    return experiment({G1: (base, [head[0] * 0.9, head[1] * 1.08, head[2]])})


def missing_case() -> Made:
    """A case that is in the plan and has no run, beside one that passes."""
    made = experiment({GO2: _rates(312_512, 0.985), G1: _rates(110_693, 1.0)})
    assert made.head is not None
    why = "The side head cannot build it: No module named 'torch'."
    head = made.head.model_copy(update={"cannot_run": {G1: why}})
    return Made(head, tuple(one for one in made.records if one.experiment and one.experiment.case == GO2))


def interrupted() -> Made:
    """Six pairs were planned; two were made, a run of the third was killed, then came Ctrl-C."""

    def cut(record: RunRecord) -> RunRecord | None:
        entry = record.experiment
        assert entry is not None
        if entry.pair < 3:
            return record
        lost = {"throughput": None, "totals": None, "workers": (), "machine": None, "spec": None}
        if entry.pair == 3 and entry.position == 0:
            return record.model_copy(update={**lost, "status": Status.KILLED, "failure": killed()})
        why = FailureRecord(
            kind="interrupt", worker=None, stage=None, message="The experiment was interrupted."
        )
        return record.model_copy(update={**lost, "status": Status.SKIPPED, "failure": why})

    return experiment({GO2: _rates(312_512, 0.985)}, change=cut)


def drifted() -> Made:
    """A machine that lost a tenth on the way, under foreign load, with a trend inside each run."""
    base, head = _rates(312_512, 0.985)
    fade = [1 - 0.02 * pair for pair in range(6)]
    rates = (
        [a * f for a, f in zip(base, fade, strict=True)],
        [a * f for a, f in zip(head, fade, strict=True)],
    )

    def disturb(record: RunRecord) -> RunRecord:
        entry = record.experiment
        assert entry is not None
        if entry.pair < 4:
            return record
        entry = entry.model_copy(update={"disturbed": True})
        return record.model_copy(update={"experiment": entry, "warnings": (foreign_load(1.3),)})

    return experiment({GO2: (rates[0], rates[1])}, change=disturb, shape=TRENDING)


def one_run() -> Made:
    """One run of no experiment, disturbed."""
    return Made(None, (made_run(92_418.0, warnings=[foreign_load(1.3)]),))


def sweep() -> Made:
    """Six batch sizes; the largest one did not fit into memory."""
    rates = {512: 41_000.0, 1024: 63_000.0, 2048: 84_000.0, 4096: 92_000.0, 8192: 93_000.0}
    records = [made_run(rate, number=n, num_envs=envs) for n, (envs, rate) in enumerate(rates.items())]
    last = made_run(None, number=9, num_envs=16384, status=Status.KILLED, failure=killed())
    return Made(None, (*records, last))


SCENARIOS: dict[str, Callable[[], Made]] = {
    "pass": passing,
    "fail": failing,
    "undecided": undecided,
    "missing_case": missing_case,
    "interrupted": interrupted,
    "drifted": drifted,
    "one_run": one_run,
    "sweep": sweep,
}


def _write_raw(bundle: Bundle, record: RunRecord) -> None:
    for worker in record.workers:
        if worker.raw_samples is None or worker.step_time is None:
            continue
        rng = np.random.default_rng(worker.worker + hash_of(record.run_id) % 1000)
        steps_ns = worker.step_time.p50_ms * 1e6 * rng.lognormal(0.0, 0.03, 400)
        path = bundle.folder / worker.raw_samples
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.cumsum(steps_ns).astype(np.int64), allow_pickle=False)
