"""``--assets DIR``: the folder of meshes and motion clips that a workload's own package does not hold.

It stands for the option ``assets`` of the workload. The path is made absolute, for workers may have another
working folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def assets_option(command: _F) -> _F:
    """Add ``--assets`` to a command."""
    return click.option(
        "--assets",
        type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
        metavar="DIR",
        help="Folder of meshes and motion clips, for workloads that take one; short for -o assets=DIR.",
    )(command)


def with_assets(options: tuple[str, ...], assets: Path | None) -> tuple[str, ...]:
    """Return the ``key=value`` texts of ``-o`` with the folder added."""
    return options if assets is None else (*options, f"assets={json.dumps(str(assets))}")
