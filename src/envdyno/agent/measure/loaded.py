"""What a process has loaded: installed distributions and their versions."""

from __future__ import annotations

import importlib.metadata
import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import Any


def loaded_distributions() -> dict[str, str]:
    """Return name and version of every distribution that a loaded top-level module belongs to.

    What an interrupted installation left without a name or a version is passed over. Of two distributions of
    one name the first on the import path counts, as it does for imports.
    """
    loaded = {module for module in list(sys.modules) if "." not in module}
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name, version = _identity(distribution)
        if name and version and name not in found and not loaded.isdisjoint(_modules(distribution)):
            found[name] = version
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _identity(distribution: importlib.metadata.Distribution) -> tuple[str | None, str | None]:
    # Without a metadata file, Python 3.10 to 3.13 give an empty message and later ones None.
    metadata: Any = distribution.metadata or {}
    return metadata.get("Name"), metadata.get("Version")


def _modules(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    """Yield the top-level modules of a distribution, as it declares them or as its files show them."""
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        yield from declared
        return
    record = distribution.read_text("RECORD")
    # The text is read as it is: making a path of each file takes seconds for the largest distributions.
    files = map(str, distribution.files or ()) if record is None else record.splitlines()
    for line in files:
        first, slash, _rest = line.partition(",")[0].partition("/")
        module = first if slash else inspect.getmodulename(first)
        if module:
            yield module


def module_origins(modules: Iterable[str]) -> list[dict[str, Any]]:
    """Return where each of the modules under test was loaded from, with a hash of its sources."""
    names = sorted(set(modules))
    if not names:
        return []
    from envdyno.agent.measure.origin import origins

    return [origin.to_json() for origin in origins(names)]
