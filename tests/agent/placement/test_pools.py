from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdyno.agent.placement.pools import PINS, SIZES, ThreadVariables, thread_variables


def test_every_pool_gets_the_size() -> None:
    variables = thread_variables(6, {})
    assert set(variables.set) == set(SIZES)
    assert set(variables.set.values()) == {"6"}
    assert variables.kept == {}


def test_what_the_user_set_wins_and_is_recorded() -> None:
    variables = thread_variables(6, {"OMP_NUM_THREADS": "4,2", "PATH": "/bin"})
    assert variables.kept == {"OMP_NUM_THREADS": "4,2"}
    assert "OMP_NUM_THREADS" not in variables.set
    assert variables.set["MKL_NUM_THREADS"] == "6"


def test_an_empty_variable_is_not_set() -> None:
    assert thread_variables(2, {"OMP_NUM_THREADS": " "}).set["OMP_NUM_THREADS"] == "2"


@pytest.mark.parametrize("name", PINS)
def test_variables_that_pin_threads_are_recorded_and_never_set(name: str) -> None:
    assert name not in thread_variables(2, {}).set
    assert thread_variables(2, {name: "close"}).kept == {name: "close"}


@pytest.mark.parametrize("threads", [0, -1])
def test_a_pool_needs_a_thread(threads: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        thread_variables(threads, {})


def test_thread_variables_travel_as_json() -> None:
    variables = thread_variables(2, {"OMP_NUM_THREADS": "1"})
    assert ThreadVariables.from_json(json.loads(json.dumps(variables.to_json()))) == variables


def test_numpys_own_pool_has_the_size_that_was_set() -> None:
    environ = {**os.environ, **thread_variables(1, {}).set}
    program = "import os, numpy; print(len(os.listdir('/proc/self/task')))"
    if not Path("/proc/self/task").is_dir():
        pytest.skip("needs procfs")
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "1"
