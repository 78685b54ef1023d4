"""The head of an experiment's bundle, and whether an experiment may be carried on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from envdyno._version import __version__
from envdyno.agent.job import Timing
from envdyno.experiment.preflight import Preflight
from envdyno.experiment.side_labels import side_labels
from envdyno.judge.from_records import MACHINE_FIELDS, key_of_machine
from envdyno.judge.noise_floor import NoiseFloors
from envdyno.plan.expand import PlannedRun, order_of
from envdyno.plan.experiment import ExperimentPlan, changed_keys
from envdyno.plan.usage_error import UsageError
from envdyno.record.experiment import ExperimentRecord, SideRecord
from envdyno.sides.comparison import SideChecks
from envdyno.sides.prepared import PreparedSide


def make_head(
    plan: ExperimentPlan,
    directory: Path,
    cases: Sequence[str],
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    checks: SideChecks,
    preflight: Preflight,
    *,
    machine: Mapping[str, Any],
    floors: NoiseFloors,
    command: Sequence[str],
) -> ExperimentRecord:
    """Return everything that is fixed before the first run.

    Args:
        plan: the plan.
        directory: where its relative paths start.
        cases: their names, in the plan's order.
        runs: all planned runs, in order.
        sides: by name, in the plan's order.
        checks: how the sides compare.
        preflight: what building them showed.
        machine: identity of this machine.
        floors: all noise floors that are known; those of this machine are kept.
        command: the command line.
    """
    labels = side_labels(tuple(sides.values()))
    key = key_of_machine(machine)
    return ExperimentRecord(
        experiment_id=uuid.uuid4().hex,
        created_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        envdyno_version=__version__,
        command=tuple(command),
        directory=str(directory.resolve()),
        working_directory=str(Path.cwd()),
        plan=plan.to_json(),
        plan_digest=plan.digest,
        sides=tuple(_side(side, labels[side.name], preflight) for side in sides.values()),
        cases=tuple(cases),
        orders={}
        if plan.sweep is not None
        else {case: order_of(runs, plan, case, Timing.THROUGHPUT) for case in cases},
        planned=tuple(run.id for run in runs),
        misaligned=preflight.misaligned,
        cannot_run=preflight.cannot_run,
        differences={one.second: one.differing for one in checks.comparisons},
        package_differences=tuple(
            str(difference) for comparison in checks.comparisons for difference in comparison.packages
        ),
        machine=dict(machine),
        noise_floors=tuple(asdict(floor) for floor in floors.floors if floor.machine == key),
        notices=(*map(str, checks.notices), *preflight.notices),
    )


def _side(side: PreparedSide, label: str, preflight: Preflight) -> SideRecord:
    loaded = preflight.loaded.get(side.name, {})
    return SideRecord(
        name=side.name,
        label=label,
        digest=side.identity.digest,
        identity=side.identity.to_json(),
        caches=tuple(dict(cache) for cache in side.caches),
        distributions=loaded.get("distributions"),
        origins=tuple(loaded.get("origins", ())),
    )


def check_same(
    begun: ExperimentRecord,
    plan: ExperimentPlan,
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    machine: Mapping[str, Any],
) -> None:
    """Refuse to carry on an experiment under another plan, with other sides, or elsewhere.

    Raises:
        UsageError: something changed; the sentence says what.
    """
    changes = [
        *_changes_of_plan(begun, plan, runs),
        *_changes_of_sides(begun, sides),
        *changed_machine(begun.machine, machine),
    ]
    if begun.envdyno_version != __version__:
        changes.append(f"envdyno was {begun.envdyno_version} and is {__version__}")
    if changes:
        lines = "\n".join(f"    {change}" for change in changes)
        raise UsageError(
            f"The experiment cannot be resumed, for it would not be the same one:\n{lines}\n"
            "Put that back, or begin a new experiment in another folder."
        )


def _changes_of_plan(
    begun: ExperimentRecord, plan: ExperimentPlan, runs: Sequence[PlannedRun]
) -> Iterator[str]:
    if begun.plan_digest != plan.digest:
        changes = changed_keys(begun.plan, plan.to_json())
        yield from (f"the plan, {change}" for change in changes or ["the order of its sides"])
        return
    ids = tuple(run.id for run in runs)
    if begun.planned != ids:
        gone = len(set(begun.planned) - set(ids))
        new = len(set(ids) - set(begun.planned))
        yield f"the plan stands for other runs: {gone} of {len(begun.planned)} are gone, {new} are new"


def _changes_of_sides(begun: ExperimentRecord, sides: Mapping[str, PreparedSide]) -> Iterator[str]:
    labels = side_labels(tuple(sides.values()))
    now = {name: side.identity.to_json() for name, side in sides.items()}
    for before in begun.sides:
        side = sides.get(before.name)
        if side is None or side.identity.digest == before.digest:
            continue
        changes = changed_keys(_telling(before.identity), _telling(now[before.name]))[:4]
        what = "; ".join(changes) or f"it was {before.label} and is {labels[before.name]}"
        yield f"side {before.name}, {what}"


def _telling(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of an identity can differ and be told in a line."""
    code = identity.get("code") or {}
    packages = identity.get("packages") or {}
    interpreter = identity.get("interpreter") or {}
    return {
        "code": {name: code.get(name) for name in ("repository", "commit", "diff_sha256")},
        "python": {name: interpreter.get(name) for name in ("path", "version")},
        "packages": packages.get("versions") or {},
        **{name: identity.get(name) for name in ("pythonpath", "setup", "environ", "unset", "options")},
    }


def changed_machine(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield how this machine differs from the one that an experiment was begun on."""
    if before:
        for name in MACHINE_FIELDS:
            if before.get(name) != now.get(name):
                yield f"the machine, {name}: {before.get(name)} → {now.get(name)}"
