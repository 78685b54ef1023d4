"""The live lines of a run, on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from envdyno.agent.stages import Stage
from envdyno.record.counted import counted
from envdyno.report.glyphs import glyphs_for
from envdyno.report.verdict_table import rate_text

REFRESH_S = 0.5
"""Often enough to be alive, and rare enough to stay far below one per cent of a core."""
GAP = "   "
INDENT = "  "
MAX_NOTES = 6
"""Of the lines below: what is live has to leave room for what was told."""


class ProgressLine:
    """Shows what the slowest worker is doing, for how long, and how fast all workers step just now.

    Silent when the output is no terminal.
    """

    def __init__(self, console: Console, window_s: float | None, *, shown: bool = True) -> None:
        """Show on ``console``; ``window_s`` is the length of the window, where there is one."""
        self._wanted = shown
        self._console = console
        self._window_s = window_s
        self._title = ""
        self._notes: tuple[str, ...] = ()
        self._stages: dict[int, Stage] = {}
        self._rates: dict[int, float] = {}
        self._since = time.monotonic()
        self._shown = 0.0
        self._live: Live | None = None

    def __enter__(self) -> ProgressLine:  # noqa: PYI034 (typing.Self needs Python 3.11)
        """Begin to show."""
        if self._wanted and self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the lines."""
        if self._live is not None:
            self._live.update(Text(""))
            self._live.stop()

    @property
    def follows_rate(self) -> bool:
        """Whether anybody sees how fast the workers step."""
        return self._live is not None

    def begin(self, title: str, notes: Sequence[str] = ()) -> None:
        """Begin another run; ``notes`` are shown below, a line each."""
        self._title = title
        self._notes = tuple(notes)
        self._stages = {}
        self._rates = {}
        self._since = time.monotonic()

    def stage(self, worker: int, stage: Stage) -> None:
        """A worker entered a stage."""
        order = list(Stage)
        before = self._slowest(order)
        self._stages[worker] = stage
        if self._slowest(order) is not before:
            self._since = time.monotonic()
            self._shown = 0.0

    def rate(self, worker: int, rows_per_s: float) -> None:
        """A worker steps so many rows a second just now."""
        self._rates[worker] = rows_per_s

    def tick(self) -> None:
        """Show the lines again if it is time to."""
        now = time.monotonic()
        if self._live is None or now - self._shown < REFRESH_S:
            return
        self._shown = now
        text = "\n".join(self._lines(now, self._console.width))
        self._live.update(Text(text, no_wrap=True, overflow="crop"), refresh=True)

    def _slowest(self, order: list[Stage]) -> Stage | None:
        return min(self._stages.values(), key=order.index, default=None)

    def _lines(self, now: float, width: int) -> list[str]:
        """Return the lines, none wider than the terminal, in characters that it has."""
        glyphs = glyphs_for(self._console.encoding)
        notes = [INDENT + note for note in self._notes[:MAX_NOTES]]
        left = len(self._notes) - len(notes)
        more = [f"{INDENT}and {left} more"] if left > 0 else []
        parts = [self._title, *self._doing(now)]
        return [glyphs.fit(line)[:width] for line in (*_packed(parts, width), *notes, *more)]

    def _doing(self, now: float) -> list[str]:
        stage = self._slowest(list(Stage))
        name = "start" if stage is None else stage.value.replace("_", " ")
        elapsed = f"{name} {now - self._since:5.1f} s"
        if stage is Stage.WINDOW and self._window_s is not None:
            elapsed += f" of {self._window_s:g} s"
        count = len(self._stages)
        parts = [elapsed, counted(count, "worker")]
        if stage is Stage.WINDOW and count and len(self._rates) == count:
            # Rows that were stepped: which of them were resets is known after the window.
            parts.append(f"~{rate_text(sum(self._rates.values()))} rows/s")
        return parts


def _packed(parts: Sequence[str], width: int) -> list[str]:
    """Return the parts in one line, or in as many as they need; those after the first are indented."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(GAP) + len(part) <= width:
            lines[-1] += GAP + part
        else:
            lines.append(INDENT + part)
    return lines
