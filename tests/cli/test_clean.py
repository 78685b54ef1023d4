"""``envdyno clean``."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdyno.cli.main import run_command


def test_an_empty_cache_is_cleaned_without_complaint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run_command(["clean"]) == 0
    assert "Removed 0 of 0" in capsys.readouterr().out


def test_a_time_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["clean", "--unused-for", "soon"]) == 2
    assert "'soon' is no length of time" in capsys.readouterr().err
