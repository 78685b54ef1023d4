"""One experiment at a time, and the one that has to wait learns for whom."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdyno.plan import experiment_lock as module
from envdyno.plan.experiment_lock import ExperimentLocked, experiment_lock, lock_path
from envdyno.plan.usage_error import UsageError

HOLDER = """
import sys
from pathlib import Path
from envdyno.plan.experiment_lock import experiment_lock
with experiment_lock("envdyno ab nightly.toml", path=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_experiment_learns_who_holds_the_machine(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        with (
            pytest.raises(ExperimentLocked, match=r"envdyno ab nightly\.toml") as caught,
            experiment_lock("another", path=tmp_path / "lock"),
        ):
            pass
        assert caught.value.holder is not None
        assert caught.value.holder.pid == process.pid
        process.communicate()


def test_a_killed_experiment_leaves_no_lock(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    process.kill()
    process.communicate()
    with experiment_lock("next", path=tmp_path / "lock"):
        pass


def test_waiting_is_told_once_and_ends_with_the_other_experiment(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    told = []

    def end_the_other(holder: object) -> None:
        told.append(holder)
        process.communicate()

    with experiment_lock("next", wait_s=60.0, on_wait=end_the_other, path=tmp_path / "lock"):
        assert len(told) == 1


def test_waiting_in_vain_is_said(tmp_path: Path) -> None:
    with (
        experiment_lock("first", path=tmp_path / "lock"),
        pytest.raises(ExperimentLocked, match="of waiting"),
        experiment_lock("second", wait_s=0.6, path=tmp_path / "lock"),
    ):
        pass


def test_the_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in the middle"), experiment_lock("first", path=tmp_path / "lock"):
        raise ValueError("in the middle")
    with experiment_lock("second", path=tmp_path / "lock"):
        pass


def test_the_lock_file_is_for_all_users(tmp_path: Path) -> None:
    with experiment_lock("first", path=tmp_path / "lock"):
        assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666


def test_a_place_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("elsewhere")
    with pytest.raises(UsageError, match="cannot be taken"), experiment_lock("x", path=tmp_path / "lock"):
        pass


def test_the_place_is_where_the_file_is_else_where_it_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "absent", tmp_path / "there"
    second.mkdir()
    monkeypatch.setattr(module, "_FOLDERS", (first, second))
    assert lock_path() == second / "envdyno-experiment.lock"
    first.mkdir()
    (second / "envdyno-experiment.lock").touch()
    assert lock_path() == second / "envdyno-experiment.lock"
    monkeypatch.setattr(os, "access", lambda *_: False)
    (second / "envdyno-experiment.lock").unlink()
    assert lock_path().parent == second
