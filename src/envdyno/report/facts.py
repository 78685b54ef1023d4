"""Fingerprint, software and packages as rows of text, for a page and for Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord

LONGEST = 400
"""Characters of a fact that are shown; the record has the rest."""


def fingerprint_rows(records: Sequence[RunRecord]) -> list[tuple[str, str, str]]:
    """Return class, name and value of every fact of the first run that has a fingerprint."""
    found = next((record.fingerprint for record in records if record.fingerprint is not None), None)
    if found is None:
        return []
    classes = {"identity": found.identity, "context": found.context, "volatile": found.volatile}
    return [(kind, name, shown(value)) for kind, facts in classes.items() for name, value in facts.items()]


def absent_rows(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return what no figure was given for, and why."""
    reasons: dict[str, str] = {}
    for record in records:
        for name, why in record.absent.items():
            reasons.setdefault(name, why)
    return list(reasons.items())


def package_rows(head: ExperimentRecord) -> list[tuple[str, ...]]:
    """Return name and version on every side of the packages that differ."""
    versions = [_versions(side.identity) for side in head.sides]
    names = sorted({name for found in versions for name in found})
    rows = [(name, *(found.get(name, "not there") for found in versions)) for name in names]
    return [row for row in rows if len(set(row[1:])) > 1]


def _versions(identity: Mapping[str, Any]) -> dict[str, str]:
    packages = identity.get("packages")
    found = packages.get("versions") if isinstance(packages, dict) else None
    return {str(name): str(version) for name, version in found.items()} if isinstance(found, dict) else {}


def side_rows(head: ExperimentRecord) -> list[tuple[str, str, str, str]]:
    """Return name, label, code and digest of every side."""
    rows = []
    for side in head.sides:
        code = side.identity.get("code")
        commit = shown(code.get("commit")) if isinstance(code, dict) else "as installed"
        rows.append((side.name, side.label, commit, side.digest[:16]))
    return rows


def shown(value: Any) -> str:
    """Return a value as a person reads it."""
    if value is None:
        return "not told"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
