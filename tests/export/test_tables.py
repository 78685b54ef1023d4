"""CSV and JSON Lines as pandas reads them, and Prometheus text as promtool judges it."""

from __future__ import annotations

import io
import shutil
import subprocess

import pytest
from made_bundles import SCENARIOS

from envdyno.export.csv_table import csv_text
from envdyno.export.jsonl import jsonl_text
from envdyno.export.prometheus import prometheus_text

pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_pandas_reads_numbers_as_numbers_and_absent_figures_as_absent(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    table = pandas.read_csv(io.StringIO(csv_text(material)))
    whole = table[table["worker"] == "all"]
    assert len(whole) == len(material.records)
    assert table["transitions_per_s"].dtype == float
    assert list(whole["transitions_per_s"].isna()) == [one.throughput is None for one in material.records]
    assert pandas.to_datetime(whole["started_at"]).is_monotonic_increasing
    if material.head is not None:
        assert table["final"].dtype == table["disturbed"].dtype == bool
        assert set(whole["case"]) <= set(material.head.cases)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_pandas_reads_a_line_of_json_a_run(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    table = pandas.read_json(io.StringIO(jsonl_text(material)), lines=True)
    assert [*table["run_id"]] == [record.run_id for record in material.records]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_promtool_finds_nothing_to_complain_about(scenario: str) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: it is in Debian's package prometheus")
    text = prometheus_text(SCENARIOS[scenario]().material())
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert (done.returncode, done.stdout) == (0, b"")
