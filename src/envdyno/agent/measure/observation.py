"""Looking at observations outside the timed span: a hash of them, and rows that are not finite."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any


def named_arrays(observation: Any, name: str = "obs") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of an observation with their dotted names, mappings in the order of their keys."""
    if observation is None:
        return
    if isinstance(observation, Mapping):
        for key in sorted(observation, key=str):
            yield from named_arrays(observation[key], f"{name}.{key}")
    elif isinstance(observation, (tuple, list)) and any(hasattr(part, "shape") for part in observation):
        for index, part in enumerate(observation):
            yield from named_arrays(part, f"{name}.{index}")
    else:
        yield name, observation


def _host_array(array: Any) -> Any:
    """Return ``array`` in host memory, as a NumPy array where the workload brought NumPy along."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    numpy = sys.modules.get("numpy")
    return array if numpy is None else numpy.asarray(array, order="C")


def observation_hash(observation: Any) -> str | None:
    """Return a SHA-256 over names, dtypes, shapes and bytes of the arrays; ``None`` for no observation.

    Equal hashes mean equal bits. Unequal hashes may differ by rounding alone.
    """
    digest = hashlib.sha256()
    found = False
    for name, array in named_arrays(observation):
        host = _host_array(array)
        found = True
        label = f"{name}:{getattr(host, 'dtype', type(host).__name__)}:{getattr(host, 'shape', '')};"
        digest.update(label.encode())
        digest.update(_content(host))
    return digest.hexdigest() if found else None


def _content(host: Any) -> bytes:
    """Return what an array holds; for Python objects how they are written, for their bytes are addresses."""
    if getattr(getattr(host, "dtype", None), "hasobject", False):
        return repr(host.tolist()).encode()
    content: bytes = host.tobytes() if hasattr(host, "tobytes") else repr(host).encode()
    return content


def nonfinite_rows(observation: Any) -> int | None:
    """Return how many rows hold a NaN or an infinity in any array.

    A row is the same in all arrays of one length; rows of arrays of other lengths are others.
    ``None`` where there is no observation or no NumPy to look at it with.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    bad: dict[int, Any] = {}
    for _name, array in named_arrays(observation):
        host = _host_array(array)
        if host.dtype.kind != "f" or host.ndim == 0:
            continue
        rows = ~numpy.isfinite(host).all(axis=tuple(range(1, host.ndim)))
        bad[len(rows)] = rows | bad.get(len(rows), False)
    return sum(int(rows.sum()) for rows in bad.values()) if bad else None
