from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.record.printable import printable


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain text, 100 % – ×", "plain text, 100 % – ×"),
        ("\ta\tb", "\ta\tb"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Aup", "up"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Btext", "text"),
        ("cut off \x1b", "cut off "),
        ("bell\x07, nul\x00, return\r", r"bell\x07, nul\x00, return\r"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("\x9b31mC1", r"\x9b31mC1"),
        ("half \udcff", r"half \udcff"),
    ],
)
def test_what_commands_a_terminal_is_taken_out_and_what_cannot_be_seen_is_written(
    line: str, shown: str
) -> None:
    assert printable(line) == shown


@settings(max_examples=40)
@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b[]0;m\x07\x00\r")))
def test_nothing_but_visible_characters_and_tabs_is_left(line: str) -> None:
    shown = printable(line)
    assert all(character.isprintable() or character == "\t" for character in shown)
    assert printable(shown) == shown
    shown.encode()
