"""``envdyno sweep``, in processes of its own and in this one."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from ab_process import Ab, finish, head_of, records_of, settled, wait_until

from envdyno.cli.main import run_command
from envdyno.record.setting import Setting, scouted_num_envs

QUICK = ("synthetic", "-o", "row_us=20", "--numa", "off", "--duration", "0.1s", "--warmup", "3")
ONCE = ("--disturbed-repeats", "0")
TWO = ("-n", "16,64", "--threads", "1", "--workers-per-node", "1")


def sweep(ab: Ab, *more: str) -> list[str]:
    return [*QUICK, *ONCE, *more, "--out", ab.out]


def test_a_sweep_measures_every_setting_and_answers_in_words_in_json_and_in_a_bundle(ab: Ab) -> None:
    done = ab.run(*sweep(ab, *TWO, "--json"), verb="sweep")
    assert done.code == 0, done.err
    assert "2 settings, 6 runs." in done.said
    assert "best here: " in done.said
    assert done.err.count("3 of 3") == 2
    *records, answer = map(json.loads, done.out.splitlines())
    assert [record["schema"] for record in records] == ["envdyno.run/1"] * 6
    assert answer["schema"] == "envdyno.sweep/1"
    assert answer["decided"] is True
    head = head_of(ab.bundle())
    assert settled(records_of(ab.bundle())) == list(head.planned)
    assert head.cases == tuple(Setting(size, 1, 1).case_name("synthetic") for size in (16, 64))
    shown = ab.run(ab.out, verb="show")
    assert shown.code == 0
    assert "best here: " in shown.out
    assert {record["case"]["threads"] for record in records} == {1}
    assert all("--threads" in record["command"] for record in records)


def test_one_ctrl_c_keeps_what_was_measured_and_resume_carries_on_with_the_same_sweep(ab: Ab) -> None:
    process = ab.start(
        *sweep(ab, "--threads", "1", "--workers-per-node", "1", "--repeats", "1"), verb="sweep"
    )
    runs = ab.bundle().folder / "runs"
    wait_until(lambda: any(runs.glob("synthetic-scouting*")), "scouting begins")
    os.killpg(process.pid, signal.SIGINT)
    done = finish(process)
    assert done.code == 130
    assert f"envdyno sweep --resume {ab.out}" in done.said
    before = records_of(ab.bundle())
    assert before
    resumed = ab.run("--resume", ab.out, verb="sweep")
    assert resumed.code == 3, resumed.err
    assert "undecided" in resumed.said
    records = records_of(ab.bundle())
    assert records[: len(before)] == before
    assert set(settled(records)) == set(head_of(ab.bundle()).planned)
    entries = [record.experiment for record in records if record.experiment]
    scouted = [size for entry in entries if (size := scouted_num_envs(entry.case))]
    assert scouted == sorted(set(scouted))
    assert any(Setting.of_case(entry.case) for entry in entries)


def test_a_sweep_in_which_every_run_fails_ends_as_not_measured(ab: Ab) -> None:
    fault = ("-o", "fault=raise", "-n", "8", "--threads", "1", "--workers-per-node", "1", "--repeats", "1")
    done = ab.run(*sweep(ab, *fault), verb="sweep")
    assert done.code == 5
    assert "No setting was measured" in done.said
    assert "8 envs, 1 worker a node, 1 thread: not measured" in done.said


def test_a_dry_run_shows_every_run_and_the_time_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["sweep", *QUICK, "-n", "16,64", "--threads", "1,99999", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "3 blocks" in text
    assert "a worker has" in text
    assert "time: about" in text
    assert list(tmp_path.iterdir()) == []


PLAN = """
[experiment]
cases = ["synthetic"]

[sweep]
num_envs = "16..64"
threads = 1
workers_per_node = 1
"""


def test_a_plan_file_may_describe_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(PLAN)
    assert run_command(["plan", str(file)]) == 0
    by_plan = capsys.readouterr().out
    assert "grid: 3 settings, 9 runs in 3 blocks" in by_plan
    assert run_command(["sweep", str(file), "--dry-run"]) == 0
    assert capsys.readouterr().out == by_plan
    assert run_command(["sweep", str(file), "--repeats", "5", "--dry-run"]) == 0
    assert "15 runs in 5 blocks" in capsys.readouterr().out


def test_a_list_may_be_given_in_parts_as_for_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sweep", *QUICK, "-n", "16", "-n", "64", "--threads", "1", "--dry-run"]) == 0
    in_parts = capsys.readouterr().out
    assert run_command(["sweep", *QUICK, "-n", "16,64", "--threads", "1", "--dry-run"]) == 0
    assert capsys.readouterr().out == in_parts


def test_batch_sizes_left_to_auto_are_told_as_scouting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sweep", *QUICK, "--dry-run"]) == 0
    assert "scouting: up to 12 runs" in capsys.readouterr().out


COMPARING = """
[experiment]
cases = ["synthetic"]
[sides.a.options]
step_ms = 1
[sides.b.options]
step_ms = 2
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sweep", "synthetic", "-n", "8..4"], "8..4 is no range"),
        (["sweep", "synthetic", "--threads", "few"], "'few' is no list of numbers"),
        (["sweep", "suite"], "a sweep is of one workload"),
        (["sweep", "synthetic", "--repeats", "0"], "repeats"),
        (["sweep", "no_such_workload"], "no_such_workload"),
        (["sweep", "synthetic", "-n", "8", "--threads", "99999"], "No setting of this sweep can be"),
        (["sweep", "comparing.toml"], "Run it by `envdyno ab`"),
        (["ab", "sweep.toml"], "Run it by `envdyno sweep`"),
        (["sweep", "--resume", "nowhere"], "nowhere holds no experiment"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence_before_anything_starts(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "sweep.toml").write_text(PLAN)
    (tmp_path / "comparing.toml").write_text(COMPARING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENVDYNO_LOCK_DIR", str(tmp_path))
    assert run_command(arguments) == 2
    assert said in capsys.readouterr().err
    assert not any(path.is_dir() and path.name.startswith("envdyno-2") for path in tmp_path.iterdir())
