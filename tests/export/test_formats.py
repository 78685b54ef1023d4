"""Every format against golden files, hostile names, and the tool that reads it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS, experiment, failing, one_run, passing
from made_records import made_run

from envdyno.experiment.material import Material
from envdyno.export.formats import FORMATS, of_side
from envdyno.record.printable import printable
from envdyno.record.run_record import RunRecord
from envdyno.record.strict_json import loads

GOLDEN = Path(__file__).parent / "golden"
SUFFIX = {
    "csv": "csv",
    "jsonl": "jsonl",
    "go": "txt",
    "bencher": "json",
    "github-action": "json",
    "pyperf": "json",
    "junit": "xml",
    "prometheus": "prom",
}
hostile_names = st.one_of(
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "line\nBenchmarkFake 1 1 ns/op",
            'quote" } envdyno_fake 1',
            "back\\slash",
            "=cmd|'/c calc'!A0",
            "\u202egnp.exe",
            "\u2028separator\x85next",
            "🤖/مرحبا",
            "\x1b[31mred\x00",
            "]]>&amp;<!--",
            "%s,%d;'--",
            "/side=head",
        ]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20),
)


def hostile(case: str, side: str = "head") -> Material:
    """An experiment whose case and side have such names, and a run of no experiment beside."""
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.01e4, 7.02e4])}, sides=("base", side))
    return made.material()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_text_is_the_golden_one(scenario: str, name: str) -> None:
    """Set ENVDYNO_RENEW_GOLDEN=1 to write the files anew; then read the difference."""
    text = FORMATS[name].text(SCENARIOS[scenario]().material())
    if name == "jsonl":  # whole records: what is read back says more than a golden copy would
        read = [RunRecord.model_validate(loads(line)) for line in text.splitlines()]
        assert read == list(SCENARIOS[scenario]().records)
        return
    path = GOLDEN / (f"{scenario}.csv" if name == "csv" else f"{scenario}.{name}.{SUFFIX[name]}")
    if os.environ.get("ENVDYNO_RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_bytes().decode("utf-8")


@given(case=hostile_names)
@settings(max_examples=25)
def test_csv_keeps_every_run_on_its_own_line_whatever_the_names(case: str) -> None:
    text = FORMATS["csv"].text(hostile(case))
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.count("\n") == len(table) + 1 == 1 + 6 * 3
    assert len({row["case"] for row in table}) == 1
    assert table[0]["case"][:1] not in "=+-@"
    assert all(None not in row and None not in row.values() for row in table)


@given(case=hostile_names)
@settings(max_examples=25)
def test_jsonl_is_ascii_and_one_object_a_line_for_every_way_to_split_lines(case: str) -> None:
    text = FORMATS["jsonl"].text(hostile(case))
    assert text.isascii()
    assert [loads(line)["experiment"]["case"] for line in text.splitlines()] == [case] * 6


@given(case=hostile_names, side=hostile_names.filter(lambda name: name != "base"))
@settings(max_examples=25)
def test_go_text_has_one_well_formed_line_a_run_whatever_the_names(case: str, side: str) -> None:
    text = FORMATS["go"].text(hostile(case, side))
    found = [line for line in text.splitlines() if line.startswith("Benchmark")]
    assert len(found) == 6
    for line in found:
        name, steps, *values = line.split()
        assert re.fullmatch(r"Benchmark[^a-z]?\S*/side=\S+/envs=8192-96", name)
        assert int(steps) > 0
        assert [float(value) > 0 for value in values[::2]] == [True] * 3
        assert values[1::2] == ["ns/op", "transitions/s", "transitions/cpu-s"]
    others = [line for line in text.splitlines() if not line.startswith("Benchmark")]
    assert all(re.match(r"(toolchain|goos|goarch|cpu): \S|Unit ", line) for line in others)


@pytest.mark.parametrize("name", ["bencher", "github-action"])
@given(case=hostile_names)
@settings(max_examples=20)
def test_json_formats_hold_names_on_one_visible_line(name: str, case: str) -> None:
    text = FORMATS[name].text(hostile(case))
    body = loads(text)
    names = list(body) if name == "bencher" else [entry["name"] for entry in body]
    assert len(names) == 3
    assert all(one.isprintable() for one in names)


def test_bencher_has_slugs_as_measures_and_bounds_around_every_value() -> None:
    body = json.loads(FORMATS["bencher"].text(failing().material()))
    for measures in body.values():
        for slug, metric in measures.items():
            assert re.fullmatch(r"[a-z0-9-]+", slug)
            assert metric["lower_value"] <= metric["value"] <= metric["upper_value"]


@given(case=hostile_names)
@settings(max_examples=20)
def test_pyperf_reads_its_json_back(case: str) -> None:
    pyperf = pytest.importorskip("pyperf")
    suite = pyperf.BenchmarkSuite.loads(FORMATS["pyperf"].text(hostile(case)))
    found = suite.get_benchmarks()
    assert [one.get_nvalue() for one in found] == [3, 3]
    assert found[0].median() == pytest.approx(8192 / 1e5, rel=0.01)


def test_pyperf_compares_two_sides_by_the_same_name() -> None:
    pyperf = pytest.importorskip("pyperf")
    material = passing().material()
    names = [
        pyperf.BenchmarkSuite.loads(FORMATS["pyperf"].text(of_side(material, side))).get_benchmark_names()
        for side in ("base", "head")
    ]
    assert names[0] == names[1] == list(material.head.cases)


@given(case=hostile_names, side=hostile_names.filter(lambda name: name != "base"))
@settings(max_examples=25)
def test_junit_is_well_formed_and_keeps_names_as_text(case: str, side: str) -> None:
    root = ET.fromstring(FORMATS["junit"].text(hostile(case, side)).encode())
    (found,) = root.iter("testcase")
    assert found.get("name") == printable(case.replace("\t", " "))
    assert {element.tag for element in root.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "properties",
        "property",
        "failure",
        "error",
        "skipped",
        "system-out",
    }


def test_junit_counts_failures_and_errors() -> None:
    root = ET.fromstring(FORMATS["junit"].text(failing().material()).encode())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "0")
    lost = ET.fromstring(FORMATS["junit"].text(SCENARIOS["missing_case"]().material()).encode())
    assert (lost.get("failures"), lost.get("errors")) == ("0", "1")


@given(case=hostile_names, side=hostile_names.filter(lambda name: name != "base"))
@settings(max_examples=25)
def test_prometheus_has_well_formed_samples_only(case: str, side: str) -> None:
    text = FORMATS["prometheus"].text(hostile(case, side))
    label = r'[a-z]+="(?:[^"\\\n]|\\[\\"n])*"'
    for line in text.split("\n")[:-1]:
        assert re.fullmatch(rf"# (HELP|TYPE) envdyno_\w+ .+|envdyno_\w+(\{{{label}(,{label})*\}})? \S+", line)
        if not line.startswith("#"):
            assert float(line.rpartition(" ")[2]) >= 0
    series = [line.rpartition(" ")[0] for line in text.split("\n") if line and not line.startswith("#")]
    assert len(series) == len(set(series))


@given(case=hostile_names)
@settings(max_examples=15)
def test_the_prometheus_client_reads_labels_back(case: str) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    families = parser.text_string_to_metric_families(FORMATS["prometheus"].text(hostile(case)))
    cases = {sample.labels["case"] for family in families for sample in family.samples if sample.labels}
    assert cases == {printable(case.replace("\t", " "))}


def test_a_run_that_was_interrupted_or_repeated_is_no_figure() -> None:
    text = FORMATS["go"].text(SCENARIOS["interrupted"]().material())
    assert text.count("BenchmarkStep") == 4
    record = made_run(100.0)
    assert FORMATS["go"].text(Material("x", (record,))).count("BenchmarkStep") == 1
    assert "transitions/s" in FORMATS["go"].text(one_run().material())
