"""Messages between the control and a worker: JSON, one object a line, over two private pipes.

Both halves import this module. Every message bears the protocol's version and a ``type``; a message that
is no strict JSON object of that version ends the conversation with :class:`ProtocolError`.
"""

from __future__ import annotations

import json
import math
import os
import select
from enum import Enum
from typing import Any, NoReturn

VERSION = 1
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""A longer line is a broken peer, not a message."""


class ToWorker(str, Enum):
    """Messages that the control sends."""

    RUN = "run"
    """The job: workload, batch share, seed, actions, warm-up."""
    DESCRIBE_DONE = "describe_done"
    """Close without measuring."""
    WINDOW = "window"
    """Measure between two instants of the monotonic clock. ``pulse`` says whether somebody watches."""
    LATENCY = "latency"
    """Measure a number of vector steps."""
    STOP = "stop"
    """Every worker has passed the end of the window."""


class FromWorker(str, Enum):
    """Messages that a worker sends."""

    PLACED = "placed"
    """Placement was applied, before anything but the standard library was imported."""
    STAGE = "stage"
    """A stage began."""
    CAPACITY = "capacity"
    """Memory is too small for what the workload says it will need; nothing has been built yet."""
    READY = "ready"
    """Built and warmed up; stepping without pause until told what to measure."""
    PULSE = "pulse"
    """How fast this worker steps just now; only where it was asked for."""
    PASSED = "passed"
    """This worker's clock has passed the end of the window. ``late`` says that the order to measure came
    after the window's start, because a vector step took unusually long, so that nothing was measured."""
    MEASURED = "measured"
    """What was completed inside the window."""
    CLOSED = "closed"
    """The workload is closed; the process is about to end."""
    FAILED = "failed"
    """A stage failed; carries the first cause."""


class ProtocolError(Exception):
    """The peer said something that is no message of this protocol."""


class PeerGone(Exception):
    """The peer closed its end. ``torn`` tells whether it did so in the middle of a message."""

    def __init__(self, *, torn: bool) -> None:
        """Remember whether bytes of an unfinished message had arrived."""
        super().__init__("the pipe ended in the middle of a message" if torn else "the pipe ended")
        self.torn = torn


def finite(value: Any) -> Any:
    """Return ``value`` for strict JSON: NaN and infinities become ``None``, array scalars plain numbers."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return finite(value.item())
    return value


def encode(kind: ToWorker | FromWorker, body: dict[str, Any]) -> bytes:
    """Return one message as a line of UTF-8.

    Raises:
        ValueError: the body holds a NaN or an infinity; say ``None`` and a reason instead.
    """
    message = {"v": VERSION, "type": kind.value, **body}
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """Return the message in one line.

    Raises:
        ProtocolError: the line is no strict JSON object, or is one of another version.
    """
    try:
        message = json.loads(line, parse_constant=_refuse, parse_float=_finite_float)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"A message is not JSON ({error}): {line[:200]!r}.") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f"A message is not an object with a type: {line[:200]!r}.")
    if message.get("v") != VERSION:
        raise ProtocolError(
            f"A message has protocol version {message.get('v')!r}; this side speaks version {VERSION}."
        )
    if b"\\ud" in line.lower():
        return {key: _unicode(value) for key, value in message.items()}
    return message


def _refuse(token: str) -> NoReturn:
    raise ValueError(f"{token} is not JSON")


def _finite_float(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


def _unicode(value: Any) -> Any:
    """Return ``value`` with halves of surrogate pairs written out: nothing could encode them again."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_unicode(key): _unicode(item) for key, item in value.items()}
    return [_unicode(item) for item in value] if isinstance(value, list) else value


class LineBuffer:
    """Turns chunks of bytes into whole lines."""

    def __init__(self) -> None:
        """Begin empty."""
        self._pending = b""

    @property
    def torn(self) -> bool:
        """Whether an unfinished line has arrived."""
        return bool(self._pending)

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add a chunk; return the lines that it finished.

        Raises:
            ProtocolError: a line grows past :data:`MAX_MESSAGE_BYTES`.
        """
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        if max(map(len, (*lines, self._pending))) > MAX_MESSAGE_BYTES:
            raise ProtocolError(f"A message is longer than {MAX_MESSAGE_BYTES} bytes.")
        return lines


class Channel:
    """The worker's blocking end of the two pipes."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        """Take over two file descriptors; children of the workload do not inherit them."""
        os.set_inheritable(read_fd, False)
        os.set_inheritable(write_fd, False)
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._buffer = LineBuffer()
        self._lines: list[bytes] = []

    def send(self, kind: FromWorker, /, **body: Any) -> None:
        """Send one message, whole."""
        data = memoryview(encode(kind, body))
        while data:
            data = data[os.write(self._write_fd, data) :]

    def waiting(self) -> bool:
        """Return at once whether a message, or the end of the pipe, is there to be read."""
        return bool(self._lines) or bool(select.select([self._read_fd], [], [], 0)[0])

    def receive(self) -> dict[str, Any]:
        """Wait for one message and return it.

        Raises:
            PeerGone: the control closed the pipe or died.
            ProtocolError: it said something else.
        """
        while not self._lines:
            chunk = os.read(self._read_fd, 1 << 16)
            if not chunk:
                raise PeerGone(torn=self._buffer.torn)
            self._lines.extend(self._buffer.feed(chunk))
        return decode(self._lines.pop(0))
