"""The kernel's two ways to write a set of CPU or node ids: lists (``0-3,8``) and masks (``ff,00000000``).

The grammar is that of the kernel's ``bitmap_parselist`` and of taskset (``Documentation/admin-guide/
cpu-lists.rst``): single ids, ranges, ranges with a stride (``0-31:2``) and grouped ranges (``0-31:2/4``: the
first two of every four).
"""

from __future__ import annotations

from collections.abc import Iterable

from envdyno.agent.placement.errors import PlacementError

MAX_ID = (1 << 20) - 1
"""Beyond any kernel's NR_CPUS; a guard against a typing error that would fill memory."""

_WORD_BITS = 32


def parse_cpulist(text: str) -> tuple[int, ...]:
    """The ids in a list such as ``0-3,8``, ascending and without repeats.

    Empty fields are skipped, for kernels print them (``,4-5``); an empty text is an empty set.

    Raises:
        PlacementError: When a field is not an id or a range.
    """
    ids: set[int] = set()
    for field in text.replace(",", " ").split():
        ids.update(_parse_field(field, text.strip()))
    return tuple(sorted(ids))


def format_cpulist(ids: Iterable[int]) -> str:
    """The ids as the kernel prints them: ascending, ranges joined, ``0-3,8``."""
    fields: list[str] = []
    ordered = sorted(set(ids))
    start = 0
    for index, value in enumerate(ordered):
        if index + 1 < len(ordered) and ordered[index + 1] == value + 1:
            continue
        first = ordered[start]
        fields.append(str(first) if first == value else f"{first}-{value}")
        start = index + 1
    return ",".join(fields)


def parse_mask(text: str) -> tuple[int, ...]:
    """The ids whose bits are set in a mask such as ``ff,ffc00000,00000000`` (words of 32 bits).

    Raises:
        PlacementError: When a word is not hexadecimal or is longer than 32 bits.
    """
    value = 0
    for word in text.strip().split(",") if text.strip() else []:
        digits = word.strip()
        if not digits or len(digits) > _WORD_BITS // 4 or not _is_hexadecimal(digits):
            raise PlacementError(
                f"{text.strip()!r} is not a CPU mask: {digits!r} is not a word of up to 8 hexadecimal digits."
            )
        value = value << _WORD_BITS | int(digits, 16)
    return bits_of(value)


def format_mask(ids: Iterable[int], bits: int | None = None) -> str:
    """The ids as a kernel mask.

    Args:
        ids: The ids whose bits are set.
        bits: Width of the mask, as the kernel pads it; by default no wider than the highest id needs.
    """
    value = 0
    for item in ids:
        value |= 1 << item
    width = max(value.bit_length(), bits or 1)
    words = -(-width // _WORD_BITS)
    top_digits = -(-(width - (words - 1) * _WORD_BITS) // 4) if bits else 1
    fields = [f"{value >> (words - 1) * _WORD_BITS:0{top_digits}x}"]
    fields += [
        f"{value >> index * _WORD_BITS & (1 << _WORD_BITS) - 1:08x}" for index in range(words - 2, -1, -1)
    ]
    return ",".join(fields)


def bits_of(value: int) -> tuple[int, ...]:
    """Positions of the bits that are set, ascending."""
    positions = []
    while value:
        low = value & -value
        positions.append(low.bit_length() - 1)
        value ^= low
    return tuple(positions)


def _parse_field(field: str, text: str) -> range | list[int]:
    """Ids of one field: ``5``, ``0-3``, ``0-31:2`` or ``0-31:2/4``."""
    span, _, step = field.partition(":")
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, text)
    last = _number(last_text, text) if dash else first
    if last < first:
        raise PlacementError(f"{text!r} is not a CPU list: the range {span!r} runs backwards.")
    if not step:
        if field.endswith(":"):
            raise PlacementError(f"{text!r} is not a CPU list: a number must follow the colon in {field!r}.")
        return range(first, last + 1)
    used_text, slash, group_text = step.partition("/")
    used = _number(used_text, text)
    group = _number(group_text, text) if slash else used
    if used < 1 or group < used:
        raise PlacementError(
            f"{text!r} is not a CPU list: in {field!r} the stride must be at least 1, "
            "and of a group at most the whole can be used."
        )
    if not slash:
        return range(first, last + 1, used)
    return [item for item in range(first, last + 1) if (item - first) % group < used]


def _number(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit()):
        raise PlacementError(
            f"{text!r} is not a CPU list: {digits!r} is not a number. Write for example 0-3,8 or 0-31:2."
        )
    value = int(digits) if len(digits) < 20 else MAX_ID + 1
    if value > MAX_ID:
        raise PlacementError(f"{text!r} is not a CPU list: {digits} is beyond the highest id, {MAX_ID}.")
    return value


def _is_hexadecimal(digits: str) -> bool:
    return all(digit in "0123456789abcdefABCDEF" for digit in digits)
