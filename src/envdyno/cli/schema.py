"""``envdyno schema``."""

from __future__ import annotations

import sys

import click


@click.command()
def schema() -> None:
    """Print the JSON Schema (draft 2020-12) that every run record satisfies."""
    from envdyno.record.schema import run_schema_text

    sys.stdout.buffer.write(run_schema_text().encode())
