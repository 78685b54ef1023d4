"""From the options of ``envdyno run`` to requests."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Request, Smt
from envdyno.cli.assets import with_assets
from envdyno.cli.values import parse_cpus, parse_deadlines, parse_pairs
from envdyno.plan.cases import Unknown, catalogue, find_workloads
from envdyno.plan.run_request import DEFAULT_NUM_ENVS, DEFAULT_WORKLOAD, RunRequest, check
from envdyno.plan.usage_error import UsageError
from envdyno.record.case import Mode
from envdyno.record.hardware import HardwareCounting

LATENCY_NUMA = "off"
"""Latency is that of one worker with the whole machine, unless asked otherwise."""


@dataclass(frozen=True)
class RunOrder:
    """What one ``envdyno run`` is to do."""

    requests: tuple[RunRequest, ...]
    """Every workload with every batch size."""
    other: RunRequest | None
    """The counterpart of ``--compare``."""
    rounds: int
    phases: bool
    """Whether every run is followed by an attribution run."""


def run_order(arguments: Mapping[str, Any]) -> RunOrder:
    """Read the options.

    Raises:
        UsageError: they cannot be done as asked.
    """
    sizes = arguments["num_envs"] or (DEFAULT_NUM_ENVS,)
    other = arguments["other"]
    if arguments["rounds"] < 1:
        raise UsageError(f"--rounds {arguments['rounds']} was asked for; it has to be at least 1.")
    workloads = _workloads(arguments["workload"] or DEFAULT_WORKLOAD, arguments["python"])
    if other is not None and (len(sizes) > 1 or len(workloads) > 1):
        raise UsageError("--compare measures one workload and one batch size: give --num-envs once.")
    requests = tuple(_request(arguments, name, size) for name in workloads for size in sizes)
    counterpart = None if other is None else _request(arguments, other, sizes[0])
    for request in (*requests, *([counterpart] if counterpart else [])):
        check(request)
    phases = arguments["phases"] or arguments["phase_cpu"] or bool(arguments["probes"])
    return RunOrder(requests, counterpart, arguments["rounds"], phases)


def _workloads(name: str, python: Path | None) -> tuple[str, ...]:
    """Return the workloads that a name, a group such as ``suite``, or a pattern stands for."""
    known = catalogue()
    if name in known.groups or any(sign in name for sign in "*?["):
        return find_workloads((name,), known, Unknown.REFUSE if python is None else Unknown.KEEP)
    return (name,)


def _options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    options = parse_pairs(with_assets(arguments["options"], arguments["assets"]))
    if arguments["policy"] is not None:
        options["policy"] = arguments["policy"]
    return options


def _request(arguments: Mapping[str, Any], workload: str, num_envs: int) -> RunRequest:
    latency = arguments["steps"] is not None
    return RunRequest(
        workload=workload,
        options=_options(arguments),
        num_envs=num_envs,
        mode=Mode.LATENCY if latency else Mode.WINDOW,
        window_s=arguments["duration"],
        steps=arguments["steps"] or 0,
        warmup_steps=arguments["warmup"],
        actions=ActionSource(arguments["actions"]),
        seed=arguments["seed"],
        placement=Request(
            numa=arguments["numa"] or (LATENCY_NUMA if latency else "auto"),
            workers_per_node=arguments["workers_per_node"],
            cpus=parse_cpus(arguments["cpus"]),
            smt=Smt(arguments["smt"]),
            memory=MemoryPolicy(arguments["mem"]),
            threads=arguments["threads"],
        ),
        strict_placement=arguments["strict_placement"],
        exclusive=arguments["exclusive"],
        foreign_load_limit_cores=arguments["foreign_load_limit"],
        allow_nonfinite=arguments["allow_nonfinite"],
        phase_cpu=arguments["phase_cpu"],
        probes=arguments["probes"],
        hardware_counters=HardwareCounting(arguments["hardware_counters"]),
        deadlines_s=parse_deadlines(arguments["deadlines"]),
        python=arguments["python"] or Path(sys.executable),
    )
