"""A family's workloads measured and checked as a user does it, in an interpreter that has no envdyno."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from told_of import contradictions

PYTHON = os.environ["ENVDYNO_FAMILY_PYTHON"]
RUNS: list[list[str]] = json.loads(os.environ["ENVDYNO_FAMILY_RUNS"])
FOLDER = os.environ["ENVDYNO_FAMILY_FOLDER"]
ROWS = os.environ["ENVDYNO_FAMILY_ROWS"]
BARE_ENGINES = ("mujoco_rollout", "mjbatch", "mujoco_uni", "motrixsim")
pytestmark = pytest.mark.timeout(900)
"""Some compile for minutes, and are checked by building them twice."""


def envdyno(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run envdyno in the family's folder, with the family's interpreter for the workload."""
    command = [sys.executable, "-m", "envdyno", *arguments, "--python", PYTHON, "--json"]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)


def measured(arguments: list[str], *more: str) -> subprocess.CompletedProcess[str]:
    """Measure a workload for a second.

    A robot on the floor that random controls throw about for long enough becomes unstable, and such a run is
    invalid: how many steps a second has is the machine's, so a bare engine gets controls that let it lie.
    """
    still = ["--actions", "zero"] if arguments[0].startswith(BARE_ENGINES) else []
    return envdyno("run", *arguments, *still, "-n", ROWS, "--duration", "1s", "--quiet", *more)


def test_the_family_has_no_envdyno_of_its_own() -> None:
    asked = "import importlib.util, sys; sys.exit(importlib.util.find_spec('envdyno') is not None)"
    assert subprocess.run([PYTHON, "-I", "-c", asked], check=False).returncode == 0


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_it_is_measured(arguments: list[str]) -> None:
    done = measured(arguments)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    assert record["status"] == "ok"
    assert record["totals"]["transitions"] > 0
    assert record["throughput"]["transitions_per_s"] == pytest.approx(
        record["totals"]["transitions"] / record["throughput"]["elapsed_s"]
    )
    if record["spec"]["autoreset"] == "none":  # a bare engine
        assert record["workers"][0]["contacts"]["rows"] == int(ROWS)
        assert "workers.contacts" not in record["absent"]


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_its_phases_are_timed(arguments: list[str]) -> None:
    done = measured(arguments, "--phases")
    assert done.returncode == 0, done.stderr
    _throughput, attribution = (json.loads(line) for line in done.stdout.splitlines())
    assert attribution["case"]["timing"] == "attribution"
    assert "env_step" in json.dumps(attribution["phases"])


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_it_does_what_it_says(arguments: list[str]) -> None:
    done = envdyno("check", *arguments, "-n", ROWS)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert not [found for found in told["findings"] if found["grade"] == "wrong"]
    assert contradictions(arguments[0], told) == []
