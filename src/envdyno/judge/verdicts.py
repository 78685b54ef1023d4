"""The five verdicts, which one an experiment gets from its cases, and the exit code that tells it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum

__all__ = ["ExitCode", "Verdict", "exit_code", "overall"]


class Verdict(str, Enum):
    """What a gate says of a case or of an experiment."""

    PASS = "PASS"  # noqa: S105  a verdict, no password
    FAIL = "FAIL"
    UNDECIDED = "UNDECIDED"
    """The runs do not show on which side of the gate the ratio lies."""
    INCOMPARABLE = "INCOMPARABLE"
    """The sides did not do the same thing under the same conditions."""
    NOT_MEASURED = "NOT_MEASURED"
    """There is no figure to judge: a run failed, or the case never ran."""


class ExitCode(IntEnum):
    """Exit codes of ``envdyno``; scripts rely on them."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    UNDECIDED = 3
    INCOMPARABLE = 4
    NOT_MEASURED = 5
    INTERRUPTED = 130


_PRECEDENCE = (Verdict.FAIL, Verdict.NOT_MEASURED, Verdict.INCOMPARABLE, Verdict.UNDECIDED, Verdict.PASS)
"""A regression that was shown stays shown, whatever else went wrong; PASS needs every case."""

_CODES = {
    Verdict.PASS: ExitCode.OK,
    Verdict.FAIL: ExitCode.GATE_FAILED,
    Verdict.UNDECIDED: ExitCode.UNDECIDED,
    Verdict.INCOMPARABLE: ExitCode.INCOMPARABLE,
    Verdict.NOT_MEASURED: ExitCode.NOT_MEASURED,
}


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of an experiment; one without cases has measured nothing, and does not pass."""
    found = set(verdicts)
    return next((verdict for verdict in _PRECEDENCE if verdict in found), Verdict.NOT_MEASURED)


def exit_code(verdict: Verdict) -> ExitCode:
    """The process's exit code for a verdict."""
    return _CODES[verdict]
