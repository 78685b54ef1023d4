"""Files that hyperfine 1.15, pyperf 2.11, pytest-benchmark 5.3 and Google Benchmark wrote themselves."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.foreign_side import unpaired_side
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.unpaired import compare_unpaired
from envdyno.record.foreign.formats import ForeignFormat, parse_foreign, recognise
from envdyno.record.foreign.google_benchmark import parse_google_benchmark
from envdyno.record.foreign.hyperfine import parse_hyperfine
from envdyno.record.foreign.pyperf import parse_pyperf
from envdyno.record.foreign.pytest_benchmark import parse_pytest_benchmark
from envdyno.record.foreign.series import ForeignFormatError, unix_time

DATA = Path(__file__).parent / "data"
FILES = {
    "hyperfine.json": ForeignFormat.HYPERFINE,
    "pyperf.json": ForeignFormat.PYPERF,
    "pytest_benchmark.json": ForeignFormat.PYTEST_BENCHMARK,
    "google_benchmark.json": ForeignFormat.GOOGLE_BENCHMARK,
}


def load(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", list(FILES))
def test_each_tools_own_file_is_recognised_and_read(name: str) -> None:
    document = load(name)
    assert recognise(document) is FILES[name]
    series = parse_foreign(document)
    assert {s.tool for s in series} == {FILES[name].value}
    assert all(s.rates_per_s or s.why_empty for s in series)


def test_hyperfine_gives_one_rate_a_process() -> None:
    first, second = parse_hyperfine(load("hyperfine.json"))
    times = load("hyperfine.json")["results"][0]["times"]
    assert (first.name, second.name) == ("sleep 0.01", "sleep 0.012")
    assert first.rates_per_s == pytest.approx([1 / t for t in times])
    assert first.unit_of_repetition == "process"


def test_hyperfine_runs_that_failed_have_no_rate_and_are_counted() -> None:
    (series,) = parse_hyperfine(load("hyperfine_failures.json"))
    assert (len(series.rates_per_s), series.failed) == (2, 2)


def test_hyperfine_commands_that_always_fail_say_so() -> None:
    document = load("hyperfine_failures.json")
    document["results"][0]["exit_codes"] = [1, None, 2, 1]
    (series,) = parse_hyperfine(document)
    assert series.rates_per_s == ()
    assert series.why_empty == "All 4 runs of the command failed."


def test_hyperfine_without_single_times_says_what_would_keep_them() -> None:
    document = load("hyperfine.json")
    del document["results"][0]["times"]
    assert "--export-json" in (parse_hyperfine(document)[0].why_empty or "")


def test_pyperf_gives_one_rate_a_process_and_none_for_calibration() -> None:
    document = load("pyperf.json")
    (series,) = parse_pyperf(document)
    processes = [run["values"] for run in document["benchmarks"][0]["runs"] if "values" in run]
    assert len(document["benchmarks"][0]["runs"]) == 4
    assert series.rates_per_s == pytest.approx([1 / fmean(values) for values in processes])
    assert series.name == "timeit"
    assert series.identity["cpu_count"] == 2


@pytest.mark.parametrize("unit", ["byte", "integer"])
def test_a_pyperf_benchmark_of_memory_is_no_speed(unit: str) -> None:
    document = load("pyperf.json")
    document["metadata"]["unit"] = unit
    (series,) = parse_pyperf(document)
    assert series.rates_per_s == ()
    assert f"counts in {unit}s" in (series.why_empty or "")


def test_a_pyperf_file_of_another_version_is_refused() -> None:
    with pytest.raises(ForeignFormatError, match=r"version 1.0 are read, not '2.0'"):
        parse_pyperf({**load("pyperf.json"), "version": "2.0"})


def test_pytest_benchmark_tells_the_machine_the_time_and_a_dirty_tree() -> None:
    (series,) = parse_pytest_benchmark(load("pytest_benchmark.json"))
    assert series.name == "test_x.py::test_sum[10]"
    assert series.identity["cpu_model"] == "AMD EPYC"
    assert series.context["dirty"] is True
    assert series.measured_at_s == pytest.approx(1_777_896_000.5)
    assert len(series.rates_per_s) == 8


def test_pytest_benchmark_without_rounds_says_what_would_keep_them() -> None:
    document = load("pytest_benchmark.json")
    del document["benchmarks"][0]["stats"]["data"]
    assert "--benchmark-save-data" in (parse_pytest_benchmark(document)[0].why_empty or "")


def test_google_benchmark_gives_one_rate_a_repetition_and_none_for_aggregates() -> None:
    good, bad = parse_google_benchmark(load("google_benchmark.json"))
    assert (good.name, len(good.rates_per_s), good.failed) == ("BM_copy/8", 4, 0)
    assert good.rates_per_s[0] == pytest.approx(1e9 / 18.653684846856052)
    assert (bad.rates_per_s, bad.failed, bad.why_empty) == ((), 2, "All 2 repetitions failed: no device.")


def test_google_benchmark_with_aggregates_only_says_so() -> None:
    document = load("google_benchmark.json")
    document["benchmarks"] = [b for b in document["benchmarks"] if b["run_type"] == "aggregate"]
    (series,) = parse_google_benchmark(document)
    assert "aggregates only" in (series.why_empty or "")


@pytest.mark.parametrize(("unit", "seconds"), [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)])
def test_google_benchmark_times_are_read_in_their_unit(unit: str, seconds: float) -> None:
    entry = {"name": "f", "run_type": "iteration", "real_time": 5.0, "time_unit": unit}
    (series,) = parse_google_benchmark({"context": {}, "benchmarks": [entry]})
    assert series.rates_per_s == pytest.approx((1 / (5 * seconds),))


def test_figures_of_two_processors_are_incomparable() -> None:
    ours, theirs = load("pytest_benchmark.json"), load("pytest_benchmark.json")
    theirs["machine_info"]["cpu"]["brand_raw"] = "Another CPU"
    sides = [unpaired_side(parse_foreign(document)[0]) for document in (ours, theirs)]
    outcome = compare_unpaired(*sides).outcome
    assert outcome is not None
    assert outcome.code is ReasonCode.IDENTITY_DIFFERS


def test_two_commands_of_one_file_are_compared_and_labelled_unpaired() -> None:
    slow, slower = (unpaired_side(s) for s in parse_foreign(load("hyperfine.json")))
    found = compare_unpaired(slow, slower, GateRule())
    assert found.ratio == pytest.approx(0.875, abs=0.02)
    assert [alarm.code for alarm in found.alarms] == [ReasonCode.UNPAIRED]


@pytest.mark.parametrize(
    "document",
    [None, [], "text", {}, {"benchmarks": []}, {"something": 1}, {"results": 3}, {"results": [{}]}],
)
def test_a_document_of_no_known_format_is_refused_in_a_sentence(document: Any) -> None:
    with pytest.raises(ForeignFormatError, match=r"\.$"):
        parse_foreign(document)


@pytest.mark.parametrize("time", [0.0, -1.0, float("nan"), float("inf"), "fast", None, True])
def test_a_time_that_is_none_is_refused(time: Any) -> None:
    with pytest.raises(ForeignFormatError, match=r"no time in seconds|positive and finite"):
        parse_hyperfine({"results": [{"command": "x", "times": [time]}]})


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(-5, 5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(FILES)), st.data())
def test_a_damaged_file_is_read_or_refused_and_never_breaks_the_reader(
    name: str, data: st.DataObject
) -> None:
    document = copy.deepcopy(load(name))
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        inner = node[key]
        if isinstance(inner, (dict, list)) and inner and data.draw(st.booleans()):
            node = inner
            continue
        node[key] = data.draw(json_values)
        break
    try:
        for series in parse_foreign(document):
            unpaired_side(series)
    except ForeignFormatError:
        pass


@pytest.mark.parametrize("text", [None, 5, "yesterday", "2026-05-04T12:00:00"])
def test_a_time_without_an_offset_is_no_point_in_time(text: Any) -> None:
    assert unix_time(text) is None


def test_a_time_with_an_offset_is() -> None:
    assert unix_time("1970-01-02T02:00:00+02:00") == unix_time("1970-01-02T00:00:00Z") == 86_400.0
