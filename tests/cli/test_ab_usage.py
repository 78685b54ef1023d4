"""What ``envdyno ab`` refuses, and that it does so before anything is measured or left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from planned_experiment import head_of, plan_of, runs_of

from envdyno.cli.main import run_command
from envdyno.plan.experiment_lock import experiment_lock, lock_path
from envdyno.record.bundle import Bundle

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, envdyno_cache: Path, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Run a command in this process, in a folder of its own; no worker may be started."""

    def refuse(*_: object) -> None:
        raise AssertionError("a worker was started")

    monkeypatch.setattr("envdyno.launch.run.WorkerProcess", refuse)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "ENVDYNO_CACHE_DIR": envdyno_cache,
        "ENVDYNO_LOCK_DIR": tmp_path / "locks",
        "XDG_STATE_HOME": tmp_path / "state",
    }.items():
        monkeypatch.setenv(name, str(value))
    (tmp_path / "locks").mkdir()

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_command(list(arguments))
        captured = capfd.readouterr()
        return code, captured.out, " ".join(captured.err.split())

    return run


SIDES = ("-o", "a:step_ms=1", "-o", "b:step_ms=2", "synthetic")

REFUSED = {
    "no sides": (("synthetic",), "An experiment compares two"),
    "one side": (("-o", "a:step_ms=1", "synthetic"), "at least two sides"),
    "no case": (("-o", "a:x=1", "-o", "b:x=2"), "no case was named"),
    "an unknown case": (("-o", "a:x=1", "-o", "b:x=2", "synthetik"), "Did you mean synthetic"),
    "a pattern that matches nothing": (("-o", "a:x=1", "-o", "b:x=2", "nothing/*"), "matches no case"),
    "too few pairs": ((*SIDES, "--pairs", "2"), "at least 3"),
    "a range that ends before it begins": ((*SIDES, "--pairs", "6..3"), "3..6"),
    "adaptive pairs in blocked order": ((*SIDES, "--pairs", "3..6", "--order", "blocked"), "fixed number"),
    "a budget of nothing": ((*SIDES, "--budget", "0s"), "no length of time"),
    "a rule for a gate that is not there": ((*SIDES, "--rule", "point"), "there is no gate: give its bound"),
    "a plan file that is not there": (("nowhere.toml",), "cannot be read"),
    "a folder to resume that is not there": (("--resume", "nowhere"), "holds no experiment"),
    "a folder to resume and one to write": (("--resume", "x", "--out", "y", *SIDES), "holds no experiment"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence_exit_code_2_and_no_folder(
    name: str, command: Command, tmp_path: Path
) -> None:
    arguments, sentence = REFUSED[name]
    code, out, err = command("ab", *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["locks"]


@pytest.mark.parametrize("place", ["/dev/null/out", "file/out"])
def test_a_place_that_cannot_be_written_is_found_before_a_side_is_prepared(
    place: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envdyno.cli.workspace.prepared_sides", lambda *_a, **_k: pytest.fail("prepared"))
    (tmp_path / "file").write_text("")
    code, _, err = command("ab", *SIDES, "--out", place)
    assert code == 2
    assert "cannot be written: Not a directory. Choose another --out." in err


def begun(folder: Path) -> Bundle:
    """A bundle in which an experiment was begun."""
    plan = plan_of()
    bundle = Bundle.create(folder)
    bundle.write_experiment(head_of(plan, runs_of(plan, ("synthetic",))))
    return bundle


def test_a_folder_with_an_experiment_is_not_written_over(command: Command, tmp_path: Path) -> None:
    before = (begun(tmp_path / "out").folder / "experiment.json").read_bytes()
    code, _, err = command("ab", *SIDES, "--out", "out")
    assert code == 2
    assert "--resume out" in err
    assert (tmp_path / "out" / "experiment.json").read_bytes() == before


def test_a_folder_with_records_of_single_runs_is_not_written_into(command: Command, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "records.jsonl").write_text('{"schema": "envdyno.run/1"}\n')
    code, _, err = command("ab", *SIDES, "--out", "out")
    assert code == 2
    assert "Choose another --out" in err


def test_a_resume_under_another_plan_says_what_changed(command: Command, tmp_path: Path) -> None:
    begun(tmp_path / "out")
    code, _, err = command("ab", "--resume", "out", "--pairs", "5", "--seed", "7")
    assert code == 2
    assert 'the plan, experiment.pairs: "3" → "5"' in err
    assert "the plan, experiment.seed: 0 → 7" in err
    assert "begin a new experiment in another folder" in err


def test_a_resume_with_other_sides_or_another_version_says_so(command: Command, tmp_path: Path) -> None:
    begun(tmp_path / "out")
    code, _, err = command("ab", "--resume", "out", "--budget", "1h")
    assert code == 2
    assert "side a," in err
    assert "the plan" not in err, "a budget decides how long to go on, not what is done"


def test_a_second_experiment_on_the_machine_is_refused_and_leaves_no_folder(
    command: Command, tmp_path: Path
) -> None:
    with experiment_lock("somebody else's experiment", path=lock_path()):
        code, _, err = command("ab", *SIDES, "--out", "out")
    assert code == 2
    assert "somebody else's experiment" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{}", "is no experiment"),
        ("[1, 2", "is no experiment"),
        ('{"schema": "envdyno.experiment/9"}', "is no experiment"),
        ("NaN", "is no experiment"),
    ],
)
@pytest.mark.parametrize("verb", [("gate", "out"), ("ab", "--resume", "out")])
def test_a_broken_bundle_is_one_sentence(
    verb: tuple[str, ...], content: str, sentence: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "experiment.json").write_text(content)
    code, _, err = command(*verb)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "damage",
    [
        {"plan": {}},
        {"plan": {"experiment": {"pairs": "many"}}},
        {"sides": []},
        {"noise_floors": [{"machine": 1}]},
        {"sides": [{"name": "a", "label": "a", "digest": "x", "identity": {}}]},
    ],
)
def test_a_bundle_that_does_not_fit_together_is_one_sentence(
    damage: dict[str, object], command: Command, tmp_path: Path
) -> None:
    bundle = begun(tmp_path / "out")
    bundle.journal().close()
    path = bundle.folder / "experiment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    code, _, err = command("gate", "out")
    assert code == 2
    assert "bundle" in err
    assert "Traceback" not in err
