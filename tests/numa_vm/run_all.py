"""Checks placement on real kernels: boots every topology, runs the checks inside, prints a line for each.

    python tests/numa_vm/run_all.py                    all
    python tests/numa_vm/run_all.py -t two -t cxl      two topologies
    python tests/numa_vm/run_all.py -k seccomp         checks whose title has this word
    python tests/numa_vm/run_all.py --list             titles, nothing is run

The last line is like "37 passed, 0 failed, 0 skipped". Exit status: 0 if nothing failed, else 1. Where the
rig cannot be had, one line says why and all checks count as skipped.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE), str(REPOSITORY / "src")]

import checks  # noqa: E402
import guest  # noqa: E402
import packages  # noqa: E402
import results  # noqa: E402
from results import Result, Verdict  # noqa: E402
from topologies import BY_NAME, Topology  # noqa: E402

_BUILD = HERE / "build"
_OLDEST_PYTHON = (3, 10)


def main(arguments: Sequence[str]) -> int:
    """Run what was asked; return the exit status."""
    options = _parse(arguments)
    selected = _select(checks.load(), options.topology, options.keyword)
    if options.list:
        print(*(check.title for check in selected), sep="\n")
        return 0
    if not selected:
        print("No check matches. --list shows them all.", file=sys.stderr)
        return 2
    try:
        packages.require_platform()
        python = _guest_python(options.python)
        installation = guest.prepare(_BUILD, REPOSITORY)
    except packages.UnavailableError as reason:
        print(f"No guests on this machine: {reason}.")
        return _summarise([Result(check.title, Verdict.SKIPPED, 0.0) for check in selected])
    with _one_run_at_a_time():
        return Run(installation, python, options).all(selected)


class Run:
    """Runs the topologies, a few at a time, and prints as results come in."""

    def __init__(self, installation: guest.Installation, python: str, options: argparse.Namespace) -> None:
        self._installation = installation
        self._python = python
        self._jobs: int = options.jobs
        self._environment = {
            "PYTHONPATH": str(REPOSITORY / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ENVDYNO_PYTHON": options.envdyno_python,
        }
        self._limits = guest.Limits(boot_s=options.boot_limit)
        self._stop = threading.Event()
        self._print = threading.Lock()

    def all(self, selected: Sequence[checks.Check]) -> int:
        """Run these checks; return the exit status."""
        started = time.monotonic()
        # Compiling a module takes an emulated guest longer than running it.
        for source in (HERE, REPOSITORY / "src"):
            compileall.compile_dir(source, quiet=2, maxlevels=10)
        by_topology: dict[str, list[checks.Check]] = {}
        for check in selected:
            by_topology.setdefault(check.topology.name, []).append(check)
        heaviest_first = sorted(
            by_topology, key=lambda name: -len(BY_NAME[name].cpus) - len(by_topology[name])
        )
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                futures = [
                    pool.submit(self._one, BY_NAME[name], by_topology[name]) for name in heaviest_first
                ]
                found = [result for future in futures for result in future.result()]
            except BaseException:
                self._stop.set()
                raise
        print(f"{len(by_topology)} topologies, {time.monotonic() - started:.0f} s")
        return _summarise(found)

    def _one(self, topology: Topology, selected: Sequence[checks.Check]) -> list[Result]:
        job = _BUILD / "jobs" / topology.name
        shutil.rmtree(job, ignore_errors=True)
        job.mkdir(parents=True)
        reader = results.Reader(job / results.FILE)
        found: list[Result] = []

        def collect() -> None:
            for result in reader.new():
                found.append(result)
                self._show(result)

        titles = [check.title for check in selected]
        report = f"{guest.JOB_INSIDE}/{results.FILE}"
        command = [self._python, str(HERE / "in_guest.py"), topology.name, report, *titles]
        machine = guest.Guest(topology, self._installation, job, self._limits)
        outcome = machine.run(command, self._environment, collect, self._stop)
        for title in titles[len(found) :]:
            found.append(Result(title, Verdict.FAILED, 0.0, _why_missing(outcome, job)))
            self._show(found[-1])
        with self._print:
            boots = "" if outcome.boots == 1 else f", boot {outcome.boots} of {self._limits.boots}"
            times = f"{outcome.wall_s:.1f} s, of which boot {outcome.boot_s:.1f} s{boots}"
            print(f"        {topology.name}: {times}", flush=True)
        return found

    def _show(self, result: Result) -> None:
        with self._print:
            print(f"{result.verdict.value:7} {result.title} ({result.seconds:.1f} s)")
            if result.detail:
                print(*(f"          {line}" for line in result.detail.splitlines()), sep="\n")
            sys.stdout.flush()


@contextlib.contextmanager
def _one_run_at_a_time() -> Iterator[None]:
    """Two runs would share job folders: wait for the other."""
    with (_BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _why_missing(outcome: guest.Outcome, job: Path) -> str:
    tails = []
    for name in ("output", "console", "qemu"):
        path = job / name
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        tails += [f"{name}: {line}" for line in text.splitlines()[-8:]]
    return "\n".join([f"not run to its end: the guest {outcome.end.value} (status {outcome.status})", *tails])


def _summarise(found: Sequence[Result]) -> int:
    count = {verdict: sum(result.verdict is verdict for result in found) for verdict in Verdict}
    print(", ".join(f"{count[verdict]} {verdict.value}" for verdict in Verdict))
    return int(count[Verdict.FAILED] > 0)


def _select(
    every: Sequence[checks.Check], topologies: Sequence[str], keywords: Sequence[str]
) -> list[checks.Check]:
    return [
        check
        for check in every
        if (not topologies or check.topology.name in topologies)
        and all(keyword.lower() in check.title.lower() for keyword in keywords)
    ]


def _guest_python(asked: str | None) -> str:
    """The interpreter for the checks: the system's, which starts fastest over the shared file system."""
    if asked:
        return asked
    candidates = ["/usr/bin/python3", os.path.realpath(sys.executable)]
    for candidate in candidates:
        if _is_new_enough(candidate):
            return candidate
    found = " and ".join(candidates)
    raise packages.UnavailableError(f"the guests need Python 3.10 or newer, and {found} are older")


def _is_new_enough(python: str) -> bool:
    probe = f"import sys; sys.exit(sys.version_info < {_OLDEST_PYTHON})"
    try:
        return subprocess.run([python, "-c", probe], check=False).returncode == 0
    except OSError:
        return False


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check placement on real kernels with several memory nodes.")
    add = parser.add_argument
    add(
        "-t",
        "--topology",
        action="append",
        default=[],
        choices=sorted(BY_NAME),
        help="only this one (repeatable)",
    )
    add(
        "-k",
        "--keyword",
        action="append",
        default=[],
        help="only checks whose title has this text (repeatable)",
    )
    add("-j", "--jobs", type=int, default=2, help="guests at a time (default 2)")
    add("--list", action="store_true", help="print the titles and stop")
    add("--python", help="interpreter for the checks in the guests (default: the system's)")
    venv = REPOSITORY / ".venv" / "bin" / "python"
    add(
        "--envdyno-python",
        default=str(venv),
        help="interpreter that has envdyno's packages (default: .venv's)",
    )
    add("--boot-limit", type=float, default=guest.Limits.boot_s, help="seconds until a boot is started anew")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
