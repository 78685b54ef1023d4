from __future__ import annotations

import pytest

from envdyno.record.counted import agreeing, counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1024, "1,024 pairs")]
)
def test_a_noun_agrees_with_its_number(number: int, words: str) -> None:
    assert counted(number, "pair") == words


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert counted(1, "case of noise", "cases of noise") == "1 case of noise"
    assert counted(3, "case of noise", "cases of noise") == "3 cases of noise"


@pytest.mark.parametrize(("number", "verb"), [(0, "are"), (1, "is"), (2, "are")])
def test_a_verb_agrees_with_a_number(number: int, verb: str) -> None:
    assert agreeing(number, "is", "are") == verb
