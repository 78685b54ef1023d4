"""Runs inside a guest: every check of one topology, each in a forked process, and reports as it goes."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path

import checks
from machine.hotplug import bring_all_cpus_online
from results import Result, Verdict

_PASSED, _FAILED, _SKIPPED = 0, 1, 77


def main(topology: str, report: Path, wanted: list[str]) -> int:
    """Run the checks of this topology whose title is wanted (all, if none is named)."""
    failed = False
    for check in checks.load():
        if check.topology.name != topology or (wanted and check.title not in wanted):
            continue
        result = _run_apart(check)
        with report.open("a") as file:
            file.write(result.to_line())
        if result.verdict is Verdict.FAILED:
            failed = True
            bring_all_cpus_online()
    return int(failed)


def _run_apart(check: checks.Check) -> Result:
    """Run one check in a child, for it may shrink, refuse or fill up what cannot be given back."""
    reading, writing = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(_run_here(check, writing))
    os.close(writing)
    with os.fdopen(reading, "r", errors="replace") as pipe:
        detail = pipe.read()
    _, status = os.waitpid(child, 0)
    _end_group(child)
    seconds = time.monotonic() - started
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        why = f"did not end within {check.limit_s} s" if name == "SIGALRM" else f"was killed by {name}"
        return Result(check.title, Verdict.FAILED, seconds, f"the check {why}\n{detail}".strip())
    verdict = {_PASSED: Verdict.PASSED, _SKIPPED: Verdict.SKIPPED}.get(os.WEXITSTATUS(status), Verdict.FAILED)
    return Result(check.title, verdict, seconds, detail.strip())


def _run_here(check: checks.Check, detail: int) -> int:
    os.setsid()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(check.limit_s)
    try:
        check.run(check.topology)
    except checks.SkippedError as reason:
        os.write(detail, str(reason).encode())
        return _SKIPPED
    except BaseException:
        os.write(detail, traceback.format_exc().encode())
        return _FAILED
    return _PASSED


def _end_group(leader: int) -> None:
    """End what a check left behind: it was made the leader of a group for this."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
