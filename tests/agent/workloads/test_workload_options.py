from __future__ import annotations

from enum import Enum

import pytest

from envdyno.agent.workloads.options import choice, one_of, refusing_values, truth, whole
from envdyno.agent.workloads.registry import WorkloadError


class Colour(str, Enum):
    RED = "red"
    BLUE = "blue"


def test_values_that_are_offered_pass() -> None:
    assert choice("sims", "colour", "red", Colour) is Colour.RED
    assert one_of("sims", "task", "walk", ("run", "walk")) == "walk"
    assert whole("sims", "threads", 3) == 3
    assert truth("sims", "shared", value=False) is False


@pytest.mark.parametrize("value", ["green", 3, None, ["red"]])
def test_a_choice_that_is_not_offered_is_refused_with_those_that_are(value: object) -> None:
    with pytest.raises(WorkloadError, match=r"sims has no colour=.*; it has: red, blue\."):
        choice("sims", "colour", value, Colour)
    with pytest.raises(WorkloadError, match=r"it has: run, walk\."):
        one_of("sims", "task", value, ("run", "walk"))


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "2", None])
def test_only_whole_numbers_from_the_least_on_are_taken(value: object) -> None:
    with pytest.raises(WorkloadError, match="whole number of at least 1"):
        whole("sims", "threads", value)


@pytest.mark.parametrize("value", [0, 1, "yes", None])
def test_only_true_and_false_are_true_or_false(value: object) -> None:
    with pytest.raises(WorkloadError, match="true or false"):
        truth("sims", "shared", value)


@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError, AttributeError, AssertionError, OSError])
def test_what_a_framework_raises_about_values_is_a_sentence_that_names_them(error: type[Exception]) -> None:
    with (
        pytest.raises(
            WorkloadError, match=r"sims:walk cannot be made with frame_skip='abc': .*odd"
        ) as caught,
        refusing_values("sims:walk", {"frame_skip": "abc", "sim": None}),
    ):
        raise error("odd\nand a signature of two thousand letters")
    assert "signature" not in str(caught.value)
    assert __file__ in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error"), [({}, TypeError), ({"sim": None}, KeyError), ({"a": 1}, MemoryError)]
)
def test_what_is_not_about_values_is_passed_on(options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error), refusing_values("sims:walk", options):
        raise error("odd")


def test_a_refusal_stays_what_it_is() -> None:
    with pytest.raises(WorkloadError, match=r"^as it was$"), refusing_values("sims:walk", {"a": 1}):
        raise WorkloadError("as it was")
