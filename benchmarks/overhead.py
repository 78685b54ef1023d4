"""What envdyno itself costs: prints ratios and bounds, asserts nothing.

    python benchmarks/overhead.py [--pairs N] [--seconds S]

Run it on a quiet machine. Everything that is compared is interleaved in this one run, for absolute times
drift by more than the differences that matter.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WORKLOAD = "go2_joystick_flat/mujoco"

BARE_LOOP = """
import itertools, json, os, sys, time
import numpy as np
from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import BuildContext
from envdyno.suite.cases import go2_joystick_flat_mujoco
num_envs, seconds = int(sys.argv[1]), float(sys.argv[2])
cpus = tuple(sorted(os.sched_getaffinity(0)))
env = go2_joystick_flat_mujoco(num_envs=num_envs, seed=0, context=BuildContext(0, 1, cpus, len(cpus), False))
ring = itertools.cycle(action_ring(env.spec.action, num_envs, ActionSource.RANDOM, 0))
for _ in range(31):
    env.step(next(ring))
steps, began = 0, time.monotonic()
while (elapsed := time.monotonic() - began) < seconds:
    env.step(next(ring))
    steps += 1
print(json.dumps({"transitions_per_s": steps * num_envs / elapsed}))
"""


def run_envdyno(*arguments: str) -> dict[str, Any]:
    """Measure by the command line, and return the record with the time of the whole command."""
    began = time.monotonic()
    command = [sys.executable, "-m", "envdyno", "run", *arguments, "--json", "--quiet"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    record: dict[str, Any] = json.loads(done.stdout)
    record["command_s"] = time.monotonic() - began
    return record


def bare_loop(num_envs: int, seconds: float) -> float:
    """Return the rate of a bare loop over the same environment in a process of its own."""
    command = [sys.executable, "-c", BARE_LOOP, str(num_envs), str(seconds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["transitions_per_s"])


def in_turn(pairs: int, first: Any, second: Any) -> list[tuple[Any, Any]]:
    """Call two functions in turn, AB BA AB ..., and return the pairs of what they returned."""
    results = []
    for index in range(pairs):
        if index % 2 == 0:
            one = first()
            results.append((one, second()))
        else:
            two = second()
            results.append((first(), two))
    return results


def throughput(pairs: int, seconds: float) -> None:
    """Print envdyno's throughput over the bare loop's."""
    ratios, overheads, commands = [], [], []
    for bare, record in in_turn(
        pairs,
        lambda: bare_loop(1024, seconds),
        lambda: run_envdyno(WORKLOAD, "-n", "1024", "--duration", f"{seconds}s"),
    ):
        ratios.append(record["throughput"]["transitions_per_s"] / bare)
        overheads.append(record["overhead_s"])
        stages = max(sum(worker["stages_s"].values()) for worker in record["workers"])
        commands.append(record["command_s"] - stages)
    print(f"throughput by envdyno run over a bare loop   {spread(ratios)}   (bound: >= 0.99)")
    print(f"a run beyond its stages and window           {spread(overheads)} s   (bound: <= 1.5 s)")
    print(f"the whole command beyond stages and window   {spread(commands)} s")


def loop_cost(pairs: int) -> None:
    """Print what the stepping loop adds to a step of a workload that does nothing."""
    empty, logged = [], []
    for bare, record in in_turn(
        pairs,
        empty_step_us,
        lambda: run_envdyno("synthetic", "-o", "step_ms=0", "-n", "1", "--numa", "off", "--duration", "2s"),
    ):
        steps_per_s = record["throughput"]["vector_steps_per_s"]
        empty.append(bare)
        logged.append(1e6 / steps_per_s)
    costs = [whole - bare for whole, bare in zip(logged, empty, strict=True)]
    print(f"cost of the stepping loop, us a vector step  {spread(costs)}   (bound: <= 1 us)")


def empty_step_us() -> float:
    """Return the cost of an empty call of a step in a bare loop, in us."""

    class Idle:
        def step(self, actions: object) -> None:
            pass

    step = Idle().step
    steps = 1_000_000
    began = time.perf_counter()
    for actions in itertools.repeat(None, steps):
        step(actions)
    return (time.perf_counter() - began) / steps * 1e6


def help_time(pairs: int) -> None:
    """Print the time of ``envdyno --help`` over that of ``pyperf --help``."""

    def timed(*command: str) -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    folder = Path(sys.executable).parent
    ratios = [
        own / other
        for own, other in in_turn(
            4 * pairs,
            lambda: timed(str(folder / "envdyno"), "--help"),
            lambda: timed(str(folder / "pyperf"), "--help"),
        )
    ]
    print(f"envdyno --help over pyperf --help            {spread(ratios)}   (bound: <= 1)")


def start_skew(pairs: int) -> None:
    """Print the start skew of two workers, each with a CPU of its own where there are two."""
    wanted = ["synthetic", "-o", "step_ms=0.2", "-o", "wait=spin", "-n", "2", "--workers-per-node", "2"]
    skews = [
        run_envdyno(*wanted, "--duration", "1s")["throughput"]["start_skew_s"] * 1e3 for _ in range(2 * pairs)
    ]
    print(f"start skew of two workers, ms                {spread(skews)}   (bound: <= 2 ms)")


def control_load() -> None:
    """Print what the control uses while the window is open."""
    record = run_envdyno("synthetic", "-n", "8", "--duration", "5s")
    cores = record["machine"]["control_cores"]
    print(f"control's CPU use in a window, cores         {cores:.4f}   (bound: <= 0.01)")


def spread(values: list[float]) -> str:
    """Return median and range as text."""
    return f"{statistics.median(values):8.3f} [{min(values):.3f}, {max(values):.3f}]"


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0)
    wanted = parser.parse_args()
    from envdyno.agent.placement.request import Request
    from envdyno.host.load import sample_load
    from envdyno.host.site import survey

    busy = sample_load().busy_cores(survey(Request()).chosen_cpus)
    print(f"load before: {busy:.2f} cores busy with other work")
    help_time(wanted.pairs)
    loop_cost(wanted.pairs)
    start_skew(wanted.pairs)
    control_load()
    throughput(wanted.pairs, wanted.seconds)


if __name__ == "__main__":
    main()
