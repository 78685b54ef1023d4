"""What ``envdyno report`` does: read, judge, make the page or the Markdown, write it."""

from __future__ import annotations

from pathlib import Path

from envdyno.cli.exit_code import ExitCode
from envdyno.cli.text_output import append_text, write_text
from envdyno.experiment.material import opened
from envdyno.plan.usage_error import UsageError
from envdyno.report.html.page import html_page
from envdyno.report.markdown import markdown_text


def report_source(
    source: Path, *, html: Path | None, wants_markdown: bool, out: Path | None, append: bool
) -> int:
    """Write what was asked for; return the exit code, which is no verdict.

    Raises:
        UsageError: neither or nothing was asked for, or it cannot be written.
    """
    if html is None and not wants_markdown:
        raise UsageError("Say what to write: --html FILE for a page, or --md for Markdown.")
    if append and (out is None or not wants_markdown):
        raise UsageError("--append adds Markdown to a file; name it with --md --out FILE.")
    with opened(source) as material:
        if html is not None:
            write_text(html_page(material), html)
        if wants_markdown:
            text = markdown_text(material)
            if append and out is not None:
                append_text(text, out)
            else:
                write_text(text, out)
    return ExitCode.DONE
