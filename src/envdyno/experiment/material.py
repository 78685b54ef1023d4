"""What reports and exports are made of: the records of a bundle or a file, and the judge's word on them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from envdyno.experiment.judging import Judgement, judge_experiment, plan_of, today
from envdyno.record.bundle import Bundle, BundleError, fitting_together
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.journal import read_journal
from envdyno.record.pack import bundle_at
from envdyno.record.run_record import RunRecord


@dataclass(frozen=True)
class Material:
    """One source of records, read and judged."""

    name: str
    """What the user named."""
    records: tuple[RunRecord, ...]
    bundle: Bundle | None = None
    """Where raw samples are; ``None`` for a file of records."""
    head: ExperimentRecord | None = None
    """``None`` where the records are of no experiment."""
    judgements: tuple[Judgement, ...] = ()
    """One for each side that is compared with the base; empty without an experiment."""
    is_gated: bool = False
    """Whether a gate was asked for; without one no verdict is to be shown."""


@contextmanager
def opened(path: Path) -> Iterator[Material]:
    """Read a bundle, a packed bundle, or a file of records, to show what is in it.

    Raises:
        BundleError: it is none of these, holds no record, or does not fit together.
        JournalError: its records cannot be read.
    """
    with fitting_together(path), reading(path) as material:
        yield material


@contextmanager
def reading(path: Path) -> Iterator[Material]:
    """Read the same to do more than show it: errors of what is done meanwhile pass through.

    Raises:
        BundleError: it is none of these, or holds no record.
        JournalError: its records cannot be read.
    """
    with bundle_at(path) as bundle:
        if bundle is None:
            yield Material(str(path), _not_empty(tuple(read_journal(path)), str(path)))
        else:
            yield _of_bundle(bundle, str(path))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the garbage collector: records have no cycles, and it would walk all of them again and again.

    What was made meanwhile is put where it does not look later either (``gc.freeze``). It still goes when
    nothing refers to it any more.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


@_without_collection()
def _of_bundle(bundle: Bundle, name: str) -> Material:
    if not bundle.has_experiment():
        if not bundle.has_records():
            raise BundleError(f"{name} is no bundle: it holds neither an experiment nor records.")
        return Material(name, tuple(bundle.records()), bundle)
    head = bundle.experiment()
    records = tuple(bundle.records()) if bundle.has_records() else ()
    gate = plan_of(head).gate
    judgements = tuple(judge_experiment(head, records, gate, today=today()))
    return Material(name, records, bundle, head, judgements, gate is not None)


def _not_empty(records: tuple[RunRecord, ...], name: str) -> tuple[RunRecord, ...]:
    if not records:
        raise BundleError(f"{name} holds no record.")
    return records
