"""The result of ``envdyno check`` as text and as JSON."""

from __future__ import annotations

from typing import Any

from envdyno.launch.check_findings import Grade
from envdyno.launch.checking import Check
from envdyno.record.counted import counted
from envdyno.report.columns import aligned
from envdyno.report.sentences import wrapped

_MARKS = {Grade.GOOD: "ok", Grade.NOTE: "note", Grade.WRONG: "WRONG"}


def check_lines(check: Check, width: int | None = None) -> list[str]:
    """Return the result as lines of at most ``width`` characters, where words allow it."""
    python = check.loaded.get("python", "")
    lines = [f"{check.workload}   Python {python} at {check.python}", ""]
    rows = [(_MARKS[found.grade], found.topic, found.text) for found in check.findings]
    lines += [f"  {line}" for line in aligned(rows, width=None if width is None else width - 2)]
    if check.lacks:
        lines += ["", "  A record of it would lack:"]
        for words in check.lacks:
            lines += [f"    {part}" for part in (wrapped(words, width - 4) if width else [words])]
    wrong = sum(found.grade is Grade.WRONG for found in check.findings)
    notes = sum(found.grade is Grade.NOTE for found in check.findings)
    return [*lines, "", f"{counted(wrong, 'thing')} wrong, {counted(notes, 'note')}."]


def check_json(check: Check) -> dict[str, Any]:
    """Return the result as plain JSON types."""
    return {
        "workload": check.workload,
        "python": check.python,
        "spec": check.spec,
        "distributions": check.loaded.get("distributions", {}),
        "findings": [
            {"topic": found.topic, "grade": found.grade.value, "text": found.text} for found in check.findings
        ],
        "lacks": list(check.lacks),
    }
