from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.placement.request import Request
from envdyno.agent.stages import Stage
from envdyno.plan.run_request import RunRequest, check, split_batch
from envdyno.plan.usage_error import UsageError
from envdyno.record.case import Mode


@settings(max_examples=40)
@given(st.integers(1, 64), st.integers(0, 10**6))
def test_a_batch_is_split_over_all_workers_as_evenly_as_can_be(workers: int, more: int) -> None:
    shares = split_batch(workers + more, workers)
    assert len(shares) == workers
    assert sum(shares) == workers + more
    assert max(shares) - min(shares) <= 1
    assert list(shares) == sorted(shares, reverse=True), "the remainder goes to the first"


@settings(max_examples=40)
@given(st.integers(-3, 5), st.integers(6, 64))
def test_fewer_environments_than_workers_are_refused_with_both_numbers(num_envs: int, workers: int) -> None:
    with pytest.raises(UsageError, match=f"--num-envs {num_envs} .*over {workers} workers"):
        split_batch(num_envs, workers)


def request(**changes: Any) -> RunRequest:
    """A request that is all right but for the changes."""
    return RunRequest(**{"workload": "synthetic", "num_envs": 8, **changes})


def test_a_request_that_is_all_right_passes() -> None:
    check(request())
    check(request(mode=Mode.LATENCY, steps=1, window_s=0.0))
    check(request(warmup_steps=0, foreign_load_limit_cores=0.0))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_envs": 0}, "--num-envs 0 was asked for"),
        ({"num_envs": -5}, "--num-envs -5 was asked for"),
        ({"window_s": 0.0}, "--duration 0s was asked for"),
        ({"window_s": -1.0}, "--duration -1s was asked for"),
        ({"window_s": math.nan}, "--duration nans was asked for"),
        ({"window_s": math.inf}, "--duration infs was asked for"),
        ({"mode": Mode.LATENCY, "steps": 0}, "--steps 0 was asked for"),
        ({"warmup_steps": -1}, "--warmup -1 was asked for"),
        ({"seed": -1}, "--seed -1 was asked for"),
        ({"placement": Request(workers_per_node=0)}, "--workers-per-node 0 was asked for"),
        ({"placement": Request(numa="some")}, "--numa 'some'"),
        ({"deadlines_s": {Stage.BUILD: 0.0}}, "--deadline build=0 was asked for"),
        ({"deadlines_s": {Stage.BUILD: math.nan}}, "--deadline build=nan was asked for"),
        ({"foreign_load_limit_cores": -0.1}, "--foreign-load-limit -0.1 was asked for"),
        ({"foreign_load_limit_cores": math.nan}, "--foreign-load-limit nan was asked for"),
        ({"python": Path("/nowhere/python")}, "no interpreter at /nowhere/python"),
        ({"python": Path("/")}, "no interpreter at /"),
        ({"workload": "synthetik"}, "no workload named 'synthetik'"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_was_asked(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        check(request(**changes))
    assert str(refused.value).endswith((".", "per-class."))


def test_names_of_another_interpreters_workloads_are_left_to_it(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    check(request(python=python, workload="only_registered_there"))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", "cannot be started: Exec format error"),
        ("#!/bin/sh\nexit 3\n", r"not a Python interpreter: .* exit code 3\."),
        ("#!/bin/sh\necho no such library >&2\nexit 127\n", "exit code 127 and says: no such library"),
        ('#!/bin/sh\necho "odd: $4"\n', r"exit code 0\."),
    ],
)
def test_what_is_no_interpreter_is_refused_before_any_worker_starts(
    script: str, said: str, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_text(script)
    program.chmod(0o755)
    with pytest.raises(UsageError, match=said):
        check(request(python=program))


def test_a_request_cannot_be_changed_and_has_no_unknown_fields() -> None:
    with pytest.raises(ValueError, match="frozen"):
        request().num_envs = 4
    with pytest.raises(ValueError, match="colour"):
        request(colour="red")
