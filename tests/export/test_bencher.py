"""Bencher Metric Format, by the rules of Bencher's ``json`` adapter (its command is on no package index)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS, experiment
from made_records import made_run

from envdyno.experiment.material import Material
from envdyno.export.bencher import bencher_text
from envdyno.record.strict_json import loads

MAX_NAME_BYTES = 1024
names = st.one_of(
    st.sampled_from(["x" * 5000, "é" * 900, "a_bencher_ignore", "aBencherIgnore", "a-bencher-ignore", " "]),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20),
)


def read_as_bencher_does(text: str) -> dict[str, dict[str, dict[str, float]]]:
    """Names of 1 to 1024 bytes, measures by slug, and metrics of three known numbers; else all is refused."""
    body = loads(text)
    for name, measures in body.items():
        assert 0 < len(name.encode()) <= MAX_NAME_BYTES
        # Bencher does not count a benchmark of such a name when it looks for regressions.
        assert not name.endswith(("_bencher_ignore", "BencherIgnore", "-bencher-ignore"))
        for slug, metric in measures.items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
            assert len(slug) <= 64
            assert {"value"} <= metric.keys() <= {"value", "lower_value", "upper_value"}
            assert all(type(number) in (int, float) for number in metric.values())
            low, high = (metric.get(name, metric["value"]) for name in ("lower_value", "upper_value"))
            assert low <= metric["value"] <= high
    return body


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_bencher_has_the_figures_of_every_case_and_side(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    found = read_as_bencher_does(bencher_text(material))
    for judgement in material.judgements:
        for case in judgement.report.cases:
            if case.estimate is not None:
                ratio = found[f"{case.case} [head over base]"]["ratio"]
                assert ratio["value"] == case.estimate.ratio
                assert found[f"{case.case} [base]"].keys() >= {"throughput", "latency"}


@given(case=names, side=names.filter(lambda name: name != "base"))
@settings(max_examples=30)
def test_bencher_takes_any_names_and_keeps_them_apart(case: str, side: str) -> None:
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.01e4, 7.02e4])}, sides=("base", side))
    assert len(read_as_bencher_does(bencher_text(made.material()))) == 3
    read_as_bencher_does(bencher_text(Material("runs", (made_run(1e5, workload=case),))))


def test_a_name_that_is_cut_is_the_same_in_the_next_export() -> None:
    texts = [bencher_text(Material("runs", (made_run(rate, workload="x" * 3000),))) for rate in (1e5, 2e5)]
    first, second = (list(json.loads(text)) for text in texts)
    assert first == second
