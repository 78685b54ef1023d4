"""Reading a plan from a TOML file, from flags, or from a file with flags on top."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.flags import PlanFlags
from envdyno.plan.plan_error import PlanError, sentences
from envdyno.sides.toml_text import TomlError, parse_toml

_NEEDED_FLAGS = {
    "experiment": "no case was named; `envdyno list` shows them, and a plan file may name them too.",
    "sides": (
        "no sides were named. An experiment compares two: --base REF and --head REF, --side NAME=PART for "
        "each, or an option of each, as -o old:runtime=direct -o new:runtime=manager."
    ),
}


class LoadedPlan(NamedTuple):
    """A plan and where it came from."""

    plan: ExperimentPlan
    directory: Path
    """Where the plan's relative paths start."""
    source: str
    """For messages: the path of the file, or ``The command line``."""


def load_plan(path: Path, flags: PlanFlags | None = None) -> LoadedPlan:
    """Read a plan file; what ``flags`` say replaces what the file says.

    Raises:
        PlanError: the file cannot be read, is not TOML, or does not make sense; all problems are named.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(str(path), [f"the plan file cannot be read: {error}."]) from error
    try:
        tables = parse_toml(text)
    except TomlError as error:
        raise PlanError(str(path), [f"this is not TOML: {error}."]) from error
    if flags is not None:
        tables = _with_flags(tables, flags)
    plan = build_plan(tables, str(path), text)
    return LoadedPlan(plan, path.resolve().parent, str(path))


def plan_from_flags(flags: PlanFlags, directory: Path) -> LoadedPlan:
    """Make a plan of flags alone; relative paths start at ``directory``.

    Raises:
        PlanError: the flags do not make a plan.
    """
    source = "The command line"
    tables = _with_flags({}, flags)
    missing = [sentence for table, sentence in _NEEDED_FLAGS.items() if table not in tables]
    if missing:
        raise PlanError(source, missing)
    return LoadedPlan(build_plan(tables, source), directory, source)


def plan_from_tables(tables: Mapping[str, Any], flags: PlanFlags, directory: Path, source: str) -> LoadedPlan:
    """Make a plan of tables that were read before, with flags on top.

    Raises:
        PlanError: they do not make a plan.
    """
    return LoadedPlan(build_plan(_with_flags(tables, flags), source), directory, source)


def build_plan(tables: Mapping[str, Any], source: str, text: str | None = None) -> ExperimentPlan:
    """Validate the tables of a plan.

    Raises:
        PlanError: unknown keys, missing keys, wrong values; all are named at once.
    """
    try:
        return ExperimentPlan.model_validate(dict(tables))
    except ValidationError as error:
        raise PlanError(source, sentences(error, ExperimentPlan, text)) from error


def _with_flags(tables: Mapping[str, Any], flags: PlanFlags) -> dict[str, Any]:
    """Lay flags over the tables of a plan.

    Only a bound makes a gate, for what a ratio is held against is nobody's to guess. How to judge says
    nothing without one. Uncommitted changes are allowed without one anyway.

    Raises:
        PlanError: a flag cannot be read, or says how a gate judges that is not there.
    """
    above = flags.tables()
    gate = above.get("gate", {})
    if gate and "min_ratio" not in gate and tables.get("gate") is None:
        if "rule" in gate:
            text = (
                f"--rule {gate['rule']} says how a gate judges, and there is no gate: give its bound, such "
                "as --gate 0.90, or a [gate] in the plan file."
            )
            raise PlanError("The command line", [text])
        del above["gate"]
    return _merged(tables, above)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one set of tables over another; tables are merged, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        beneath = merged.get(key)
        if isinstance(beneath, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(beneath, value)
        else:
            merged[key] = value
    return merged
