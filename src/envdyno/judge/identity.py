"""Are two records comparable at all? Field by field, and every field that differs is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from envdyno.judge.evidence import WorkValue

__all__ = ["IdentityMismatch", "compare_identity", "describe"]

_ABSENT = object()


class IdentityMismatch(NamedTuple):
    """One field that must be equal and is not."""

    name: str
    base: WorkValue
    head: WorkValue
    missing: bool = False
    """One of the records does not have the field at all, which is no agreement."""


def compare_identity(
    base: Mapping[str, WorkValue], head: Mapping[str, WorkValue], declared: Iterable[str] = ()
) -> tuple[IdentityMismatch, ...]:
    """The fields that differ, by name, but for those that were declared to differ.

    Args:
        base: identity fields of one side or bundle.
        head: those of the other.
        declared: fields whose difference is what is being compared.
    """
    allowed = set(declared)
    mismatches = []
    for name in sorted(set(base) | set(head)):
        ours, theirs = base.get(name, _ABSENT), head.get(name, _ABSENT)
        if name in allowed or ours == theirs:
            continue
        missing = ours is _ABSENT or theirs is _ABSENT
        mismatches.append(IdentityMismatch(name, base.get(name), head.get(name), missing))
    return tuple(mismatches)


def describe(mismatches: Iterable[IdentityMismatch]) -> str:
    """The mismatches in one line: ``name: base | head; ...``."""
    return "; ".join(f"{m.name}: {_shown(m.base)} | {_shown(m.head)}" for m in mismatches)


def _shown(value: WorkValue) -> str:
    return "not recorded" if value is None else str(value)
