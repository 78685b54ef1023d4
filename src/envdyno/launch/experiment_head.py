"""The head of an experiment's bundle, and whether an experiment may be carried on."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from envdyno._version import __version__
from envdyno.agent.job import Timing
from envdyno.launch.preflight import Preflight
from envdyno.plan.expand import PlannedRun, order_of
from envdyno.plan.experiment import ExperimentPlan, changed_keys
from envdyno.plan.usage_error import UsageError
from envdyno.record.experiment import ExperimentRecord, SideRecord
from envdyno.sides.comparison import SideChecks
from envdyno.sides.prepared import PreparedSide


def make_head(
    plan: ExperimentPlan,
    runs: Sequence[PlannedRun],
    sides: Mapping[str, PreparedSide],
    checks: SideChecks,
    preflight: Preflight,
    command: Sequence[str],
) -> ExperimentRecord:
    """Return everything that is fixed before the first run."""
    cases = tuple(dict.fromkeys(run.case for run in runs))
    return ExperimentRecord(
        experiment_id=uuid.uuid4().hex,
        created_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        envdyno_version=__version__,
        command=tuple(command),
        plan=plan.to_json(),
        plan_digest=plan.digest,
        sides=tuple(_side(side, preflight) for side in sides.values()),
        cases=cases,
        orders={case: order_of(runs, plan, case, Timing.THROUGHPUT) for case in cases},
        planned=tuple(run.id for run in runs),
        misaligned=preflight.misaligned,
        cannot_run=preflight.cannot_run,
        package_differences=tuple(
            str(difference) for comparison in checks.comparisons for difference in comparison.packages
        ),
        notices=tuple(map(str, checks.notices)),
    )


def _side(side: PreparedSide, preflight: Preflight) -> SideRecord:
    loaded = preflight.loaded.get(side.name, {})
    return SideRecord(
        name=side.name,
        label=side_label(side),
        digest=side.identity.digest,
        identity=side.identity.to_json(),
        caches=tuple(dict(cache) for cache in side.caches),
        distributions=loaded.get("distributions"),
        origins=tuple(loaded.get("origins", ())),
    )


def side_label(side: PreparedSide) -> str:
    """Return a short name for what a side is: a SHA, options, or its interpreter."""
    identity = side.identity
    if identity.code is not None:
        return identity.code.label
    if identity.options:
        return ", ".join(f"{key}={value}" for key, value in sorted(identity.options.items()))
    return f"Python {identity.interpreter.version}"


def check_same(begun: ExperimentRecord, plan: ExperimentPlan, sides: Mapping[str, PreparedSide]) -> None:
    """Refuse to carry on an experiment under another plan or with other sides.

    Raises:
        UsageError: something changed; the sentence says what.
    """
    if begun.plan_digest != plan.digest:
        changes = "; ".join(changed_keys(begun.plan, plan.to_json())) or "its sides or their order"
        raise UsageError(
            f"The experiment cannot be resumed, for its plan has changed: {changes}. "
            "Put the plan back, or begin a new experiment in another folder."
        )
    before = {side.name: side.digest for side in begun.sides}
    for name, side in sides.items():
        if before.get(name) != side.identity.digest:
            label = next((one.label for one in begun.sides if one.name == name), "unknown")
            raise UsageError(
                f"The experiment cannot be resumed, for side {name} is not what it was: it was {label} and "
                f"is {side_label(side)}, or its packages or variables changed. Begin a new experiment."
            )
