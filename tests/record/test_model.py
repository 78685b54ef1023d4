from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import made_run
from pydantic import ValidationError

from envdyno.record.model import Shape
from envdyno.record.run_record import RunRecord
from envdyno.record.status import FailureRecord


class Part(Shape):
    """A part of a record with fields of all kinds."""

    name: str
    lines: tuple[str, ...] = ()
    facts: dict[str, Any] = {}  # noqa: RUF012 (pydantic copies defaults)
    rate: float | None = None
    inner: FailureRecord | None = None


texts = st.text(st.characters(categories=("L", "Cs", "Zs", "So")), max_size=8)


@settings(max_examples=40)
@given(texts, st.lists(texts, max_size=3), st.dictionaries(texts, st.lists(texts, max_size=2), max_size=2))
def test_a_part_with_any_text_can_be_written_as_utf8(
    name: str, lines: list[str], facts: dict[str, list[str]]
) -> None:
    part = Part(name=name, lines=tuple(lines), facts=facts)
    text = part.model_dump_json()
    text.encode()
    assert Part.model_validate_json(text) == part


def test_bytes_that_cannot_be_decoded_are_written_out_and_other_text_is_left_alone() -> None:
    part = Part(name=os.fsdecode(b"scene-\xff.xml"), facts={"unit": "µs", "count": 3}, lines=("×", "é"))
    assert part.name == r"scene-\udcff.xml"
    assert part.facts == {"unit": "µs", "count": 3}
    assert part.lines == ("×", "é")


def test_a_part_within_a_part_is_cared_for_too() -> None:
    part = Part(name="x", inner=FailureRecord(kind="exit", worker=0, stage="build", message="\ud800"))
    assert part.inner is not None
    assert part.inner.message == r"\ud800"


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), "fast"])
def test_a_figure_that_is_none_is_refused(rate: Any) -> None:
    with pytest.raises(ValidationError):
        Part(name="x", rate=rate)


def test_unknown_fields_and_later_changes_are_refused() -> None:
    with pytest.raises(ValidationError):
        Part(name="x", colour="red")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Part(name="x").name = "y"  # type: ignore[misc]


@pytest.mark.parametrize(
    "stamp", ["", "x", "2026-13-01T00:00:00+00:00", "2026-07-01T12:00:00", "../etc/passwd"]
)
def test_a_time_that_is_none_is_refused_when_it_is_read(stamp: str) -> None:
    body = made_run(1e5).to_json()
    with pytest.raises(ValidationError, match="started_at"):
        RunRecord.model_validate({**body, "started_at": stamp})


def test_a_time_elsewhere_than_in_utc_is_refused() -> None:
    body = made_run(1e5).to_json()
    with pytest.raises(ValidationError, match=r"\+00:00"):
        RunRecord.model_validate({**body, "started_at": "2026-07-01T12:00:00+02:00"})
