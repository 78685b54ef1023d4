"""SIGINT and SIGTERM as something to wait for, not as an exception at a random line."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

HANDLED = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Interrupts:
    """Signals that have arrived, and a file descriptor that becomes readable when one does."""

    read_fd: int
    arrived: list[int] = field(default_factory=list)
    patience: int = 1
    """How many SIGINTs end what is going on at once; the earlier ones let it finish."""

    @property
    def due(self) -> int | None:
        """The signal that ends what is going on now; ``None`` while there is none."""
        if signal.SIGTERM in self.arrived:
            return signal.SIGTERM
        return self.arrived[-1] if len(self.arrived) >= self.patience else None

    def drain(self) -> None:
        """Empty the pipe; the signals stay in ``arrived``."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.read_fd, 64):
                pass


@contextlib.contextmanager
def watch_interrupts() -> Iterator[Interrupts]:
    """Collect SIGINT and SIGTERM while the body runs; put the former handlers back afterwards.

    Outside the main thread Python delivers no signals; then nothing is ever collected.
    """
    read_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    os.set_blocking(write_fd, False)
    interrupts = Interrupts(read_fd)

    def handle(number: int, _frame: object) -> None:
        interrupts.arrived.append(number)
        with contextlib.suppress(BlockingIOError):
            os.write(write_fd, b"!")

    former = {}
    if threading.current_thread() is threading.main_thread():
        former = {number: signal.signal(number, handle) for number in HANDLED}
    try:
        yield interrupts
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        os.close(read_fd)
        os.close(write_fd)
