"""A pipe of any encoding gets whole output, and the exit code does not depend on it."""

from __future__ import annotations

import io
import sys

import pytest

from envdyno.agent.workloads import registry
from envdyno.agent.workloads.registration import Registration
from envdyno.agent.workloads.registry import SYNTHETIC
from envdyno.cli.main import run_command

FOREIGN = Registration("robot", "module:build", "a 机器人 – 3 × faster ✓", group="Größe")


def output_of(arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run a command whose stdout is a strict pipe of an encoding; return exit code and output."""
    raw = io.BytesIO()
    pipe = io.TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    monkeypatch.setattr(sys, "stdout", pipe)
    code = run_command(arguments)
    pipe.flush()
    return code, raw.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_the_list_can_be_written_to_any_pipe(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "built_in", lambda: (FOREIGN, SYNTHETIC))
    code, text = output_of(["list"], encoding, monkeypatch)
    assert code == 0
    assert "synthetic" in text
    assert ("a 机器人 – 3 × faster ✓" in text) == (encoding == "utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("arguments", [["explain"], ["schema"], ["list", "--json"]])
def test_other_output_can_be_written_to_any_pipe(
    arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = output_of(arguments, encoding, monkeypatch)
    assert code == 0
    assert text
