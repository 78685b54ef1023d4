"""Where the results of ``envdyno run`` go: tables to stderr, records to stdout and files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from envdyno.cli.console import stderr_console
from envdyno.export.csv_table import CsvTable
from envdyno.plan.usage_error import UsageError
from envdyno.record.journal import Journal
from envdyno.record.run_record import RunRecord
from envdyno.report.glyphs import Glyphs, glyphs_for
from envdyno.report.phase_report import phase_lines
from envdyno.report.run_report import report_lines

RECORDS = "records.jsonl"


@dataclass
class RunOutput:
    """The places that every record is written to, as soon as its run has ended."""

    console: Console
    glyphs: Glyphs
    quiet: bool
    as_json: bool
    keep: Path | None = None
    journals: list[Journal] = field(default_factory=list)
    table: CsvTable | None = None

    @classmethod
    def open(
        cls, *, as_json: bool, jsonl: Path | None, csv_file: Path | None, out: Path | None, quiet: bool
    ) -> RunOutput:
        """Open all places, so that one that cannot be written is found before anything is measured.

        Raises:
            JournalError: a file cannot be written.
            UsageError: the folder cannot be made.
        """
        console = stderr_console()
        output = cls(console, glyphs_for(console.encoding), quiet, as_json)
        if out is not None:
            try:
                (out / "runs").mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(
                    f"The folder {out} cannot be made: {error.strerror}. Choose another --out."
                ) from error
            output.keep = out.resolve()
            output.journals.append(Journal(out / RECORDS))
        if jsonl is not None:
            output.journals.append(Journal(jsonl))
        if csv_file is not None:
            output.table = CsvTable(csv_file)
        return output

    def close(self) -> None:
        """Close all files."""
        for journal in self.journals:
            journal.close()
        if self.table is not None:
            self.table.close()

    def keep_record(self, record: RunRecord) -> None:
        """Write one record to every place that takes records."""
        for journal in self.journals:
            journal.append(record)
        if self.table is not None:
            self.table.append(record)
        if self.as_json:
            sys.stdout.buffer.write(record.to_line().encode() + b"\n")
            sys.stdout.buffer.flush()

    def show_record(self, record: RunRecord) -> None:
        """Show one run to a person. Why a run failed is shown also when quiet."""
        if not self.quiet or record.throughput is None:
            width = self.console.width if self.console.is_terminal else None
            self.show(phase_lines(record) if record.phases is not None else report_lines(record, width))

    def show(self, lines: Sequence[str]) -> None:
        """Write lines for a person; what makes a figure doubtful stands out on a terminal."""
        for line in [*lines, ""]:
            style = "bold yellow" if line.lstrip().startswith("! ") else ""
            style = "bold" if " transitions/s" in line and not style else style
            self.console.print(Text(self.glyphs.fit(line), style=style))
