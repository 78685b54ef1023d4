"""The live progress line of a run, on a terminal only."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from envdyno.agent.stages import Stage

REFRESH_S = 0.5
"""Often enough to be alive, and rare enough to stay far below one per cent of a core."""


class ProgressLine:
    """Shows what the slowest worker is doing, and for how long. Silent when the output is no terminal."""

    def __init__(self, console: Console, window_s: float | None, *, shown: bool = True) -> None:
        """Show on ``console``; ``window_s`` is the length of the window, where there is one."""
        self._wanted = shown
        self._console = console
        self._window_s = window_s
        self._title = ""
        self._stages: dict[int, Stage] = {}
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
        """Remove the line."""
        if self._live is not None:
            self._live.stop()

    def begin(self, title: str) -> None:
        """Begin another run."""
        self._title = title
        self._stages = {}
        self._since = time.monotonic()

    def stage(self, worker: int, stage: Stage) -> None:
        """A worker entered a stage."""
        order = list(Stage)
        before = self._slowest(order)
        self._stages[worker] = stage
        if self._slowest(order) is not before:
            self._since = time.monotonic()
            self._shown = 0.0

    def tick(self) -> None:
        """Show the line again if it is time to."""
        now = time.monotonic()
        if self._live is None or now - self._shown < REFRESH_S:
            return
        self._shown = now
        self._live.update(Text(self._line(now)), refresh=True)

    def _slowest(self, order: list[Stage]) -> Stage | None:
        return min(self._stages.values(), key=order.index, default=None)

    def _line(self, now: float) -> str:
        stage = self._slowest(list(Stage))
        name = "start" if stage is None else stage.value.replace("_", " ")
        elapsed = f"{now - self._since:5.1f} s"
        if stage is Stage.WINDOW and self._window_s is not None:
            elapsed += f" of {self._window_s:g} s"
        count = len(self._stages)
        workers = f"{count} worker{'s' * (count != 1)}"
        return f"{self._title}   {name} {elapsed}   {workers}"
