"""A distribution that a workload imports, and how old it may be."""

from __future__ import annotations

import re
from typing import NamedTuple


class Requirement(NamedTuple):
    """One distribution."""

    distribution: str
    at_least: str = ""
    """Oldest version whose behaviour is known; empty where any will do."""

    def is_too_old(self, version: str) -> bool:
        """Return whether ``version`` comes before the oldest one that is known."""
        return bool(self.at_least) and _numbers(version) < _numbers(self.at_least)

    def __str__(self) -> str:
        """Return it as pip takes it, quoted for a shell where it has to be."""
        return f"'{self.distribution}>={self.at_least}'" if self.at_least else self.distribution


def pip_install(*requirements: Requirement) -> str:
    """Return the line that installs requirements into the interpreter whose pip is called."""
    return f"pip install {' '.join(map(str, requirements))}"


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version, as PEP 440 orders them, without anything that follows."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    found = [int(part) for part in match[1].split(".")] if match else []
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)
