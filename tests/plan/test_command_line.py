"""The command line in a record asks for the same run again."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.job import Timing
from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Request, Smt
from envdyno.agent.stages import Stage
from envdyno.cli import run_requests
from envdyno.cli.run import run
from envdyno.launch.attribution import attribution_request
from envdyno.plan.command_line import run_arguments, seconds_text
from envdyno.plan.run_request import RunRequest
from envdyno.record.case import Mode
from envdyno.record.hardware import HardwareCounting

seconds = st.floats(1e-9, 1e12)
figures = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | figures | st.text(max_size=8)
option_values = (
    scalars | st.lists(scalars, max_size=3) | st.sampled_from(["NaN", "1e999", "true", '"', "[1]"])
)
option_names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
placements = st.builds(
    Request,
    numa=st.sampled_from(["auto", "off", "0,1", "gpu:0", "per-l3", "per-class"]),
    workers_per_node=st.integers(1, 9),
    cpus=st.none() | st.sets(st.integers(0, 300), min_size=1, max_size=9).map(lambda ids: tuple(sorted(ids))),
    smt=st.sampled_from(Smt),
    memory=st.sampled_from(MemoryPolicy),
    threads=st.none() | st.integers(1, 300),
)
requests = st.builds(
    RunRequest,
    workload=st.sampled_from(["synthetic", "go2_joystick_flat/mujoco", "my.module:Env.make", "gym:Ant-v5"]),
    options=st.dictionaries(option_names, option_values, max_size=3),
    num_envs=st.integers(1, 10**6),
    mode=st.sampled_from(Mode),
    window_s=seconds,
    steps=st.integers(1, 10**6),
    warmup_steps=st.integers(0, 10**4),
    actions=st.sampled_from(ActionSource),
    seed=st.integers(0, 2**70),
    placement=placements,
    strict_placement=st.booleans(),
    exclusive=st.booleans(),
    foreign_load_limit_cores=st.floats(0, 100),
    allow_nonfinite=st.booleans(),
    timing=st.sampled_from(Timing),
    phase_cpu=st.booleans(),
    hardware_counters=st.sampled_from(HardwareCounting),
    probes=st.lists(st.sampled_from(["a=b:c", "physics=m.n:C.step"]), unique=True).map(tuple),
    deadlines_s=st.dictionaries(st.sampled_from(Stage), seconds, max_size=3),
    python=st.sampled_from([Path(sys.executable), Path("/opt/side/bin/python")]),
)


def parsed(arguments: tuple[str, ...]) -> RunRequest:
    """Read a command line as ``envdyno run`` does, up to the checks that look at this machine."""
    program, verb, *rest = arguments
    assert (program, verb) == ("envdyno", "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_requests, "check", lambda request: None)
        patch.setattr(run_requests, "catalogue", lambda: SimpleNamespace(groups=()))
        order = run_requests.run_order(run.make_context("run", list(rest)).params)
    assert order.other is None
    (request,) = order.requests
    return request


def repeats(request: RunRequest) -> dict[str, Any]:
    """What a command line has to say: the mode that is not asked for says nothing."""
    body = request.model_dump(exclude={"timing"})
    unused = "steps" if request.mode is Mode.WINDOW else "window_s"
    body.pop(unused)
    return body


@settings(max_examples=60)
@given(requests)
def test_the_command_line_is_read_back_to_an_equal_request(request: RunRequest) -> None:
    arguments = run_arguments(request)
    again = parsed(arguments)
    if request.timing is Timing.ATTRIBUTION:
        again = attribution_request(again)
    assert again.timing is request.timing
    assert repeats(again) == repeats(request)


def test_an_attribution_run_is_asked_for_with_its_phases() -> None:
    arguments = run_arguments(RunRequest(timing=Timing.ATTRIBUTION))
    assert "--phases" in arguments
    assert "--phases" not in run_arguments(RunRequest())


def test_the_default_run_is_written_out_so_that_later_defaults_change_nothing() -> None:
    assert " ".join(run_arguments(RunRequest())) == (
        "envdyno run go2_joystick_flat/mujoco --num-envs 2048 --duration 10.0s --warmup 30 --actions random "
        "--seed 0 --numa auto --workers-per-node 1 --foreign-load-limit 0.1"
    )


@pytest.mark.parametrize(
    ("span", "text"),
    [(10.0, "10.0s"), (1e-5, "0.00001s"), (1e16, "10000000000000000s"), (1.2345678, "1.2345678s")],
)
def test_spans_have_all_their_digits_and_no_exponent(span: float, text: str) -> None:
    assert seconds_text(span) == text
