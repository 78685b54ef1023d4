"""Replaying bundles: what is asked, what is run, and what is said of the difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_bundles import failing, one_run

from envdyno.cli.main import run_command
from envdyno.cli.replay_verbs import pinned_plan
from envdyno.record.bundle import Bundle

QUICK = ("--duration", "0.2s", "--warmup", "5", "-n", "8", "--numa", "off")


def test_nothing_is_run_before_somebody_allowed_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing().write(tmp_path / "bundle")
    assert run_command(["replay", str(tmp_path / "bundle"), "--out", str(tmp_path / "new")]) == 2
    captured = capsys.readouterr()
    assert "allow it with --yes" in captured.err
    assert "cases: flashsac/go2_joystick_flat/mujoco" in captured.out
    assert not (tmp_path / "new").exists()


def test_a_ref_is_replayed_at_the_commit_that_was_measured() -> None:
    head = failing().head
    assert head is not None
    plan = {
        **head.plan,
        "sides": {**head.plan["sides"], "base": {**head.plan["sides"]["base"], "ref": "main"}},
    }
    pinned = pinned_plan(head.model_copy(update={"plan": plan}))
    assert pinned["sides"]["base"]["ref"] == "60c2ce7c" + "0" * 32
    assert pinned["sides"]["head"]["ref"] is None


def test_a_command_that_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = one_run()
    record = made.records[0].model_copy(update={"command": ("rm", "-rf", "/")})
    made._replace(records=(record,)).write(tmp_path / "bundle")
    assert run_command(["replay", str(tmp_path / "bundle"), "--yes"]) == 2
    assert "no run to repeat" in capsys.readouterr().err


def test_a_file_of_records_cannot_be_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one_run().write(tmp_path / "bundle")
    assert run_command(["replay", str(tmp_path / "bundle" / "records.jsonl")]) == 2
    assert "needs the bundle's folder" in capsys.readouterr().err


def test_a_run_is_repeated_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle, again = tmp_path / "bundle", tmp_path / "again"
    assert run_command(["run", "synthetic", *QUICK, "--out", str(bundle), "-q"]) == 0
    assert run_command(["replay", str(bundle), "--yes", "-q", "--out", str(again)]) == 0
    records = [list(Bundle(folder).records()) for folder in (bundle, again)]
    assert records[0][0].config_hash == records[1][0].config_hash
    assert "later over earlier" in capsys.readouterr().out
