"""A real version experiment: two published versions of one package as sides, from PyPI to the verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

OLD, NEW = "1.1.1", "1.4.0"
ANY_VERDICT = (0, 1, 3)
"""Passed, failed, undecided: short windows on a shared machine may end in any of these."""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_versions_of_a_package_are_compared_with_the_phases_of_their_steps(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "envdyno", "ab", "gymnasium:CartPole-v1"]
    command += ["--side", f"old=requirement:gymnasium=={OLD}", "--side", f"new=requirement:gymnasium=={NEW}"]
    command += ["-o", "vectorization_mode=sync", "-n", "64", "--pairs", "3", "--duration", "1s"]
    command += ["--attribution-pairs", "1", "--gate", "0.5", "--disturbed-repeats", "0"]
    command += ["--foreign-load-limit", "64", "--out", "bundle", "--json", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in ANY_VERDICT, done.stderr
    records: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    versions = {
        record["software"]["distributions"]["gymnasium"] for record in records if record["status"] == "ok"
    }
    assert versions == {OLD, NEW}
    timed = [record for record in records if record["case"]["timing"] == "attribution"]
    assert len(timed) == 2
    assert all("env_step" in json.dumps(record["phases"]) for record in timed)
    assert f"gymnasium {OLD}" in done.stderr, "the report says what differs"
    again = subprocess.run(
        [sys.executable, "-m", "envdyno", "gate", "bundle"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == done.returncode, "judging again, without measuring, comes to the same"
