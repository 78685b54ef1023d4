"""What ``envdyno show`` does: read, judge, print."""

from __future__ import annotations

import shutil
from pathlib import Path

from envdyno.cli.console import stdout_line
from envdyno.cli.exit_code import ExitCode
from envdyno.experiment.material import Material, opened
from envdyno.report.show_experiment import show_experiment
from envdyno.report.show_runs import show_runs
from envdyno.report.sweep_report import sweep_answer, sweep_answer_lines

WIDTH = 80
"""Where the output is no terminal."""


def show_source(source: Path, width: int | None) -> int:
    """Print; return the exit code, which is no verdict."""
    columns = width or shutil.get_terminal_size((WIDTH, 24)).columns
    with opened(source) as material:
        for line in material_lines(material, columns):
            stdout_line(line)
    return ExitCode.DONE


def material_lines(material: Material, width: int) -> list[str]:
    """Return an experiment, each side against the base, or runs of none."""
    if material.head is None:
        return show_runs(material.records, width)
    answer = sweep_answer(material)
    if answer is not None:
        return sweep_answer_lines(material.head, answer, material.records, width)
    lines: list[str] = []
    for judgement in material.judgements:
        lines += ["", ""] if lines else []
        lines += show_experiment(
            material.head, judgement, material.records, judged=material.is_gated, width=width
        )
    return lines
