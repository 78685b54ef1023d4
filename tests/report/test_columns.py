from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.report.columns import aligned

cells = st.text(alphabet="abc1×", min_size=1, max_size=6)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=5)
)


def test_columns_stand_under_each_other() -> None:
    assert aligned([("name", "n"), ("a", "12"), ("long name", "3")], right=(1,)) == [
        "name        n",
        "a          12",
        "long name   3",
    ]


@settings(max_examples=40)
@given(tables, st.sets(st.integers(0, 3)), st.integers(1, 3))
def test_every_cell_is_at_its_place_and_no_line_ends_in_blanks(
    rows: list[list[str]], right: set[int], gap: int
) -> None:
    lines = aligned(rows, tuple(right), gap)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row, line in zip(rows, lines, strict=True):
        assert line == line.rstrip()
        begin = 0
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            place = line[begin : begin + width].ljust(width)
            assert place == (cell.rjust(width) if column in right else cell.ljust(width))
            begin += width + gap


def test_empty_cells_keep_the_others_in_place() -> None:
    assert aligned([("a", "", "c"), ("", "bb", "")]) == ["a      c", "   bb"]


@given(st.lists(st.tuples(cells, st.text("ab ", min_size=1, max_size=90)), min_size=1), st.integers(40, 80))
def test_the_last_column_is_folded_under_itself_and_loses_no_word(
    rows: list[tuple[str, str]], width: int
) -> None:
    lines = aligned(rows, width=width)
    indent = max(len(name) for name, _ in rows) + 2
    assert " ".join(line[indent:] for line in lines).split() == " ".join(text for _, text in rows).split()
    longest_word = max((len(word) for _, text in rows for word in text.split()), default=0)
    assert max(map(len, lines)) <= max(width, indent + longest_word)


def test_a_column_with_hardly_any_room_is_not_folded() -> None:
    assert aligned([("a" * 70, "one two three four five six")], width=80) == [
        "a" * 70 + "  one two three four five six"
    ]
