"""What a guest reports for each check, as lines of JSON in its job folder."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "results"


class Verdict(str, enum.Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Result:
    """One check's end."""

    title: str
    verdict: Verdict
    seconds: float
    detail: str = ""
    """Traceback of a failed check, reason of a skipped one."""

    def to_line(self) -> str:
        """Return the result as one line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @staticmethod
    def from_line(line: str) -> Result:
        """Read what `to_line` wrote."""
        fields = json.loads(line)
        return Result(**(fields | {"verdict": Verdict(fields["verdict"])}))


class Reader:
    """Reads results while a guest appends them; a line that is not complete yet is left for later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new(self) -> list[Result]:
        """Return what was appended since the last call."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                complete, newline, _ = file.read().rpartition(b"\n")
        except FileNotFoundError:
            return []
        self._offset += len(complete) + len(newline)
        return [Result.from_line(line) for line in complete.decode().splitlines()]
