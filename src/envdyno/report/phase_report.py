"""Where a vector step's time goes, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envdyno.record.run_record import RunRecord
from envdyno.report.columns import aligned

BAR_CELLS = 20
TIMED = "timed"


def phase_lines(record: RunRecord) -> list[str]:
    """Return the tree of phases of an attribution run, remainder and observer effect included."""
    tree = record.phases
    if tree is None:
        return []
    cores = f", {tree['equivalent_cores']:.2f} cores" if tree.get("equivalent_cores") is not None else ""
    lines = [f"vector step {tree['step_ms']:.3f} ms{cores}   (attribution run: phases on)"]
    if not tree["phases"]:
        return [*lines, "  not instrumented: nothing in this workload is named as a phase"]
    rows = list(_rows(tree["phases"], depth=1))
    rows.append(_remainder_row(tree["remainder"], depth=1))
    lines += [row.rstrip() for row in aligned(rows, right=(1, 2, 3, 4))]
    lines += _observer(record)
    if tree.get("misnested"):
        lines.append(f"  ! {tree['misnested']} phases ended out of turn; their times are bounds.")
    return lines


def _rows(nodes: Sequence[Mapping[str, Any]], depth: int) -> Iterator[tuple[str, ...]]:
    for node in nodes:
        name = "  " * depth + node["name"]
        if node["status"] == TIMED:
            yield (
                name,
                f"{node['ms_per_step']:.3f} ms",
                f"{100 * node['share']:.1f} %",
                _calls(node["calls_per_step"]),
                _cores(node["equivalent_cores"]),
                bar(node["share"]),
            )
        else:
            yield (name, node["status"], "", "", "", "")
        yield from _rows(node["children"], depth + 1)
        if node["children"] and node["remainder"] is not None:
            yield _remainder_row(node["remainder"], depth + 1)


def _remainder_row(remainder: Mapping[str, Any], depth: int) -> tuple[str, ...]:
    name = "  " * depth + "remainder"
    share = remainder["share"]
    return (name, f"{remainder['ms_per_step']:.3f} ms", f"{100 * share:.1f} %", "", "", bar(share))


def _calls(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} calls"


def _cores(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} cores"


def bar(share: float) -> str:
    """Return a share as a bar of ``#``, the whole being :data:`BAR_CELLS` long."""
    return "#" * round(max(0.0, min(1.0, share)) * BAR_CELLS)


def _observer(record: RunRecord) -> list[str]:
    effect = record.observer_effect
    if effect is None:
        return []
    return [
        f"  observer effect: {effect['throughput_step_ms']:.3f} → {effect['attribution_step_ms']:.3f} ms "
        f"a vector step ({100 * effect['relative']:+.1f} %) against the throughput run"
    ]
