"""All formats by name: what each is for, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from envdyno.experiment.material import Material
from envdyno.export.bencher import bencher_text
from envdyno.export.csv_table import csv_text
from envdyno.export.github_action import github_action_text
from envdyno.export.go_benchmark import go_benchmark_text
from envdyno.export.jsonl import jsonl_text
from envdyno.export.junit import junit_text
from envdyno.export.prometheus import prometheus_text
from envdyno.export.pyperf_json import pyperf_text


class Format(NamedTuple):
    """One format: a pure function from material to text. The text is written as UTF-8."""

    summary: str
    text: Callable[[Material], str]


FORMATS: dict[str, Format] = {
    "csv": Format("a table, one line a run and one a worker", csv_text),
    "jsonl": Format("the records themselves, one JSON object a line", jsonl_text),
    "go": Format("Go benchmark text, for benchstat", go_benchmark_text),
    "bencher": Format("Bencher Metric Format", bencher_text),
    "github-action": Format("github-action-benchmark, customBiggerIsBetter", github_action_text),
    "pyperf": Format("pyperf JSON, times of a vector step", pyperf_text),
    "junit": Format("JUnit XML, a test case a case", junit_text),
    "prometheus": Format("Prometheus text, for a textfile collector", prometheus_text),
}


def of_side(material: Material, side: str) -> Material:
    """Return the records of one side only; a judgement needs two, so that none is left."""
    records = tuple(one for one in material.records if one.experiment and one.experiment.side == side)
    head = material.head
    if head is not None:
        sides = tuple(one for one in head.sides if one.name == side)
        head = head.model_copy(update={"sides": sides})
    return replace(material, records=records, head=head, judgements=())
