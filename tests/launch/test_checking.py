"""Checking real workloads in real processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envdyno.launch.check_findings import Grade
from envdyno.launch.checking import Check, check_workload
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError
from envdyno.report.check_report import check_json, check_lines

HONEST = """
from envdyno.agent.workloads.contract import ArraySpec, Autoreset, Tally, WorkloadSpec
class Work:
    spec = WorkloadSpec(4, autoreset=Autoreset.SAME_STEP, observation={"obs": ArraySpec((2,), "float64")})
    def __init__(self):
        self.inside, self.steps = 0, 0
    def step(self, actions):
        self.steps += 1
        self.inside += 4
        return Tally(COUNT, episodes=self.steps % 3 == 0, reward_sum=1.0)
    def observation(self):
        return [[0.5, float(self.steps)]] * 4
    def count_inside(self):
        return self.inside
def build(num_envs, seed, context):
    assert context.check
    return Work()
"""


def checked(tmp_path: Path, source: str, **changes: Any) -> Check:
    """Check ``build`` of a module with the given source."""
    (tmp_path / "work.py").write_text(source)
    settings = {"workload": "work:build", "num_envs": 4, "warmup_steps": 20, "cwd": tmp_path} | changes
    with open_session() as session:
        return check_workload(RunRequest(**settings), session)


def grades(check: Check) -> dict[str, Grade]:
    """Return the grade of every topic; of several the last."""
    return {found.topic: found.grade for found in check.findings}


def test_an_honest_workload_passes(tmp_path: Path) -> None:
    found = checked(tmp_path, HONEST.replace("COUNT", "4"))
    assert set(grades(found).values()) == {Grade.GOOD}
    assert found.spec["autoreset"] == "same_step"
    assert any("the environments counted 80 themselves" in line for line in check_lines(found))
    assert check_lines(found)[-1] == "0 things wrong, 0 notes."


def test_a_workload_that_counts_less_than_it_does_is_found_out(tmp_path: Path) -> None:
    found = checked(tmp_path, HONEST.replace("COUNT", "3, 1"))
    assert grades(found)["counting"] is Grade.WRONG
    assert check_json(found)["findings"][1]["grade"] == "wrong"


def test_noise_files_children_and_chance_are_noted(tmp_path: Path) -> None:
    careless = (
        "import os, random, subprocess, sys\n"
        "print('a banner')\n"
        "class Env:\n"
        "    num_envs, single_action_space = 4, None\n"
        "    def __init__(self):\n"
        "        open('LITTER.TXT', 'w').close()\n"
        "        self.child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "    def reset(self, seed=None):\n"
        "        pass\n"
        "    def step(self, actions):\n"
        "        return [[random.random()]] * 4, [random.random()] * 4, [False] * 4, [False] * 4, {}\n"
        "def build(num_envs, seed):\n"
        "    return Env()\n"
    )
    found = checked(tmp_path, careless)
    told = {finding.topic: finding for finding in found.findings}
    for topic in ("output", "files", "determinism", "episodes", "counting"):
        assert told[topic].grade is Grade.NOTE, topic
    assert "a banner" in told["output"].text
    assert "LITTER.TXT" in told["files"].text
    assert told["processes"].grade is Grade.WRONG, "it was left running"
    assert any("spec.autoreset" in words for words in found.lacks)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1 / 0\n", r"ZeroDivisionError: division by zero \(at .*work\.py:1\)"),
        ("def build(num_envs, seed):\n    return (\n", r"SyntaxError: .*\(at .*work\.py:2\)"),
    ],
)
def test_a_module_that_fails_at_its_import_is_a_sentence_without_a_traceback(
    source: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        checked(tmp_path, source)
    assert "Traceback" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_factory_without_a_seed_is_checked_and_noted(tmp_path: Path) -> None:
    found = checked(tmp_path, "def build(num_envs):\n    return lambda actions: num_envs\n")
    assert grades(found)["seed"] is Grade.NOTE


def test_a_workload_that_does_not_run_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"work:build does not run\. .*no such robot"):
        checked(tmp_path, "def build(num_envs, seed):\n    raise RuntimeError('no such robot')\n")
