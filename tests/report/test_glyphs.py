from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.report.glyphs import ASCII, UNICODE, glyphs_for

ENCODINGS = ["ascii", "cp1252", "latin-1", "utf-8", "cp437", "utf-16", "iso8859-5"]
RICH = "±5.0 % – 2 → 3 × … done"


@settings(max_examples=40)
@given(st.sampled_from(ENCODINGS), st.text(max_size=30))
def test_whatever_is_fitted_can_be_written(encoding: str, line: str) -> None:
    fitted = glyphs_for(encoding).fit(line)
    fitted.encode(encoding)
    assert glyphs_for(encoding).fit(fitted) == fitted


def test_a_terminal_that_has_them_gets_the_proper_characters() -> None:
    assert glyphs_for("utf-8").fit(RICH) == RICH


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_others_get_readable_stand_ins(encoding: str) -> None:
    assert glyphs_for(encoding).fit(RICH) == "+/-5.0 % - 2 -> 3 x ... done"


def test_a_letter_that_the_encoding_has_is_kept_and_another_is_written_out() -> None:
    assert glyphs_for("cp1252").fit("é 机") == r"é \u673a"
    assert glyphs_for("ascii").fit("é 机") == r"\xe9 \u673a"


@pytest.mark.parametrize("encoding", [None, "no-such-encoding", ""])
def test_a_terminal_that_does_not_say_its_encoding_gets_ascii(encoding: str | None) -> None:
    glyphs_for(encoding).fit(RICH).encode("ascii")


def test_commands_for_the_terminal_are_taken_out() -> None:
    assert UNICODE.fit("\x1b[31mred\x1b[0m") == "red"
    assert ASCII.fit("bell\x07") == r"bell\x07"
