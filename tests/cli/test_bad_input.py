"""Bad input: one clear sentence, exit code 2, no traceback, and no worker started where that is possible."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from envdyno.cli.main import run_command


def envdyno(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command in this process; return exit code, stdout and stderr."""
    code = run_command(list(arguments))
    captured = capfd.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the start of any worker a failure of the test."""

    def refuse(*_: object) -> None:
        raise AssertionError("a worker was started")

    monkeypatch.setattr("envdyno.launch.run.WorkerProcess", refuse)


REFUSED = {
    "an unknown workload": (["run", "go3_joystick/mujoco"], "no workload named 'go3_joystick/mujoco'"),
    "a near miss": (["run", "go2_joystick_flat/mujoko"], "Did you mean go2_joystick_flat/mujoco"),
    "a lambda": (["run", "lambda num_envs: None"], "module:attribute"),
    "zero environments": (["run", "-n", "0"], "--num-envs 0"),
    "negative environments": (["run", "-n", "-4"], "--num-envs -4"),
    "a number that is none": (["run", "-n", "many"], "not a valid integer"),
    "fewer environments than workers": (
        ["run", "synthetic", "-n", "1", "--numa", "off", "--workers-per-node", "2"],
        "is the total batch",
    ),
    "zero duration": (["run", "--duration", "0s"], "--duration 0s"),
    "a duration that is none": (["run", "--duration", "soon"], "'soon' is no length of time"),
    "a negative duration": (["run", "--duration=-1s"], "is no length of time"),
    "zero steps": (["run", "--steps", "0"], "--steps 0"),
    "negative warm-up": (["run", "--warmup", "-1"], "--warmup -1"),
    "a negative seed": (["run", "--seed", "-1"], "--seed -1"),
    "zero workers": (["run", "--workers-per-node", "0"], "workers"),
    "an unknown node": (["run", "--numa", "77"], "77"),
    "no node list": (["run", "--numa", "everywhere"], "everywhere"),
    "an unknown CPU": (["run", "--cpus", "4000"], "4000"),
    "no CPU list": (["run", "--cpus", "a-b"], "a-b"),
    "an unknown action source": (["run", "--actions", "clever"], "clever"),
    "an option without a value": (["run", "-o", "runtime"], "write key=value"),
    "an option given twice": (["run", "-o", "a=1", "-o", "a=2"], "given twice"),
    "an unknown stage": (["run", "--deadline", "lunch=1h"], "STAGE=DURATION"),
    "a deadline of nothing": (["run", "--deadline", "build=0s"], "--deadline build=0"),
    "a missing interpreter": (["run", "--python", "/no/such/python"], "/no/such/python"),
    "an unknown flag": (["run", "--gpus", "all"], "--gpus"),
    "an unknown verb": (["measure"], "measure"),
    "a sweep of a comparison": (["run", "--compare", "synthetic", "-n", "1", "-n", "2"], "--num-envs once"),
    "no rounds": (["run", "--compare", "synthetic", "--rounds", "0"], "--rounds 0"),
    "an output folder under a file": (["run", "--out", "/dev/null/x"], "/dev/null/x"),
    "a file in no folder": (["run", "--jsonl", "/no/such/folder/x.jsonl"], "/no/such/folder/x.jsonl"),
    "a table in no folder": (["run", "--csv", "/no/such/folder/x.csv"], "/no/such/folder/x.csv"),
}


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_in_one_sentence_before_any_worker_starts(
    case: str, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments, wanted = REFUSED[case]
    code, out, err = envdyno(capfd, *arguments)
    assert code == 2
    assert out == ""
    assert wanted in err
    assert "Traceback" not in err


@pytest.mark.usefixtures("no_worker")
def test_a_folder_that_cannot_be_written_is_refused_before_any_worker_starts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere; the refusal is tested with a file in the way")
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    code, _, err = envdyno(capfd, "run", "--out", str(tmp_path / "bundle"))
    assert code == 2
    assert "cannot be made" in err


BROKEN_MODULES = {
    "no such attribute": ("x = 1\n", "shop:build", "has no attribute 'build'"),
    "no factory": ("build = 3\n", "shop:build", "is a int, not a factory"),
    "a lambda": ("build = lambda num_envs, seed: None\n", "shop:build", "is a lambda"),
    "no step": ("class build:\n    def __init__(self, num_envs, seed): pass\n", "shop:build", "no step()"),
    "unknown option": ("def build(num_envs, seed, size=1): pass\n", "shop:build", "It has: size."),
    "takes no batch": ("def build(seed): pass\n", "shop:build", "takes no parameter num_envs"),
    "a missing dependency": ("import not_installed_anywhere\n", "shop:build", "not_installed_anywhere"),
}


@pytest.mark.parametrize("case", BROKEN_MODULES)
def test_a_factory_that_cannot_be_used_is_refused_in_one_sentence(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source, name, wanted = BROKEN_MODULES[case]
    (tmp_path / "shop.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    extra = ["-o", "colour=red"] if case == "unknown option" else []
    code, out, err = envdyno(capfd, "run", name, "-n", "2", "--numa", "off", *extra)
    assert code == 2
    assert out == ""
    assert wanted in err
    assert "Traceback" not in err


def test_an_interpreter_that_cannot_run_is_told_with_its_path(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = tmp_path / "python"
    fake.write_text("not a program")
    code, _, err = envdyno(capfd, "run", "synthetic", "--numa", "off", "--python", str(fake))
    assert code in (2, 5)
    assert str(fake) in err


def test_a_read_only_working_folder_and_home_are_no_hindrance(tmp_path: Path) -> None:
    """Nothing is written but the temporary files: run where nothing can be created."""
    environ = {**os.environ, "HOME": "/nonexistent"}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "envdyno",
            "run",
            "synthetic",
            "-n",
            "2",
            "--numa",
            "off",
            "--duration",
            "0.2s",
            "--json",
        ],
        cwd="/proc",
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('{"schema":"envdyno.run/1"')


def test_no_temporary_folder_is_told_in_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    program = (
        "import tempfile, sys; tempfile.tempdir = sys.argv[1];"
        "from envdyno.cli.main import run_command;"
        "sys.exit(run_command(['run', 'synthetic', '--numa', 'off']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(blocked)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "set TMPDIR to one that can be written" in done.stderr
    assert "Traceback" not in done.stderr
