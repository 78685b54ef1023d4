"""What ``envdyno gate`` does: read a bundle, and judge it under the plan's gate or another."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from envdyno.cli.console import stdout_line
from envdyno.cli.judged import show_judgements
from envdyno.experiment.judging import judge_experiment, plan_of, today
from envdyno.plan.read_plan import load_plan
from envdyno.plan.sections import GateSection
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import BundleError, fitting_together
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.pack import bundle_at


def judge_again(
    source: Path, min_ratio: float | None, rule: str | None, plan_file: Path | None, allow_dirty: bool
) -> int:
    """Judge a bundle, packed or not; return the exit code.

    Raises:
        BundleError: it is no bundle of an experiment.
    """
    with bundle_at(source) as bundle:
        if bundle is None:
            raise BundleError(
                f"{source} is no bundle. A gate judges an experiment: name the folder that `envdyno ab` "
                "wrote, or one that was packed."
            )
        head = bundle.experiment()
        records = list(bundle.records())
    if plan_of(head).sweep is not None:
        raise BundleError(
            f"{source} is a sweep, which compares settings and has no gate. `envdyno show {source}` tells "
            "which are the best."
        )
    section = _section(head, min_ratio, rule, plan_file, allow_dirty)
    width = shutil.get_terminal_size((100, 24)).columns
    with fitting_together(source):
        judgements = judge_experiment(head, records, section, today=today())
        return show_judgements(head, judgements, records, judged=True, tell=stdout_line, width=width)


def _section(
    head: ExperimentRecord,
    min_ratio: float | None,
    rule: str | None,
    plan_file: Path | None,
    allow_dirty: bool,
) -> GateSection:
    """Return the gate to judge by: the plan file's, else the experiment's, with what the flags change."""
    planned = plan_of(head).gate if plan_file is None else load_plan(plan_file).plan.gate
    if plan_file is not None and planned is None:
        raise UsageError(f"{plan_file} has no [gate].")
    changes: dict[str, Any] = {"min_ratio": min_ratio, "rule": rule, "allow_dirty": allow_dirty or None}
    body = (planned or GateSection()).model_dump(mode="json")
    body |= {name: value for name, value in changes.items() if value is not None}
    try:
        return GateSection.model_validate(body, strict=False)
    except ValueError as error:
        raise UsageError(f"The gate does not fit together: {error}") from error
