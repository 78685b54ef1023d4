"""Frozen records to plain JSON types and back, by their annotations.

Placements, topologies and outcomes travel over a pipe between two processes of one version; nothing is
pickled.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import Self

_T = TypeVar("_T")


class Wire:
    """Gives a frozen dataclass ``to_json`` and ``from_json``."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """This record as dictionaries, lists, strings, numbers and None."""
        return typing.cast("dict[str, Any]", encode(self))

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The record that ``to_json`` wrote.

        Raises:
            ValueError: When a field is missing or has another type.
        """
        return decode(cls, data)


def encode(value: Any) -> Any:
    """``value`` as plain JSON types; mappings get string keys."""
    if isinstance(value, Enum):
        return value.value
    names = _field_names(type(value))
    if names is not None:
        return {name: encode(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(encode(key)): encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    return value


def decode(kind: type[_T], data: Any) -> _T:
    """The value of type ``kind`` that :func:`encode` turned into ``data``.

    Raises:
        ValueError: When the data does not have the shape of the type.
    """
    return typing.cast("_T", _decode(kind, data))


def _field_names(kind: type) -> tuple[str, ...] | None:
    """Names of the fields of a dataclass or a named tuple; None for any other type."""
    fields = getattr(kind, "__dataclass_fields__", None) or getattr(kind, "_fields", None)
    return None if fields is None else tuple(fields)


def _decode(kind: Any, data: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin is not None:
        return _decode_generic(origin, typing.get_args(kind), data)
    if kind is Any or kind is None or kind is type(None):
        return data
    if issubclass(kind, Enum):
        return kind(data)
    names = _field_names(kind)
    if names is not None:
        return _decode_record(kind, names, data)
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if kind is int and isinstance(data, bool):
        raise ValueError(f"A number was expected, but there is {data!r}.")
    return _expect(data, kind, kind.__name__)


def _expect(data: Any, kinds: Any, name: str) -> Any:
    """``data``, or ValueError (bad data from outside, not a programming error) when it is of no such kind."""
    if isinstance(data, kinds):
        return data
    raise ValueError(f"A {name} was expected, but there is {data!r}.")


def _decode_record(kind: Any, names: tuple[str, ...], data: Any) -> Any:
    _expect(data, Mapping, kind.__name__)
    hints = typing.get_type_hints(kind)
    missing = [name for name in names if name not in data]
    if missing:
        raise ValueError(f"A {kind.__name__} lacks the field {missing[0]!r}.")
    return kind(**{name: _decode(hints[name], data[name]) for name in names})


def _decode_generic(origin: Any, arguments: tuple[Any, ...], data: Any) -> Any:
    if origin is Union or origin is types.UnionType:
        return None if data is None else _decode(_only_member(arguments), data)
    if origin is tuple:
        _expect(data, (list, tuple), "list")
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_decode(arguments[0], item) for item in data)
        if len(data) != len(arguments):
            raise ValueError(f"A list of {len(arguments)} was expected, but there is {data!r}.")
        return tuple(_decode(kind, item) for kind, item in zip(arguments, data, strict=True))
    _expect(data, Mapping, "mapping")
    key_kind, value_kind = arguments
    convert = int if key_kind is int else str
    return {convert(key): _decode(value_kind, item) for key, item in data.items()}


def _only_member(arguments: tuple[Any, ...]) -> Any:
    """The one type besides None in a union; records have no others."""
    members = [member for member in arguments if member is not type(None)]
    if len(members) != 1:
        raise ValueError(f"A union of {arguments} cannot be read back.")
    return members[0]
