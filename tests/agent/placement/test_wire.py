from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import pytest

from envdyno.agent.placement.wire import Wire, decode, encode


class Colour(str, Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float


@dataclass(frozen=True)
class Drawing(Wire):
    name: str | None
    colour: Colour
    points: tuple[Point, ...]
    pair: tuple[int, str]
    sizes: dict[int, float]
    labels: dict[str, str]
    extra: Any = None


DRAWING = Drawing(None, Colour.RED, (Point(1, 2.5),), (3, "three"), {7: 1.0}, {"a": "b"})
PLAIN = {
    "name": None,
    "colour": "red",
    "points": [{"x": 1, "y": 2.5}],
    "pair": [3, "three"],
    "sizes": {"7": 1.0},
    "labels": {"a": "b"},
    "extra": None,
}


def test_a_record_becomes_plain_json_types() -> None:
    assert DRAWING.to_json() == PLAIN
    assert type(encode(Colour.RED)) is str


def test_plain_json_types_become_the_same_record() -> None:
    assert Drawing.from_json(PLAIN) == DRAWING


def test_a_whole_number_is_read_as_a_float_where_one_is_due() -> None:
    assert decode(Point, {"x": 1, "y": 2}) == Point(1, 2.0)


def test_unknown_fields_are_passed_over() -> None:
    assert Drawing.from_json({**PLAIN, "newer": 1}) == DRAWING


@pytest.mark.parametrize(
    "change",
    [
        {"colour": "blue"},
        {"name": 3},
        {"points": 3},
        {"points": [{"x": 1}]},
        {"points": [{"x": True, "y": 1.0}]},
        {"pair": [1]},
        {"sizes": []},
        {"sizes": {"a": 1.0}},
        {"labels": {"a": 1}},
    ],
)
def test_data_of_another_shape_is_a_value_error(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Drawing.from_json({**PLAIN, **change})


@pytest.mark.parametrize("data", [None, [], "x", {}])
def test_what_is_no_record_is_a_value_error(data: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        Drawing.from_json(data)
