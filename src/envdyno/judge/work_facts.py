"""From a run's record to facts about the work that it did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from envdyno.judge.evidence import WorkValue
from envdyno.judge.work import CONTACTS
from envdyno.record.run_record import RunRecord


def work_facts(record: RunRecord) -> dict[str, WorkValue] | None:
    """Return what a run says of the work it did; facts that are not told are left out."""
    spec = record.spec or {}
    facts: dict[str, WorkValue] = {
        "num_envs": record.case.num_envs,
        "action_source": record.case.actions,
        "action_seed": record.case.seed,
        "action_spec": _text(spec.get("action")),
        "observation_spec": _text(spec.get("observation")),
        "substeps_per_transition": spec.get("substeps"),
        "dt_s": spec.get("step_dt_s"),
        "autoreset": spec.get("autoreset"),
        "threads": spec.get("threads"),
        "reward_mean": record.reward_mean,
        "observation_hash": _observation_hash(record),
    }
    if record.throughput is not None:
        facts["synchronisation"] = record.throughput.edge_mode
        facts["resets_per_step"] = record.throughput.resets_per_step
    if record.totals is not None:
        facts["reset_rows"] = record.totals.episodes
        facts["nonfinite_rows"] = record.totals.nonfinite_rows
    facts[CONTACTS] = _contacts_per_row(record)
    facts |= _details(record, spec)
    facts |= _with_episode_length(_per_step(record), facts.get("resets_per_step"))
    return {name: value for name, value in facts.items() if value is not None}


def _details(record: RunRecord, spec: Mapping[str, Any]) -> dict[str, WorkValue]:
    """Return what else fixes the work, one fact each. What the user set as an option is no finding."""
    details = spec.get("details") or {}
    return {
        f"details.{name}": plain(value) for name, value in details.items() if name not in record.case.options
    }


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True)


def _observation_hash(record: RunRecord) -> str | None:
    hashes = [worker.observation_hash for worker in record.workers]
    return None if not hashes or None in hashes else " ".join(str(value)[:16] for value in hashes)


def _per_step(record: RunRecord) -> dict[str, WorkValue]:
    """Return the workload's own running totals per vector step, over all workers."""
    spans = [worker.work for worker in record.workers if worker.work and worker.work.vector_steps]
    if not spans or len(spans) != len(record.workers):
        return {}
    steps = sum(span.vector_steps for span in spans)
    names = set.intersection(*(set(span.totals) for span in spans)) - {"substeps"}
    return {f"{name}_per_step": sum(span.totals[name] for span in spans) / steps for name in sorted(names)}


def _contacts_per_row(record: RunRecord) -> float | None:
    """Return the mean number of contacts in a row, of the looks before and after the window."""
    looks = [worker.contacts for worker in record.workers if worker.contacts]
    if not looks or len(looks) != len(record.workers):
        return None
    return sum(look.after_warmup + look.after_window for look in looks) / sum(2 * look.rows for look in looks)


def _with_episode_length(per_step: dict[str, WorkValue], resets_per_step: WorkValue) -> dict[str, WorkValue]:
    """Return the same with the mean length of the episodes that ended, in the place of their steps."""
    steps = per_step.pop("episode_steps_per_step", None)
    if isinstance(steps, float) and isinstance(resets_per_step, float) and resets_per_step > 0:
        per_step["episode_length_mean"] = steps / resets_per_step
    return per_step


def plain(value: Any) -> WorkValue:
    """Return a value as it is, or as JSON text where it is an object or a list."""
    return value if value is None or isinstance(value, (int, float, str, bool)) else _text(value)
