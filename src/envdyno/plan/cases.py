"""Cases: from the patterns and axes of a plan to named workloads with all their options fixed."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any

from envdyno.agent.workloads.entry_points import installed
from envdyno.agent.workloads.near import near_names
from envdyno.agent.workloads.registration import Naming
from envdyno.agent.workloads.registry import WorkloadError, built_in, resolve
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.plan_error import PlanError


class Unknown(str, Enum):
    """What to do with a name that this interpreter does not know."""

    REFUSE = "refuse"
    KEEP = "keep"
    """A side's own interpreter may know it by an entry point."""


@dataclass(frozen=True)
class Catalogue:
    """The names that patterns can match."""

    names: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    """Names by group, e.g. ``suite``; a group's name in a plan stands for all of its members."""


@dataclass(frozen=True)
class Case:
    """A named workload with all its options fixed, but for those of the sides."""

    name: str
    """Unique in the experiment: the workload, and what of the axes applies."""
    workload: str
    num_envs: int
    options: Mapping[str, Any]


def catalogue() -> Catalogue:
    """Return the registered names of this interpreter; families such as ``gymnasium:`` have none to match."""
    exact = [entry for entry in (*built_in(), *installed()) if entry.naming is not Naming.PREFIX]
    groups: dict[str, list[str]] = {}
    for entry in exact:
        groups.setdefault(entry.group, []).append(entry.name)
    names = tuple(dict.fromkeys(entry.name for entry in exact))
    return Catalogue(names, {group: tuple(members) for group, members in groups.items()})


def find_workloads(
    patterns: Iterable[str], known: Catalogue, unknown: Unknown = Unknown.REFUSE
) -> tuple[str, ...]:
    """Return the workloads that patterns stand for, each once, in the order of the patterns.

    Raises:
        PlanError: a pattern matches nothing, or a name is not known.
    """
    found: list[str] = []
    problems: list[str] = []
    for pattern in patterns:
        try:
            found += _match(pattern, known, unknown)
        except (ValueError, WorkloadError) as error:
            problems.append(str(error))
    if problems:
        raise PlanError("cases", problems)
    return tuple(dict.fromkeys(found))


def cases_of(plan: ExperimentPlan, known: Catalogue, unknown: Unknown = Unknown.REFUSE) -> tuple[Case, ...]:
    """Multiply the workloads of a plan with its batch sizes and axes.

    Raises:
        PlanError: as :func:`find_workloads`.
    """
    workloads = find_workloads(plan.experiment.cases, known, unknown)
    sizes = plan.experiment.num_envs
    names = list(plan.axes)
    found: list[Case] = []
    for workload, num_envs, values in product(workloads, sizes, product(*plan.axes.values())):
        axes = dict(zip(names, values, strict=True))
        shown = {"num_envs": num_envs, **axes} if len(sizes) > 1 else axes
        suffix = ",".join(f"{name}={value}" for name, value in shown.items())
        name = f"{workload}@{suffix}" if suffix else workload
        found.append(Case(name, workload, num_envs, {**plan.options, **axes}))
    return tuple(found)


def unmatched_exceptions(plan: ExperimentPlan, cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the cases of exceptions that are not part of the experiment: a likely slip of the pen."""
    names = {case.name for case in cases}
    exceptions = plan.gate.exceptions if plan.gate else ()
    return tuple(exception.case for exception in exceptions if exception.case not in names)


def _match(pattern: str, known: Catalogue, unknown: Unknown) -> Iterator[str]:
    if pattern in known.groups:
        yield from known.groups[pattern]
        return
    if any(mark in pattern for mark in "*?["):
        matches = [name for name in known.names if fnmatch.fnmatchcase(name, pattern)]
        if not matches:
            raise ValueError(f"the pattern {pattern!r} matches no case.{_near(pattern, known)}")
        yield from matches
        return
    if pattern not in known.names and unknown is Unknown.REFUSE:
        resolve(pattern)
    yield pattern


def _near(pattern: str, known: Catalogue) -> str:
    bare = pattern.translate(str.maketrans("", "", "*?[]"))
    # A pattern leaves out what it stands for, so that a name may be much longer.
    near = near_names(bare, known.names, cutoff=0.3)
    return f" Near it: {', '.join(near)}." if near else " `envdyno list` shows the names."
