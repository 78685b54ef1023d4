"""What an experiment itself adds to a pair of runs, the sides being prepared.

Two sides of a synthetic workload that sleeps are compared by ``envdyno ab`` in a process of its own. From
record to record the time that passes is that of one run and of all that stands between two: the look at the
side's tree, the canary, the start of the workers, the audit, the record on the disk. What belongs to the
workload (import, build, first step, warm-up, window) is taken off; the rest is added by envdyno. Bound: 2 s
a pair.

    python benchmarks/experiment_overhead.py [--pairs N] [--commits]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from envdyno.record.bundle import Bundle
from envdyno.record.run_record import RunRecord

BOUND_S = 2.0
WINDOW_S = 0.5
OF_THE_WORKLOAD = ("import", "build", "first_step", "warmup", "window", "close")
ENVIRONMENT = """\
import time

STEP_MS = {step_ms}


def make(num_envs, seed):
    return lambda actions: time.sleep(STEP_MS / 1e3)
"""


def main() -> None:
    """Run the experiment and print what a pair costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--commits", action="store_true", help="sides are git commits, not options")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = commits(folder / "repository") if asked.commits else options()
        records = measure(folder, sides, asked.pairs)
    report(records, "commits" if asked.commits else "options")


def options() -> list[str]:
    """Two sides that differ in an option."""
    return ["-o", "base:step_ms=1", "-o", "head:step_ms=2", "synthetic"]


def commits(repository: Path) -> list[str]:
    """Two sides that are commits of a small repository."""
    (repository / "src").mkdir(parents=True)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for branch, step_ms in (("base", 1), ("head", 2)):
        (repository / "src" / "sleeper.py").write_text(ENVIRONMENT.format(step_ms=step_ms))
        subprocess.run([*git, "add", "--all"], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", branch], check=True)
        subprocess.run([*git, "branch", branch], check=True)
    parts = (
        ("base", "base"),
        ("base", f"repo:{repository}"),
        ("head", "head"),
        ("head", f"repo:{repository}"),
    )
    return [word for side, part in parts for word in ("--side", f"{side}={part}")] + ["sleeper:make"]


def measure(folder: Path, sides: list[str], pairs: int) -> list[RunRecord]:
    """Run the experiment; return its records in order."""
    short = ["-n", "8", "--numa", "off", "--duration", f"{WINDOW_S}s", "--pairs", str(pairs)]
    plain = ["--disturbed-repeats", "0", "--attribution-pairs", "0", "--quiet", "--out", str(folder / "out")]
    environ = {**os.environ, "ENVDYNO_LOCK_DIR": str(folder)}
    command = [sys.executable, "-m", "envdyno", "ab", *sides, *short, *plain]
    subprocess.run(command, check=True, env=environ, stderr=subprocess.DEVNULL)
    return list(Bundle(folder / "out").records())


def report(records: list[RunRecord], sides: str) -> None:
    """Print the time that is added to a pair, and where it goes."""
    began = [datetime.fromisoformat(record.started_at).timestamp() for record in records]
    periods = [later - earlier for earlier, later in pairwise(began)]
    added = [period - of_the_workload(record) for period, record in zip(periods, records, strict=False)]
    within = [record.overhead_s or 0.0 for record in records]
    pairs = list(zip(added[::2], added[1::2], records[1::2], strict=False))
    waited = [pair for pair in pairs if pair[2].experiment and pair[2].experiment.canary_tries > 1]
    by_pair = [first + second for first, second, record in pairs if (first, second, record) not in waited]
    if not by_pair:
        print("The canary moved in every pair, so each waited for the machine. Try on a quieter machine.")
        return
    typical = statistics.median(by_pair)
    load = f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs"
    print(f"sides are {sides}; {len(by_pair)} pairs; {load}")
    print(f"{len(waited)} more pairs waited for a canary that had moved; their time is that of the machine")
    print(f"added to a pair: median {typical:.2f} s, least {min(by_pair):.2f} s, most {max(by_pair):.2f} s")
    print(f"  a run: start of the workers to their end, less their stages: {statistics.median(within):.2f} s")
    print(f"  a run: everything that is added: {statistics.median(added):.2f} s")
    print(f"bound {BOUND_S:g} s: {typical / BOUND_S:.2f} of it")


def of_the_workload(record: RunRecord) -> float:
    """Return the seconds of a run that belong to the workload, by its slowest worker."""
    return max(sum(worker.stages_s.get(name, 0.0) for name in OF_THE_WORKLOAD) for worker in record.workers)


if __name__ == "__main__":
    main()
