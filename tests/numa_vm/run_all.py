"""Checks placement on real kernels: boots every topology, runs the checks inside, prints a line for each.

    python tests/numa_vm/run_all.py                    all
    python tests/numa_vm/run_all.py -t two -t cxl      two topologies
    python tests/numa_vm/run_all.py -k cpuset          checks whose title has this text
    python tests/numa_vm/run_all.py --list             titles, nothing is run

The last line is like "37 passed, 0 failed, 0 skipped". Exit status: 0 if nothing failed, else 1. Where the
rig cannot be had, one line says why and all checks count as skipped.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE), str(REPOSITORY / "src")]

import checks  # noqa: E402
import guest  # noqa: E402
import packages  # noqa: E402
from results import Result, Verdict  # noqa: E402
from runner import Runner, Settings  # noqa: E402
from topologies import BY_NAME  # noqa: E402

_BUILD = HERE / "build"
_OLDEST_PYTHON = (3, 10)
_TRIAL_S = 60.0


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
        return _summarise(_run(selected, options))
    except packages.UnavailableError as reason:
        print(f"No guests on this machine: {reason}.")
        return _summarise([Result(check.title, Verdict.SKIPPED, 0.0) for check in selected])
    except KeyboardInterrupt:
        print("Interrupted; the guests are switched off.", file=sys.stderr)
        return 130


def _run(selected: Sequence[checks.Check], options: argparse.Namespace) -> list[Result]:
    packages.require_platform()
    python = _guest_python(options.python)
    with _one_run_at_a_time():
        installation = guest.prepare(_BUILD, REPOSITORY)
        _compile(python, options.envdyno_python)
        environment = {
            "PYTHONPATH": str(REPOSITORY / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ENVDYNO_PYTHON": options.envdyno_python,
        }
        settings = Settings(python, environment, _BUILD / "jobs", options.jobs, options.boot_limit)
        return Runner(installation, settings).run(selected)


@contextlib.contextmanager
def _one_run_at_a_time() -> Iterator[None]:
    """Two runs would share build and job folders: wait for the other."""
    try:
        _BUILD.mkdir(exist_ok=True)
        lock = (_BUILD / "lock").open("w")
    except OSError as error:
        raise packages.UnavailableError(f"{_BUILD} cannot be written: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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


def _compile(python: str, envdyno_python: str) -> None:
    """Leave byte code beside the sources: compiling takes an emulated guest longer than running."""
    folders = [str(REPOSITORY / "src"), str(HERE / "checks"), str(HERE / "machine")]
    subprocess.run([python, "-m", "compileall", "-q", *folders], stdout=subprocess.DEVNULL, check=False)
    # Packages are compiled when they are first used, so use here what is used there.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        trial = [envdyno_python, "-m", "envdyno", "run", "synthetic", "-n", "2", "--duration", "0.1s"]
        subprocess.run(trial, capture_output=True, timeout=_TRIAL_S, check=False)


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


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check placement on real kernels with several memory nodes.")
    add = parser.add_argument
    add(
        "-t",
        "--topology",
        action="append",
        default=[],
        choices=sorted(BY_NAME),
        help="only this (repeatable)",
    )
    add("-k", "--keyword", action="append", default=[], help="only titles that have this text (repeatable)")
    add("-j", "--jobs", type=int, default=2, help="guests at a time (default 2)")
    add("--list", action="store_true", help="print the titles and stop")
    add("--python", help="interpreter for the checks in the guests (default: the system's)")
    venv = REPOSITORY / ".venv" / "bin" / "python"
    add("--envdyno-python", default=str(venv), help="interpreter with envdyno's packages (default: .venv's)")
    add("--boot-limit", type=float, default=guest.Limits.boot_s, help="seconds until a boot is started anew")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
