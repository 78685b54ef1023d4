from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdyno.cli.main import run_command

LIAR = (
    "from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec\n"
    "class Work:\n"
    "    spec = WorkloadSpec(2, autoreset=Autoreset.SAME_STEP)\n"
    "    def step(self, actions):\n"
    "        return Tally(1, 1)\n"
    "def build(num_envs, seed):\n"
    "    return Work()\n"
)


def test_a_workload_that_is_right_exits_with_0_and_tells_as_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = run_command(
        ["check", "synthetic", "-o", "step_ms=0.1", "-o", "reset_rate=0.5", "-n", "4", "--json"]
    )
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told["workload"] == "synthetic"
    assert {found["topic"] for found in told["findings"]} >= {"counting", "determinism", "threads"}


def test_a_workload_that_is_wrong_exits_with_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "liar.py").write_text(LIAR)
    assert run_command(["check", "liar:build", "-n", "2", "--steps", "5"]) == 1
    assert "WRONG  counting" in capsys.readouterr().out


def test_no_steps_and_no_workload_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", "synthetic", "--steps", "0"]) == 2
    assert run_command(["check", "nothing-like-it"]) == 2
    assert "no workload named 'nothing-like-it'" in capsys.readouterr().err
