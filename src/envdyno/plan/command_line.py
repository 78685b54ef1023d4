"""The arguments that repeat a run."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

from envdyno.agent.job import Timing
from envdyno.agent.placement.cpulist import format_cpulist
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Smt
from envdyno.plan.literals import literal
from envdyno.plan.run_request import RunRequest
from envdyno.record.case import Mode
from envdyno.record.hardware import HardwareCounting


def run_arguments(request: RunRequest) -> tuple[str, ...]:
    """Return the command line that asks for the same run, every measuring option written out.

    An attribution run is asked for together with the throughput run that it belongs to.
    """
    wanted = request.placement
    arguments = ["envdyno", "run", request.workload, "--num-envs", str(request.num_envs)]
    if request.mode is Mode.WINDOW:
        arguments += ["--duration", seconds_text(request.window_s)]
    else:
        arguments += ["--steps", str(request.steps)]
    arguments += ["--warmup", str(request.warmup_steps), "--actions", request.actions.value]
    arguments += ["--seed", str(request.seed), "--numa", wanted.numa]
    arguments += ["--workers-per-node", str(wanted.workers_per_node)]
    if wanted.threads is not None:
        arguments += ["--threads", str(wanted.threads)]
    if wanted.cpus is not None:
        arguments += ["--cpus", format_cpulist(wanted.cpus)]
    if wanted.memory is not MemoryPolicy.BIND:
        arguments += ["--mem", wanted.memory.value]
    if wanted.smt is not Smt.ON:
        arguments += ["--smt", wanted.smt.value]
    arguments += ["--foreign-load-limit", repr(request.foreign_load_limit_cores)]
    if request.hardware_counters is not HardwareCounting.AUTO:
        arguments += ["--hardware-counters", request.hardware_counters.value]
    flags = {
        "--strict-placement": request.strict_placement,
        "--exclusive": request.exclusive,
        "--allow-nonfinite": request.allow_nonfinite,
        "--phases": request.timing is Timing.ATTRIBUTION,
        "--phase-cpu": request.phase_cpu,
    }
    arguments += [flag for flag, given in flags.items() if given]
    if request.python != Path(sys.executable):
        arguments += ["--python", str(request.python)]
    for probe in request.probes:
        arguments += ["--probe", probe]
    for stage, seconds in request.deadlines_s.items():
        arguments += ["--deadline", f"{stage.value}={seconds_text(seconds)}"]
    for key, value in sorted(request.options.items()):
        arguments += ["-o", f"{key}={literal(value)}"]
    return tuple(arguments)


def seconds_text(seconds: float) -> str:
    """Return a length of time with all its digits and without an exponent."""
    return f"{Decimal(repr(seconds)):f}s"
