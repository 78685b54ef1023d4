"""Looking closely at a workload, as nobody would while it is measured.

The worker of ``envdyno check`` steps a small batch and writes down what it saw; the control holds that
against what the workload says of itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from envdyno.agent.building import Stepping
from envdyno.agent.measure.contact_look import look_at_contacts
from envdyno.agent.measure.observation import named_arrays, nonfinite_rows, observation_hash
from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads.contract import Tally, is_count


def look_closely(stepping: Stepping, steps: int) -> dict[str, Any]:
    """Take ``steps`` vector steps and return what was seen, in plain JSON types."""
    workload = stepping.workload
    before = _own_totals(workload.work)
    inside_before = _own_count(workload.count_inside)
    tallies, outcomes = [], []
    for _ in range(steps):
        outcome = stepping.stepper.once()
        outcomes.append(outcome)
        tallies.append(as_tally(outcome, workload.spec.num_envs))
    if workload.synchronize is not None:
        workload.synchronize()
    inside_after = _own_count(workload.count_inside)
    after = _own_totals(workload.work)
    totals = Totals()
    for tally in tallies:
        totals.add(tally)
    observation = stepping.counted.observation
    latest = None if observation is None else observation()
    counted_inside = None
    if inside_before is not None and inside_after is not None:
        counted_inside = inside_after - inside_before
    return {
        "steps": steps,
        "outcomes": sorted({_kind(outcome) for outcome in outcomes}),
        "transitions": totals.transitions,
        "reset_rows": totals.reset_rows,
        "episodes": totals.episodes,
        "reward_sum": totals.reward_sum,
        "nonfinite_rows": totals.nonfinite_rows,
        "counted_inside": counted_inside,
        "why_not_inside": workload.why_not_inside,
        "notes": list(workload.notes),
        "work": {name: after[name] - value for name, value in before.items() if name in after},
        "contacts": look_at_contacts(workload.contacts_now),
        "late_resets": _late_resets(tallies),
        "short_steps": sum(
            tally.transitions + tally.reset_rows != workload.spec.num_envs for tally in tallies
        ),
        "observation": None if latest is None else dict(_arrays(latest)),
        "observation_nonfinite_rows": None if latest is None else nonfinite_rows(latest),
        "observation_hash": None if latest is None else observation_hash(latest),
        "tells_phases": workload.phases is not None,
        "synchronizes": workload.synchronize is not None,
        "children": list(children()),
    }


def _own_totals(work: Callable[[], Any] | None) -> dict[str, Any]:
    return {} if work is None else dict(work())


def _own_count(count_inside: Callable[[], int] | None) -> int | None:
    return None if count_inside is None else int(count_inside())


def _kind(outcome: Any) -> str:
    if isinstance(outcome, Tally):
        return "tally"
    return "number" if is_count(outcome) else "nothing"


def _late_resets(tallies: list[Tally]) -> int | None:
    """Return in how many steps other rows were reset than had ended in the step before.

    ``None`` where episodes are not told.
    """
    if any(tally.episodes is None for tally in tallies):
        return None
    pairs = itertools.pairwise(tallies)
    return sum(int(before.episodes or 0) != int(after.reset_rows) for before, after in pairs)


def _arrays(observation: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, array in named_arrays(observation):
        if hasattr(array, "shape"):
            # PyTorch writes torch.float32 for what others call float32.
            dtype = str(array.dtype).rpartition(".")[2]
            yield name, {"shape": [int(size) for size in array.shape], "dtype": dtype}
        else:
            yield name, _nested(array)


def _nested(values: Any) -> dict[str, Any]:
    """Return shape and dtype of nested lists, as of workloads that brought no NumPy."""
    shape = []
    while isinstance(values, (list, tuple)) and values:
        shape.append(len(values))
        values = values[0]
    return {"shape": shape, "dtype": {"float": "float64", "int": "int64"}.get(type(values).__name__)}


def children() -> Iterator[str]:
    """Yield the names of the processes that this one has started and that still run.

    None are found where the system does not show them (``/proc/PID/task/TID/children``, proc(5)).
    """
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            numbers = task.read_text().split()
        except OSError:
            continue
        for number in numbers:
            try:
                yield Path(f"/proc/{number}/comm").read_text().strip()
            except OSError:
                continue
