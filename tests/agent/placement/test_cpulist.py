from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.placement.cpulist import format_cpulist, format_mask, parse_cpulist, parse_mask
from envdyno.agent.placement.errors import PlacementError

ID_SETS = st.frozensets(st.integers(0, 5000), max_size=60)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", ()),
        ("\n", ()),
        ("0", (0,)),
        ("0-3", (0, 1, 2, 3)),
        ("0-2,4-7", (0, 1, 2, 4, 5, 6, 7)),
        ("0,2,4,6", (0, 2, 4, 6)),
        ("0-7:2", (0, 2, 4, 6)),
        ("0-15:8", (0, 8)),
        ("0-9:2/4", (0, 1, 4, 5, 8, 9)),
        ("1-9:2/4", (1, 2, 5, 6, 9)),
        (",4-5", (4, 5)),
        ("4,,5,", (4, 5)),
        ("0-1 4-5", (0, 1, 4, 5)),
        ("7,1,3-4,4", (1, 3, 4, 7)),
        ("1024-1027", (1024, 1025, 1026, 1027)),
        ("0,8,16,24,1152", (0, 8, 16, 24, 1152)),
    ],
)
def test_lists_as_kernels_and_users_write_them_are_read(text: str, ids: tuple[int, ...]) -> None:
    assert parse_cpulist(text) == ids


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a", "'a'"),
        ("0-x", "'x'"),
        ("-1", "''"),
        ("0-", "''"),
        ("3-1", "backwards"),
        ("0-7:0", "stride"),
        ("0-7:3/2", "stride"),
        ("0-7:", "colon"),
        ("0-7:/4", "''"),
        ("0x3", "'0x3'"),
        ("٣", "٣"),
        ("0-99999999999999999999", "beyond"),
        ("4294967295", "beyond"),
    ],
)
def test_what_is_no_list_is_refused_in_a_sentence_that_quotes_it(text: str, word: str) -> None:
    with pytest.raises(PlacementError) as caught:
        parse_cpulist(text)
    message = str(caught.value)
    assert word in message
    assert repr(text) in message
    assert message.endswith(".")


def test_lists_are_printed_with_joined_ranges() -> None:
    assert format_cpulist([7, 0, 1, 2, 2, 5]) == "0-2,5,7"
    assert format_cpulist([]) == ""


@given(ID_SETS)
def test_a_printed_list_reads_back_as_the_same_set(ids: frozenset[int]) -> None:
    assert parse_cpulist(format_cpulist(ids)) == tuple(sorted(ids))


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 40), st.integers(1, 40))
def test_a_grouped_range_takes_the_first_of_every_group(first: int, length: int, one: int, two: int) -> None:
    used, group = sorted((one, two))
    taken = set(parse_cpulist(f"{first}-{first + length}:{used}/{group}"))
    assert taken == {cpu for cpu in range(first, first + length + 1) if (cpu - first) % group < used}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", ()),
        ("0", ()),
        ("3", (0, 1)),
        ("00000000,0000000f", (0, 1, 2, 3)),
        ("ff,ffc00000,00000000", tuple(range(54, 72))),
        ("1,00000000", (32,)),
    ],
)
def test_masks_as_kernels_print_them_are_read(text: str, ids: tuple[int, ...]) -> None:
    assert parse_mask(text) == ids


@pytest.mark.parametrize("text", ["0x3", "g", "123456789", "1,,2", "-1", "1,"])
def test_what_is_no_mask_is_refused(text: str) -> None:
    with pytest.raises(PlacementError, match="is not a CPU mask"):
        parse_mask(text)


def test_masks_are_padded_to_the_width_asked_for() -> None:
    assert format_mask(range(54, 72), 72) == "ff,ffc00000,00000000"
    assert format_mask([0], 16) == "0001"
    assert format_mask([]) == "0"


@given(ID_SETS, st.none() | st.integers(5001, 8192))
def test_a_printed_mask_reads_back_as_the_same_set(ids: frozenset[int], bits: int | None) -> None:
    assert parse_mask(format_mask(ids, bits)) == tuple(sorted(ids))


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_and_never_breaks(text: str) -> None:
    for parse in (parse_cpulist, parse_mask):
        with contextlib.suppress(PlacementError):
            parse(text)
