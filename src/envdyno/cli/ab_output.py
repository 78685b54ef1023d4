"""Where the output of an experiment goes: text to stderr, records to stdout."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from envdyno.cli.console import stderr_console
from envdyno.record.run_record import RunRecord
from envdyno.report.glyphs import Glyphs, glyphs_for

USUAL_WIDTH = 100
"""Of text that does not go to a terminal."""


@dataclass
class AbOutput:
    """Writes lines for a person, and records for a program."""

    quiet: bool
    """No progress and no line for each run; the result only."""
    as_json: bool
    console: Console = field(default_factory=stderr_console)

    @property
    def width(self) -> int:
        """Characters in a line."""
        if self.console.is_terminal or os.environ.get("COLUMNS", "").isdigit():
            return self.console.width
        return USUAL_WIDTH

    @property
    def _glyphs(self) -> Glyphs:
        return glyphs_for(self.console.encoding)

    def tell(self, text: str) -> None:
        """Write one line or more; what makes a figure doubtful stands out on a terminal."""
        style = "bold yellow" if text.lstrip().startswith("! ") else ""
        for line in text.split("\n"):
            self.console.print(Text(self._glyphs.fit(line), style=style))

    def tell_progress(self, text: str) -> None:
        """Write a line that is left out when quiet."""
        if not self.quiet:
            self.tell(text)

    def keep(self, record: RunRecord) -> None:
        """Write a record to stdout, where that is asked for.

        A reader that goes away ends its own reading, not the experiment: the bundle has every record.
        """
        if not self.as_json:
            return
        try:
            sys.stdout.buffer.write(record.to_line().encode() + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self.as_json = False
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.tell("! Nobody reads the records on stdout any more; they go on in the bundle.")
