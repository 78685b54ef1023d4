"""An array on a device that nothing may wait for: it tells whenever a value is fetched."""

from __future__ import annotations

from typing import Any

import numpy as np


class DeviceArray:
    """Computes as an array on an accelerator does, without handing out values; fetching one is noted.

    Args:
        values: what it holds.
        fetched: gets a line for every value that the host asked for.
    """

    def __init__(self, values: Any, fetched: list[str]) -> None:
        self._values = np.asarray(values)
        self._fetched = fetched

    def _made(self, values: Any) -> DeviceArray:
        return DeviceArray(values, self._fetched)

    def _fetch(self, how: str) -> Any:
        self._fetched.append(how)
        return self._values

    def __len__(self) -> int:
        return len(self._values)

    def __or__(self, other: DeviceArray) -> DeviceArray:
        return self._made(self._values | other._values)

    def __sub__(self, other: int) -> DeviceArray:
        return self._made(self._values - other)

    def __rsub__(self, other: int) -> DeviceArray:
        return self._made(other - self._values)

    def sum(self) -> DeviceArray:
        return self._made(self._values.sum())

    def masked_fill_(self, mask: DeviceArray, value: int) -> DeviceArray:
        self._values[mask._values] = value
        return self

    def fill_(self, value: int) -> DeviceArray:
        self._values[...] = value
        return self

    def __int__(self) -> int:
        return int(self._fetch("int"))

    def __float__(self) -> float:
        return float(self._fetch("float"))

    def __bool__(self) -> bool:
        return bool(self._fetch("bool"))

    def __index__(self) -> int:
        return int(self._fetch("index"))

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._fetch("array")

    def __lt__(self, other: Any) -> bool:
        return bool(self._fetch("comparison") < other)

    def __gt__(self, other: Any) -> bool:
        return bool(self._fetch("comparison") > other)

    def __add__(self, other: Any) -> DeviceArray:
        return self._made(self._values + (other._values if isinstance(other, DeviceArray) else other))
