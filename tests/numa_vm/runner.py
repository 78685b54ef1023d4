"""Runs checks: a guest for each topology, a few at a time, a line as each check ends."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import checks
import guest
import results
from results import Result, Verdict
from topologies import BY_NAME, Topology

_PROGRAM = Path(__file__).resolve().parent / "in_guest.py"
# A guest that hangs is started anew once for the checks that are left.
_GUESTS_A_TOPOLOGY = 2
# A check that takes too long is ended inside the guest; only a longer silence is the guest's own.
_GRACE_S = 60.0


@dataclass(frozen=True)
class Settings:
    """How to run."""

    python: str
    """Interpreter for the checks, by its path on the host."""
    environment: Mapping[str, str]
    """Variables for the checks."""
    jobs_folder: Path
    """Holds a job folder for each topology; what is there is replaced."""
    at_a_time: int
    boot_limit_s: float


class Runner:
    """Boots guests and prints results as they come in."""

    def __init__(self, installation: guest.Installation, settings: Settings) -> None:
        self._installation = installation
        self._settings = settings
        self._stop = threading.Event()
        self._printing = threading.Lock()

    def run(self, selected: Sequence[checks.Check]) -> list[Result]:
        """Run these checks; return one result for each."""
        started = time.monotonic()
        by_topology: dict[str, list[checks.Check]] = {}
        for check in selected:
            by_topology.setdefault(check.topology.name, []).append(check)
        longest_first = sorted(by_topology, key=lambda name: -_weight(by_topology[name]))
        with ThreadPoolExecutor(self._settings.at_a_time) as pool:
            try:
                futures = [
                    pool.submit(self._topology, BY_NAME[name], by_topology[name]) for name in longest_first
                ]
                found = [result for future in futures for result in future.result()]
            except BaseException:
                self._stop.set()
                raise
        print(f"{len(by_topology)} topologies, {time.monotonic() - started:.0f} s")
        return found

    def _topology(self, topology: Topology, selected: Sequence[checks.Check]) -> list[Result]:
        found: list[Result] = []
        job = self._settings.jobs_folder / topology.name
        for _ in range(_GUESTS_A_TOPOLOGY):
            if self._stop.is_set():
                return found
            rest = _not_in(selected, found)
            outcome = self._guest(topology, rest, job, found)
            rest = _not_in(rest, found)
            self._show_guest(topology, outcome, rest)
            if not rest or outcome.end not in (guest.End.HUNG, guest.End.CRASHED):
                break
        for check in rest:
            why = f"not run to its end: the guest {outcome.end.value} (status {outcome.status})"
            if check is rest[0]:
                why = "\n".join([why, *_last_words(job)])
            found.append(Result(check.title, Verdict.FAILED, 0.0, why))
            self._show(found[-1])
        return found

    def _guest(
        self, topology: Topology, selected: Sequence[checks.Check], job: Path, found: list[Result]
    ) -> guest.Outcome:
        """Run these checks in one guest, adding to `found` as they end."""
        shutil.rmtree(job, ignore_errors=True)
        job.mkdir(parents=True)
        reader = results.Reader(job / results.FILE)

        def progress() -> bool:
            fresh = reader.new()
            for result in fresh:
                found.append(result)
                self._show(result)
            return bool(fresh)

        report = f"{guest.JOB_INSIDE}/{results.FILE}"
        titles = [check.title for check in selected]
        command = [self._settings.python, str(_PROGRAM), topology.name, report, *titles]
        silence_s = max(check.limit_s for check in selected) + _GRACE_S
        limits = guest.Limits(boot_s=self._settings.boot_limit_s, silence_s=silence_s)
        machine = guest.Guest(topology, self._installation, job, limits)
        return machine.run(command, self._settings.environment, progress, self._stop)

    def _show(self, result: Result) -> None:
        with self._printing:
            print(f"{result.verdict.value:7} {result.title} ({result.seconds:.1f} s)")
            if result.detail:
                print(*(f"          {line}" for line in result.detail.splitlines()), sep="\n")
            sys.stdout.flush()

    def _show_guest(self, topology: Topology, outcome: guest.Outcome, rest: Sequence[checks.Check]) -> None:
        times = f"{outcome.wall_s:.1f} s, of which boot {outcome.boot_s:.1f} s"
        if outcome.boots > 1:
            times += f" (try {outcome.boots})"
        if rest:
            times += f"; the guest {outcome.end.value} at: {rest[0].title}"
        with self._printing:
            print(f"        {topology.name}: {times}", flush=True)


def _weight(selected: Sequence[checks.Check]) -> int:
    """A guess at how long the guest of these checks runs: CPUs make the boot long."""
    return len(selected[0].topology.cpus) + sum(check.limit_s for check in selected) // 10


def _not_in(selected: Sequence[checks.Check], found: Sequence[Result]) -> list[checks.Check]:
    done = {result.title for result in found}
    return [check for check in selected if check.title not in done]


def _last_words(job: Path) -> list[str]:
    """The last lines of everything that a guest wrote."""
    lines = []
    for name in ("output", "console", "qemu"):
        path = job / name
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        lines += [f"{name}: {line}" for line in text.splitlines()[-8:]]
    return lines
