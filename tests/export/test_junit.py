"""JUnit XML as junitparser reads it, and by the rules of the schemas that CI systems check it by."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import junitparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS, experiment

from envdyno.export.junit import junit_text
from envdyno.judge.verdicts import Verdict

texts = st.one_of(
    st.sampled_from(["<b>&amp;]]>", "\x00\x0b\ufffe\uffff", "a\nb\r\nc\td", "🤖 مرحبا \u202e", "\"' >"]),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20),
)
RESULTS = {
    Verdict.FAIL: junitparser.Failure,
    Verdict.UNDECIDED: junitparser.Skipped,
    Verdict.INCOMPARABLE: junitparser.Error,
    Verdict.NOT_MEASURED: junitparser.Error,
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"properties", "skipped", "error", "failure", "system-out"},
    "properties": {"property"},
}
ATTRIBUTES = {
    "testsuites": ({"name", "tests", "failures", "errors", "skipped", "time"}, set()),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"timestamp"}),
    "testcase": ({"name", "classname", "time"}, set()),
    "properties": (set(), set()),
    "property": ({"name", "value"}, set()),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}
"""Required and optional attributes by element."""
FORMS = {
    "time": r"\d+\.\d{3}",
    "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
    **dict.fromkeys(("tests", "failures", "errors", "skipped"), r"\d+"),
}


def read(text: str) -> junitparser.JUnitXml:
    return junitparser.JUnitXml.fromstring(text.encode())


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_junitparser_has_the_verdict_of_every_case(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    (suite,) = read(junit_text(material))
    if material.head is None:
        assert [bool(case.result) for case in suite] == [one.throughput is None for one in material.records]
        return
    (judgement,) = material.judgements
    found = {case.name: case.result for case in suite}
    assert list(found) == list(material.head.cases)
    for case in judgement.report.cases:
        wanted = RESULTS.get(case.verdict)
        assert [type(one) for one in found[case.case]] == ([] if wanted is None else [wanted])
        reason = material.head.cannot_run.get(case.case) or case.message
        assert all(one.message == reason for one in found[case.case])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_counts_are_those_that_junitparser_comes_to_by_itself(scenario: str) -> None:
    found = read(junit_text(SCENARIOS[scenario]().material()))
    for element in (found, *found):
        told = element.tests, element.failures, element.errors, element.skipped, element.time
        element.update_statistics()
        counted = element.tests, element.failures, element.errors, element.skipped, element.time
        assert told[:4] == counted[:4]
        assert told[4] == pytest.approx(counted[4])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_ratios_are_properties_of_their_case(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    for judgement, suite in zip(material.judgements, read(junit_text(material)), strict=False):
        for case, element in zip(judgement.report.cases, suite, strict=True):
            known = {one.name: one.value for one in element.child(junitparser.Properties) or ()}
            assert (case.estimate is None) == ("ratio" not in known)
            if case.estimate is not None:
                assert float(known["ratio"]) == case.estimate.ratio


def test_a_case_that_cannot_run_says_why() -> None:
    (suite,) = read(junit_text(SCENARIOS["missing_case"]().material()))
    (lost,) = (case for case in suite if case.result)
    assert "No module named 'torch'" in lost.result[0].message


@given(case=texts, side=texts.filter(lambda name: name != "base"), why=texts)
@settings(max_examples=40)
def test_the_document_has_what_every_schema_allows_and_no_more(case: str, side: str, why: str) -> None:
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.01e4, 7.02e4])}, sides=("base", side))
    assert made.head is not None
    lost = made._replace(head=made.head.model_copy(update={"cannot_run": {case: why}}), records=())
    for material in (made.material(), lost.material()):
        root = ET.fromstring(junit_text(material).encode())
        assert root.tag == "testsuites"
        for element in root.iter():
            required, optional = ATTRIBUTES[element.tag]
            assert required <= set(element.keys()) <= required | optional
            assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
            assert all(re.fullmatch(FORMS.get(name, ".+"), value) for name, value in element.items())
