"""``envdyno export``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing

FORMATS = ("csv", "jsonl", "go", "bencher", "github-action", "pyperf", "junit", "prometheus")


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="BUNDLE|RECORDS")
@click.option("-f", "--format", "name", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write.  [default: stdout]"
)
@click.option("--side", metavar="NAME", help="The runs of this side only.")
def export(source: Path, name: str, out: Path | None, side: str | None) -> int:
    r"""Write the figures of a bundle, a packed bundle or a file of records, in the format of another tool.

    \b
      csv            a table, one line a run and one a worker
      jsonl          the records themselves, one JSON object a line
      go             Go benchmark text, for benchstat
      bencher        Bencher Metric Format
      github-action  github-action-benchmark, customBiggerIsBetter
      pyperf         pyperf JSON, times of a vector step
      junit          JUnit XML, a test case a case
      prometheus     Prometheus text, for a textfile collector

    Cases without a figure are left out and named on stderr. A gate is judged, and the exit code stays 0:
    envdyno gate tells the verdict.
    """
    with refusing():
        from envdyno.cli.export_verbs import export_source

        return export_source(source, name, out, side)
