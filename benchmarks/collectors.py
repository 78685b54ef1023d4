"""Memory of the largest reference case, and what a collector adds to a vector step.

The case ``sac/g1_motion_tracking/mujoco`` with 8192 environments and a replay buffer of 64 steps has to fit
in 6 GB. Each case is built and stepped in a process of its own, whose peak memory the kernel tells
(``ru_maxrss``, getrusage(2)). Times of the collector's phases are medians of single steps, in ms.

Run: ``python benchmarks/collectors.py``. Exits with 1 if the largest case needs more.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
from statistics import median

import numpy as np

from envdyno.agent.measure import phases
from envdyno.agent.workloads.contract import BuildContext
from envdyno.suite.collectors.cases import build_collector
from envdyno.suite.collectors.collector import FLASHSAC, SAC

BOUND_BYTES = 6e9
NUM_ENVS = 8192
STEPS = 8
ALGORITHMS = {"sac": SAC, "flashsac": FLASHSAC}
NAMES = ("action_select", "env_step", "replay", "bookkeeping")


def measure(algorithm: str, task: str, policy: str, num_envs: int, threads: int) -> dict[str, float]:
    """Step one case in this process; return ms of each phase and the peak memory in bytes."""
    context = BuildContext(0, 1, (), threads, attribution=True)
    collector = build_collector(
        ALGORITHMS[algorithm],
        task,
        "mujoco",
        num_envs=num_envs,
        seed=0,
        threads=context.threads,
        policy=policy,
    )
    generator = np.random.default_rng(0)
    actions = generator.uniform(-1, 1, (num_envs, collector.replay.size.action)).astype(np.float32)
    phases.enable()
    reads = [phases.totals()]
    for _ in range(STEPS):
        collector.step(actions)
        reads.append(phases.totals())
    phases.disable()
    times = [{total.path: total.wall_ns for total in read} for read in reads]
    figures = {
        name: median((b[name] - a[name]) / 1e6 for a, b in itertools.pairwise(times[1:]))
        for name in NAMES
        if name in times[-1]
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    layout = collector.algorithm.layout
    return {**figures, "replay_bytes": collector.replay.size.bytes_needed(layout), "peak_bytes": peak}


def in_a_process(case: list[str]) -> dict[str, float] | str:
    """Run :func:`measure` apart; return its figures, or the last line of what went wrong."""
    done = subprocess.run([sys.executable, __file__, *case], capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> int:
    """Print the table; tell by the exit code whether the bound holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("case", nargs="*", help="algorithm, task, policy and num_envs, for one case")
    given = parser.parse_args()
    if given.case:
        algorithm, task, policy, num_envs = given.case
        print(json.dumps(measure(algorithm, task, policy, int(num_envs), given.threads)))
        return 0
    print(f"{NUM_ENVS} environments, 64 steps of replay, {given.threads} threads; ms a vector step")
    print(f"{'':44s}{'act':>9s}{'env':>9s}{'replay':>9s}{'books':>9s}{'replay GB':>11s}{'peak GB':>9s}")
    fits = True
    for algorithm in ALGORITHMS:
        for policy in ("none", "torch"):
            case = [algorithm, "g1_motion_tracking", policy, str(NUM_ENVS), "--threads", str(given.threads)]
            found = in_a_process(case)
            label = f"  {algorithm}/g1_motion_tracking/mujoco, {policy}"
            if isinstance(found, str):
                print(f"{label:44s} not measured: {found}")
                fits = fits and policy == "torch"
                continue
            times = "".join(f"{found[name]:9.2f}" if name in found else f"{'':9s}" for name in NAMES)
            print(f"{label:44s}{times}{found['replay_bytes'] / 1e9:11.2f}{found['peak_bytes'] / 1e9:9.2f}")
            fits = fits and found["peak_bytes"] <= BOUND_BYTES
    print(f"peak is bound to {BOUND_BYTES / 1e9:.0f} GB")
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
