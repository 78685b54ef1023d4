"""``envdyno report``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="BUNDLE|RECORDS")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page, one file.")
@click.option("--md", is_flag=True, help="Write Markdown for a comment or a step summary.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where Markdown goes.  [default: stdout]"
)
@click.option("--append", is_flag=True, help="Add to --out, as $GITHUB_STEP_SUMMARY wants it.")
def report(source: Path, html: Path | None, out: Path | None, *, md: bool, append: bool) -> int:
    r"""Write a bundle, a packed bundle or a file of records, as a page or as Markdown.

    \b
      envdyno report BUNDLE --html report.html
      envdyno report BUNDLE --md --out comment.md
      envdyno report BUNDLE --md --append --out "$GITHUB_STEP_SUMMARY"

    The page needs the extra envdyno[report]; Markdown does not.
    """
    with refusing():
        from envdyno.cli.report_verbs import report_source

        return report_source(source, html=html, wants_markdown=md, out=out, append=append)
