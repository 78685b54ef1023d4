"""Go benchmark text, held to the rules by which benchstat reads it, and read by Go's own parser."""

from __future__ import annotations

import json
import os
import shutil
import string
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS, experiment, failing, sweep
from made_records import made_run

from envdyno.experiment.material import Material
from envdyno.export.go_benchmark import go_benchmark_text

MAX_LINE_BYTES = 64 * 1024
"""bufio.MaxScanTokenSize: a longer line ends the reading of the file."""
GO_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
GO_SPACES += "\u2028\u2029\u202f\u205f\u3000"
"""What Go's unicode.IsSpace has: the White_Space property."""
DEBIAN_GO_PATH = Path("/usr/share/gocode")
PARSER = "golang.org/x/tools/benchmark/parse"
PROGRAM = """package main

import (
	"encoding/json"
	"os"

	"golang.org/x/tools/benchmark/parse"
)

func main() {
	set, err := parse.ParseSet(os.Stdin)
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(set)
}
"""

names = st.one_of(
    st.sampled_from(
        [
            "x/side=other",
            "/side=head",
            "side=",
            "envs=1/gomaxprocs=7",
            "case-12",
            "case-12/",
            "terrain=flat/task=walk",
            "a\u3000b\x85c\u2028d",
            "line\nBenchmarkFake 1 1 ns/op",
            "line\nUnit ns/op better=higher",
            "\nkey: value",
            "%2Fside=head",
            "x" * 100_000,
            "é" * 70_000,
        ]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20),
    st.text(st.sampled_from("/=-%, \t\n09sideenvs"), min_size=1, max_size=20),
)


@dataclass
class GoFile:
    """What benchstat sees in a file."""

    results: list[dict[str, object]] = field(default_factory=list)
    units: dict[str, dict[str, str]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


def go_fields(line: str) -> list[str]:
    """Split at what Go takes for white space, which is not all that Python does."""
    for space in GO_SPACES:
        line = line.replace(space, " ")
    return [part for part in line.split(" ") if part]


def read_as_benchstat_does(text: str) -> GoFile:
    """Read by the rules of golang.org/x/perf/benchfmt; what is an error to it is one here."""
    found, config = GoFile(), {}
    for line in text.encode().split(b"\n"):
        assert len(line) < MAX_LINE_BYTES
        one = line.decode()
        key, colon, value = one.partition(":")
        if one.startswith("Benchmark"):
            name, steps, *values = go_fields(one.removeprefix("Benchmark"))
            assert int(steps) > 0
            assert len(values) % 2 == 0
            measured = dict(zip(values[1::2], map(float, values[::2]), strict=True))
            assert len(measured) == len(values) // 2 > 0
            found.results.append({"name": name, "measured": measured, **config})
        elif go_fields(one)[:1] == ["Unit"]:
            _, unit, *facts = go_fields(one)
            for name, equals, fact in (part.partition("=") for part in facts):
                assert name
                assert equals
                assert found.units.setdefault(unit, {}).setdefault(name, fact) == fact
        elif colon and key[:1].islower() and not any(c.isupper() or c in GO_SPACES for c in key):
            assert value[:1] in (" ", "\t")
            config[key] = value.lstrip(" \t")
        elif one:
            found.ignored.append(one)
    return found


def parts_of(name: str) -> dict[str, str]:
    """Take a name apart: the first part of a key counts, and all parts of a key that is grouped by go."""
    bare, dash, cpus = name.rpartition("-")
    assert dash
    assert set(cpus) <= set(string.digits)
    assert cpus
    keys = [part.partition("=") for part in bare.split("/")[1:]]
    ours = [(key, value) for key, equals, value in keys if equals and key in ("side", "envs", "gomaxprocs")]
    assert len(ours) == len(dict(ours))
    return {**dict(ours), "gomaxprocs": cpus}


def named(case: str, side: str = "head") -> Material:
    """An experiment whose case and side have such names."""
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.01e4, 7.02e4])}, sides=("base", side))
    return made.material()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_benchstat_has_a_result_for_every_run_that_counts(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    found = read_as_benchstat_does(go_benchmark_text(material))
    measured = [one for one in material.records if one.throughput and one.case.timing == "throughput"]
    assert len(found.results) == len(measured)
    for result, record in zip(
        sorted(found.results, key=lambda one: one["measured"]["transitions/s"]),
        sorted(measured, key=lambda one: one.throughput.transitions_per_s),
        strict=True,
    ):
        assert result["measured"]["transitions/s"] == record.throughput.transitions_per_s
        assert {"goos", "goarch", "cpu", "toolchain"} <= result.keys()
    assert all(line.startswith("# no figure: ") for line in found.ignored)


def test_benchstat_is_told_which_units_are_better_when_larger_and_measures_none_that_it_is_not() -> None:
    found = read_as_benchstat_does(go_benchmark_text(failing().material()))
    units = {unit for result in found.results for unit in result["measured"]}
    # Smaller is better is what benchstat takes for granted; ns/op it turns into sec/op by itself.
    assert {unit for unit in units if found.units.get(unit, {}).get("better") != "higher"} == {"ns/op"}
    assert found.units.keys() <= units
    # A part of a unit that is "ns" or "MB" in full is scaled; "transitions" must not be taken for that.
    tokens = [token for unit in found.units for token in unit.replace("/", "-").split("-")]
    assert not {"ns", "MB", "B", "bytes"} & set(tokens)


@given(case=names, side=names.filter(lambda name: name != "base"))
@settings(max_examples=30)
def test_benchstat_groups_by_our_side_and_batch_size_whatever_the_names(case: str, side: str) -> None:
    found = read_as_benchstat_does(go_benchmark_text(named(case, side)))
    assert len(found.results) == 6
    parts = [parts_of(str(result["name"])) for result in found.results]
    assert [part["envs"] for part in parts] == ["8192"] * 6
    assert [part["gomaxprocs"] for part in parts] == ["96"] * 6
    assert len({part["side"] for part in parts}) == 2
    assert sum(part["side"] == "base" for part in parts) == 3
    # Without its side, which benchstat takes out to compare, a line of one side is a line of the other.
    rows = {
        str(result["name"]).replace(f"/side={part['side']}/", "/")
        for result, part in zip(found.results, parts, strict=True)
    }
    assert len(rows) == 1
    assert not found.ignored


@given(first=names, second=names)
@settings(max_examples=30)
def test_cases_that_read_differently_have_rows_of_their_own(first: str, second: str) -> None:
    made = [made_run(1e5, workload=first), made_run(2e5, workload=second)]
    results = read_as_benchstat_does(go_benchmark_text(Material("runs", tuple(made)))).results
    shown = {one.case.workload.replace("\t", " ") for one in made}
    if all(name.isprintable() for name in shown):
        assert len({result["name"] for result in results}) == len(shown)


def test_keys_of_a_case_are_keys_that_benchstat_can_group_by() -> None:
    text = go_benchmark_text(named("walk/terrain=flat"))
    assert "BenchmarkStep/walk/terrain=flat/side=base/envs=8192-96\t" in text


def test_a_figure_that_is_missing_is_told_in_a_line_that_benchstat_passes_over() -> None:
    found = read_as_benchstat_does(go_benchmark_text(sweep().material()))
    assert len(found.results) == 5
    assert len(found.ignored) == 1


@pytest.fixture(scope="module")
def go_parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program around the parser of Go's tools, built once."""
    go = shutil.which("go")
    if go is None or not (DEBIAN_GO_PATH / "src" / PARSER).is_dir():
        pytest.skip("Go, or its parser of benchmarks, is not installed: golang-go, golang-golang-x-tools-dev")
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(PROGRAM)
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": str(DEBIAN_GO_PATH),
        "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "",
        "CGO_ENABLED": "0",
    }
    subprocess.run([go, "build", "-o", "reader", "main.go"], cwd=folder, env=environment, check=True)
    return folder / "reader"


def read_by_go(parser: Path, text: str) -> dict[str, list[dict[str, object]]]:
    done = subprocess.run([parser], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_parser_of_the_go_tools_reads_every_line(scenario: str, go_parser: Path) -> None:
    text = go_benchmark_text(SCENARIOS[scenario]().material())
    lines = [line for line in text.splitlines() if line.startswith("Benchmark")]
    found = [one for series in read_by_go(go_parser, text).values() for one in series]
    assert sorted(str(one["Name"]) for one in found) == sorted(line.split("\t")[0] for line in lines)
    times = {line.split("\t")[0]: [] for line in lines}
    for line in lines:
        times[line.split("\t")[0]].append((int(line.split("\t")[1]), float(line.split("\t")[2].split()[0])))
    for name, values in times.items():
        assert sorted((one["N"], one["NsPerOp"]) for one in found if one["Name"] == name) == sorted(values)


@given(case=names, side=names.filter(lambda name: name != "base"))
@settings(max_examples=15)
def test_the_parser_of_the_go_tools_reads_six_runs_whatever_the_names(
    case: str, side: str, go_parser: Path
) -> None:
    found = read_by_go(go_parser, go_benchmark_text(named(case, side)))
    assert [len(series) for series in found.values()] == [3, 3]
    assert all(one["NsPerOp"] > 0 for series in found.values() for one in series)
