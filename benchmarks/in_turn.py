"""Step an environment by its adapter and by its framework's bare loop, in turn.

Run in the framework's environment. Reads the case from standard input as JSON: workload, options, num_envs,
make, step, finish, blocks, block_s. Writes one line of JSON: for each pair of blocks the seconds and CPU
seconds of a vector step, bare and by the adapter.

Two processes of the same program differ by several per cent, for their memory lies elsewhere. So both are
stepped in one process, in blocks of a fraction of a second, ABBA: what remains is what the adapter and
envdyno's loop add.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envdyno.agent.building import build_workload, first_step, import_workload
from envdyno.agent.job import Job
from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.measure.step_log import StepLog
from envdyno.agent.measure.window import Stepper
from envdyno.agent.stages import Ledger

WARMUP_S = 1.0
Block = Callable[[float], tuple[float, float]]


def by_adapter(stepper: Stepper, num_envs: int) -> Block:
    """Return a block of the adapter's steps in envdyno's own loop."""

    def block(seconds: float) -> tuple[float, float]:
        now = time.monotonic_ns()
        log = StepLog(num_envs, now, now + int(seconds * 1e9), 1)
        cpu, began = time.process_time(), time.monotonic()
        stepper.log_window(log)
        elapsed, used = time.monotonic() - began, time.process_time() - cpu
        log.fold()
        # The step that crosses the end of the window was taken and is not in the totals.
        taken = log.totals.steps + 1
        return elapsed / taken, used / taken

    return block


def bare(program: str, names: dict[str, Any], finish: str) -> Block:
    """Return a block of the framework's own loop; ``program`` is one vector step."""
    kept = sorted(
        node.id
        for node in ast.walk(ast.parse(program))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    source = f"""
def block(seconds):
    {"global " + ", ".join(kept) if kept else "pass"}
    cpu, began, steps = time.process_time(), time.monotonic(), 0
    ends = began + seconds
    while time.monotonic() < ends:
        {program}
        steps += 1
    {finish}
    elapsed, used = time.monotonic() - began, time.process_time() - cpu
    return elapsed / steps, used / steps
"""
    exec(compile(source, "bare loop", "exec"), names)
    block: Block = names["block"]
    return block


def main() -> None:
    """Measure one case."""
    case = json.load(sys.stdin)
    num_envs, cpus = case["num_envs"], tuple(sorted(os.sched_getaffinity(0)))
    job = Job(
        worker=0,
        workers=1,
        workload=case["workload"],
        num_envs=num_envs,
        seed=0,
        cpus=cpus,
        threads=len(cpus),
        options=case["options"],
        sys_path=(str(Path.cwd()),),
    )
    resolved, factory, _probes = import_workload(job)
    workload = build_workload(job, resolved, factory)
    stepping = first_step(job, workload, Ledger(lambda _stage: None), ())
    names: dict[str, Any] = {
        "time": time,
        "num_envs": num_envs,
        "threads": len(cpus),
        "built": getattr(workload.step, "__self__", None),
    }
    exec(case["make"], names)
    ring = action_ring(workload.spec.action, num_envs, ActionSource.RANDOM, 0, workload.make_actions)
    names["actions"] = itertools.cycle(ring)
    two = bare(case["step"], names, case["finish"]), by_adapter(stepping.stepper, num_envs)
    for block in two:
        block(WARMUP_S)
    pairs = []
    for index in range(case["blocks"]):
        order = (0, 1) if index % 2 == 0 else (1, 0)
        seen = {which: two[which](case["block_s"]) for which in order}
        pairs.append([seen[0], seen[1]])
    print("PAIRS", json.dumps(pairs), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
