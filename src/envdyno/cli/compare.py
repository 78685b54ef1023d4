"""``envdyno compare``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument("earlier", type=click.Path(path_type=Path))
@click.argument("later", type=click.Path(path_type=Path))
@click.option("--side", default=None, help="Side of both bundles that is compared.  [default: the first]")
@click.option(
    "--gate", "min_ratio", type=float, metavar="RATIO", help="Judge later over earlier against a bound."
)
@click.option("--declare", multiple=True, metavar="FIELD", help="An identity field that is meant to differ.")
@click.option("--force", is_flag=True, help="Compare in spite of differing identities; labelled, no verdict.")
def compare(
    earlier: Path,
    later: Path,
    side: str | None,
    min_ratio: float | None,
    declare: tuple[str, ...],
    *,
    force: bool,
) -> int:
    """Compare two bundles, packed or not, files of records, or JSON files of other benchmark tools.

    Reads hyperfine, pyperf, pytest-benchmark and Google Benchmark JSON. Nothing here is paired, and the
    report says so. Absolute figures of different machines are not compared.
    """
    with refusing():
        from envdyno.cli.compare_verbs import compare_files

        return compare_files(earlier, later, side, min_ratio, declare, force)
