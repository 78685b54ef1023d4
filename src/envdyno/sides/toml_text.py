"""Reading TOML, with the standard library where it has a reader."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

TomlError = tomllib.TOMLDecodeError
"""Raised for text that is not TOML; the message names line and column."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML document.

    Raises:
        TomlError: the text is not TOML.
    """
    tables: dict[str, Any] = tomllib.loads(text)
    return tables
