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
