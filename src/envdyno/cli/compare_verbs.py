"""What ``envdyno compare`` does: read two sources of figures, compare what both have, show it."""

from __future__ import annotations

from pathlib import Path

from envdyno.cli.console import stdout_line
from envdyno.cli.exit_code import ExitCode
from envdyno.judge.compare import compare_bundles
from envdyno.judge.evidence import ExperimentEvidence
from envdyno.judge.foreign_side import unpaired_side
from envdyno.judge.from_records import experiment_evidence
from envdyno.judge.from_runs import runs_evidence
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.unpaired import UnpairedComparison, compare_unpaired
from envdyno.judge.verdicts import exit_code, overall
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import Bundle, fitting_together
from envdyno.record.foreign.formats import parse_foreign
from envdyno.record.foreign.series import ForeignFormatError, ForeignSeries
from envdyno.record.journal import read_journal
from envdyno.record.pack import bundle_at, is_pack
from envdyno.record.strict_json import NotStrictJson, loads
from envdyno.report.bundle_comparison import bundle_lines, unpaired_lines


def compare_files(
    earlier: Path,
    later: Path,
    side: str | None,
    min_ratio: float | None,
    declare: tuple[str, ...],
    force: bool,
) -> int:
    """Compare and show; return the exit code."""
    rule = None if min_ratio is None else GateRule(min_ratio=min_ratio)
    foreign = [_foreign(path) for path in (earlier, later)]
    if foreign[0] is not None and foreign[1] is not None:
        return _compare_foreign(foreign[0], foreign[1], rule, declare, force)
    if foreign[0] is not None or foreign[1] is not None:
        raise UsageError("Figures of another tool are compared with figures of another tool only.")
    sources = [_evidence(path, side) for path in (earlier, later)]
    with fitting_together(f"{earlier} or {later}"):
        found = compare_bundles(*sources, rule=rule, declared=declare, force=force)
        for line in bundle_lines(found):
            stdout_line(line)
    return int(found.exit_code)


def _foreign(path: Path) -> tuple[ForeignSeries, ...] | None:
    """Return the series of another tool's file; ``None`` for a bundle or a file of records."""
    if path.is_dir() or path.suffix == ".jsonl" or is_pack(path):
        return None
    try:
        return parse_foreign(loads(path.read_text(encoding="utf-8")), str(path))
    except (OSError, UnicodeDecodeError, NotStrictJson, ForeignFormatError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _compare_foreign(
    earlier: tuple[ForeignSeries, ...],
    later: tuple[ForeignSeries, ...],
    rule: GateRule | None,
    declare: tuple[str, ...],
    force: bool,
) -> int:
    before = {series.name: series for series in earlier}
    pairs = [(before[series.name], series) for series in later if series.name in before]
    if not pairs and len(earlier) == len(later) == 1:
        pairs = [(earlier[0], later[0])]
    if not pairs:
        raise UsageError("The two files have no benchmark of the same name.")
    comparisons: list[UnpairedComparison] = []
    for one, other in pairs:
        sides = unpaired_side(one, "earlier"), unpaired_side(other, "later")
        found = compare_unpaired(*sides, rule, declare, force=force)
        comparisons.append(found)
        for line in unpaired_lines(other.name, found):
            stdout_line(line)
    verdicts = [found.outcome.verdict for found in comparisons if found.outcome is not None]
    return int(exit_code(overall(verdicts))) if verdicts else ExitCode.DONE


def _evidence(path: Path, side: str | None) -> ExperimentEvidence:
    """Read a bundle, packed or not, or a file of records.

    Raises:
        BundleError: it is none of these.
        UsageError: there is no such side, or no record.
    """
    with fitting_together(path), bundle_at(path) as bundle:
        if bundle is not None and bundle.has_experiment() and not bundle.experiment().plan.get("sweep"):
            return _experiment_evidence(bundle, path, side)
        records = list(read_journal(path) if bundle is None else bundle.records())
        if not records:
            raise UsageError(f"{path} holds no records.")
        return runs_evidence(records, str(path))


def _experiment_evidence(bundle: Bundle, path: Path, side: str | None) -> ExperimentEvidence:
    head = bundle.experiment()
    names = [one.name for one in head.sides]
    base = side or names[0]
    if base not in names:
        raise UsageError(f"{path} has no side {base}; it has {', '.join(names)}.")
    other = next((name for name in names if name != base), None)
    if other is None:
        raise UsageError(f"{path} has no other side than {base}, so that it is no experiment.")
    return experiment_evidence(head, list(bundle.records()), base, other)
