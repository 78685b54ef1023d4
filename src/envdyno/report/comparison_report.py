"""Several runs as one table: batch sizes, or two workloads side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envdyno.agent.measure.quantile import median
from envdyno.record.counted import counted
from envdyno.record.run_record import RunRecord
from envdyno.report.columns import aligned


def batch_lines(records: Sequence[RunRecord]) -> list[str]:
    """Return a table of batch sizes, the best marked; runs without a figure say why."""
    rates = [record.throughput.transitions_per_s if record.throughput else None for record in records]
    best = max((rate for rate in rates if rate is not None), default=None)
    rows = [("envs", "transitions/s", "of best", "transitions/CPU-s", "")]
    for record, rate in zip(records, rates, strict=True):
        if rate is None or record.throughput is None or best is None:
            rows.append((f"{record.case.num_envs:,}", "-", "-", "-", record.status.value))
            continue
        cpu = record.throughput.transitions_per_cpu_s
        rows.append(
            (
                f"{record.case.num_envs:,}",
                f"{rate:,.0f}",
                f"{100 * rate / best:.0f} %" if best else "-",
                "-" if cpu is None else f"{cpu:,.0f}",
                "best" if rate == best and best else "",
            )
        )
    return aligned(rows, right=(0, 1, 2, 3))


def suite_lines(records: Sequence[RunRecord], refused: Mapping[str, str]) -> list[str]:
    """Return a table of many workloads, and below it those that could not run, with the reason."""
    rows = [("case", "envs", "transitions/s", "transitions/CPU-s", "step", "resets/step", "")]
    for record in records:
        found, case = record.throughput, record.case
        if record.phases is not None:
            continue
        if found is None:
            rows.append((case.workload, f"{case.num_envs:,}", "-", "-", "-", "-", record.status.value))
            continue
        cpu, resets = found.transitions_per_cpu_s, found.resets_per_step
        steps_per_s = found.vector_steps_per_s / len(record.workers)
        rows.append(
            (
                case.workload,
                f"{case.num_envs:,}",
                f"{found.transitions_per_s:,.0f}",
                "-" if cpu is None else f"{cpu:,.0f}",
                f"{1e3 / steps_per_s:.2f} ms" if steps_per_s else "-",
                "-" if resets is None else f"{resets:.2f}",
                "",
            )
        )
    lines = aligned(rows, right=(1, 2, 3, 4, 5))
    if refused:
        lines += ["", "Could not run:"]
        lines += [f"  {name}: {reason}" for name, reason in refused.items()]
    return lines


def comparison_lines(
    names: tuple[str, str], runs: tuple[Sequence[RunRecord], Sequence[RunRecord]]
) -> list[str]:
    """Return a table of two workloads and the median of the paired ratios; no verdict is given."""
    rows = [("", "transitions/s", "[min, max]", "transitions/CPU-s", "n")]
    figures = []
    for name, records in zip(names, runs, strict=True):
        rates = [record.throughput.transitions_per_s for record in records if record.throughput]
        cpu = [
            record.throughput.transitions_per_cpu_s
            for record in records
            if record.throughput and record.throughput.transitions_per_cpu_s
        ]
        figures.append(
            [record.throughput.transitions_per_s if record.throughput else None for record in records]
        )
        rows.append(
            (
                name,
                f"{median(rates):,.0f}" if rates else "-",
                f"[{min(rates):,.0f}, {max(rates):,.0f}]" if rates else "",
                f"{median(cpu):,.0f}" if cpu else "-",
                f"{len(rates)} of {len(records)}",
            )
        )
    lines = aligned(rows, right=(1, 2, 3, 4))
    pairs = [b / a for a, b in zip(*figures, strict=False) if a is not None and b is not None and a > 0]
    if not pairs:
        return [*lines, "", "No ratio: there is no pair with a figure on both sides."]
    note = f"median and range of {counted(len(pairs), 'pair')}"
    spread = f" [{min(pairs):.3f}, {max(pairs):.3f}]"
    return [*lines, "", f"{names[1]} over {names[0]}: {median(pairs):.3f}{spread}, {note}"]
