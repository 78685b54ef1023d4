"""JUnit XML, as GitLab, Jenkins and most CI systems show it.

There is no one schema; this keeps to what https://github.com/testmoapp/junitxml lists as understood
everywhere. A case that failed the gate is a failure; one that could not be judged is an error; an undecided
one is skipped, with its reason, for the exit code of ``envdyno gate`` (3) says what CI is to make of it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import datetime

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name
from envdyno.export.series import place_of
from envdyno.judge.case_verdict import CaseVerdict
from envdyno.judge.verdicts import Verdict
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
ELEMENTS = {
    Verdict.FAIL: "failure",
    Verdict.UNDECIDED: "skipped",
    Verdict.INCOMPARABLE: "error",
    Verdict.NOT_MEASURED: "error",
}
NO_RESULT = frozenset({Verdict.INCOMPARABLE, Verdict.NOT_MEASURED})


def junit_text(material: Material) -> str:
    """Return a suite for each side that was judged, or one for the runs of a sweep and of no experiment."""
    root = ET.Element("testsuites", name="envdyno")
    if not material.judgements:
        suite = _suite(root, "runs", _started(material))
        for record in material.records:
            _add_run(suite, record)
    told = material.head.cannot_run if material.head else {}
    for judgement in material.judgements:
        suite = _suite(root, plain_name(judgement.other), _started(material))
        for case in judgement.report.cases:
            reason = told.get(case.case) or case.message
            _add_case(suite, case, reason, _seconds(material, case.case), is_gated=material.is_gated)
    for suite in root:
        _count(suite)
    _count(root)
    ET.indent(root)
    return DECLARATION + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str, started: str | None) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=f"envdyno.{name}")
    if started is not None:
        suite.set("timestamp", started)
    return suite


def _started(material: Material) -> str | None:
    stamps = [datetime.fromisoformat(record.started_at) for record in material.records]
    return min(stamps).strftime("%Y-%m-%dT%H:%M:%S") if stamps else None


def _seconds(material: Material, case: str) -> float:
    """Return the time that measuring a case took: all stages of all its runs."""
    total = 0.0
    for record in material.records:
        entry = record.experiment
        if entry is not None and entry.case == case and record.workers:
            total += max(sum(worker.stages_s.values()) for worker in record.workers)
    return total


def _add_case(suite: ET.Element, case: CaseVerdict, reason: str, seconds: float, *, is_gated: bool) -> None:
    element = ET.SubElement(
        suite, "testcase", name=plain_name(case.case), classname=suite.get("name", ""), time=f"{seconds:.3f}"
    )
    facts: dict[str, object] = {"min_ratio": case.min_ratio if is_gated else None}
    if case.estimate is not None:
        facts |= {"ratio": case.estimate.ratio, "pairs": case.estimate.n}
        if case.estimate.interval is not None:
            facts |= {"ratio_low": case.estimate.interval.low, "ratio_high": case.estimate.interval.high}
    known = {name: value for name, value in facts.items() if value is not None}
    if known:
        properties = ET.SubElement(element, "properties")
        for name, value in known.items():
            ET.SubElement(properties, "property", name=name, value=str(value))
    outcome = ELEMENTS.get(case.verdict) if is_gated or case.verdict in NO_RESULT else None
    if outcome is not None:
        message = plain_name(reason)
        child = ET.SubElement(element, outcome, message=message, type=case.code.value)
        child.text = f"{case.verdict.value} ({case.code.value}): {message}"
    if case.alarms:
        lines = (f"{alarm.code.value}: {plain_name(alarm.message)}" for alarm in case.alarms)
        ET.SubElement(element, "system-out").text = "\n".join(lines)


def _add_run(suite: ET.Element, record: RunRecord) -> None:
    name, _ = place_of(record)
    seconds = max((sum(worker.stages_s.values()) for worker in record.workers), default=0.0)
    element = ET.SubElement(
        suite, "testcase", name=name, classname=suite.get("name", ""), time=f"{seconds:.3f}"
    )
    if record.throughput is not None:
        properties = ET.SubElement(element, "properties")
        rate = str(record.throughput.transitions_per_s)
        ET.SubElement(properties, "property", name="transitions_per_s", value=rate)
    if record.status is not Status.OK:
        message = record.failure.message if record.failure else f"The run ended as {record.status.value}."
        ET.SubElement(element, "error", message=plain_name(message), type=record.status.value)


def _count(element: ET.Element) -> None:
    element.set("tests", str(len(element.findall(".//testcase"))))
    element.set("failures", str(len(element.findall(".//failure"))))
    element.set("errors", str(len(element.findall(".//error"))))
    element.set("skipped", str(len(element.findall(".//skipped"))))
    times = (float(case.get("time", "0")) for case in element.findall(".//testcase"))
    element.set("time", f"{sum(times):.3f}")
