"""Two bundles, or two files of another tool, side by side as text. Nothing here is paired."""

from __future__ import annotations

from collections.abc import Iterator

from envdyno.judge.compare import BundleComparison
from envdyno.judge.unpaired import UnpairedComparison
from envdyno.report.columns import aligned
from envdyno.report.verdict_table import summary_text

UNPAIRED = "unpaired: whatever happened to the machine in between is part of these ratios"


def bundle_lines(found: BundleComparison) -> list[str]:
    """Return the comparison of two bundles."""
    rows = [("case", "earlier", "later", "later over earlier [95 %]", "verdict")]
    for case in found.cases:
        verdict = "" if case.absolute.outcome is None else case.absolute.outcome.verdict.name
        row = (summary_text(case.absolute.base_summary), summary_text(case.absolute.head_summary))
        rows.append((case.case, *row, _ratio(case.absolute), verdict))
    lines = aligned(rows) if found.cases else ["The bundles have no case in common."]
    lines += ["", UNPAIRED] if found.cases else []
    if found.outcome is not None:
        lines += ["", f"{found.outcome.verdict.name}: {found.outcome.message}"]
    for mismatch in found.mismatches:
        lines.append(f"  {mismatch.name}: {_short(mismatch.base)} | {_short(mismatch.head)}")
    lines += _ratio_changes(found)
    lines += [f"! {alarm.message}" for alarm in found.alarms]
    lines += [f"only in the earlier one: {name}" for name in found.only_earlier]
    lines += [f"only in the later one: {name}" for name in found.only_later]
    return lines


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _ratio(found: UnpairedComparison) -> str:
    if found.ratio is None:
        return "not compared"
    if found.interval is None:
        return f"{found.ratio:.3f}"
    return f"{found.ratio:.3f} [{found.interval.low:.3f}, {found.interval.high:.3f}]"


def _ratio_changes(found: BundleComparison) -> Iterator[str]:
    """Yield how the ratios within each bundle differ; these may be compared between machines."""
    for case in found.cases:
        if case.earlier_ratio is None or case.later_ratio is None or case.ratio_change is None:
            continue
        change, interval = case.ratio_change.change, case.ratio_change.interval
        spread = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
        yield (
            f"{case.case}: ratio within each bundle {case.earlier_ratio.ratio:.3f} → "
            f"{case.later_ratio.ratio:.3f}, change {change:.3f}{spread}"
        )


def unpaired_lines(name: str, found: UnpairedComparison) -> list[str]:
    """Return the comparison of one benchmark in two files of another tool."""
    rows = [("", "rate/s, median [min–max]", "n")]
    for side, summary in ((found.base, found.base_summary), (found.head, found.head_summary)):
        rows.append((f"{side.name}, {side.source}", summary_text(summary), str(summary.n)))
    lines = [name, *aligned(rows), f"later over earlier: {_ratio(found)}   {found.method}"]
    if found.mann_whitney_p is not None:
        lines.append(f"Mann-Whitney p = {found.mann_whitney_p:.3g}, {found.direction.value}")
    if found.outcome is not None:
        lines.append(f"{found.outcome.verdict.name}: {found.outcome.message}")
    lines += [f"! {alarm.message}" for alarm in found.alarms]
    lines += [f"! {side.name}: {side.why_empty}" for side in (found.base, found.head) if side.why_empty]
    return [*lines, ""]
