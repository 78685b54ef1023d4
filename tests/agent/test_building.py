from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_clock import FakeClock
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent import stages
from envdyno.agent.building import build_workload, extend_path, first_step, import_workload
from envdyno.agent.job import Job, Timing
from envdyno.agent.measure.actions import RING_BATCHES, ActionSource
from envdyno.agent.stages import Ledger, Stage
from envdyno.agent.workloads.contract import ArraySpec, BuildContext, WorkloadSpec
from envdyno.agent.workloads.registry import Resolved, WorkloadError

folders = st.lists(st.from_regex(r"/[a-z]{1,8}", fullmatch=True), max_size=4).map(tuple)
packages = st.sampled_from(["/v/site-packages", "/v/site-packages/", "/usr/lib/python3/dist-packages"])
standard = st.lists(
    st.sampled_from(["/p/agent", "/py/python311.zip", "/py/lib", "/py/lib-dynload"]), unique=True
)


@settings(max_examples=40)
@given(folders, standard, st.lists(packages, max_size=2), st.lists(st.just("/editable/src"), max_size=1))
def test_a_sides_folders_come_after_the_standard_library_and_before_what_is_installed(
    added: tuple[str, ...], library: list[str], installed: list[str], editable: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*library, *installed, *(editable if installed else [])])
        extend_path(added)
        assert sys.path == [*library, *added, *installed, *(editable if installed else [])]


def test_a_module_of_the_side_wins_over_an_installed_one_but_not_over_the_standard_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed, side = tmp_path / "site-packages", tmp_path / "side"
    for folder in (installed, side):
        folder.mkdir()
        for name in ("envdyno_test_engine", "colorsys"):
            (folder / f"{name}.py").write_text(f"WHERE = {folder.name!r}\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(installed)])
    for name in ("envdyno_test_engine", "colorsys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    extend_path((str(side),))
    assert importlib.import_module("envdyno_test_engine").WHERE == "side"
    assert not hasattr(importlib.import_module("colorsys"), "WHERE")
    del sys.modules["envdyno_test_engine"]


def job(**changes: Any) -> Job:
    """One worker's part of a run."""
    settings = {"worker": 1, "workers": 2, "workload": "mine:build", "num_envs": 4, "seed": 7, "cpus": (2, 3)}
    return Job(**{**settings, "threads": 2, **changes})


class Recorded:
    """A workload that remembers what it was given."""

    def __init__(self, spec: WorkloadSpec) -> None:
        self.spec = spec
        self.calls: list[Any] = []

    def reset(self) -> None:
        self.calls.append("reset")

    def step(self, actions: Any) -> int:
        self.calls.append(actions)
        return self.spec.num_envs


def test_a_workload_is_built_for_the_workers_share_and_brought_to_a_start_state() -> None:
    seen: dict[str, Any] = {}

    def build(num_envs: int, seed: int, context: BuildContext, speed: str) -> Recorded:
        seen.update(num_envs=num_envs, seed=seed, context=context, speed=speed)
        return Recorded(WorkloadSpec(num_envs))

    wanted = job(options={"speed": "high"}, timing=Timing.ATTRIBUTION)
    workload = build_workload(wanted, Resolved("mine", "mine:build"), build)
    assert seen == {
        "num_envs": 4,
        "seed": 7,
        "speed": "high",
        "context": BuildContext(1, 2, (2, 3), 2, attribution=True),
    }
    assert workload.step.__self__.calls == ["reset"]  # type: ignore[attr-defined]


def test_the_first_step_is_timed_apart_and_the_ring_goes_on_where_it_left_off(
    monkeypatch: pytest.MonkeyPatch, fake_clock: FakeClock
) -> None:
    monkeypatch.setattr(stages, "_current", Stage.START)
    workload = Recorded(WorkloadSpec(4, action=ArraySpec((2,))))
    built = build_workload(job(), Resolved("mine", "mine:build"), lambda num_envs, seed: workload)
    ledger = Ledger(lambda _stage: None, fake_clock.ns)
    stepping = first_step(job(actions=ActionSource.RANDOM), built, ledger, ())
    assert list(ledger.seconds) == ["first_step"]
    for _ in range(RING_BATCHES):
        stepping.stepper.once()
    _reset, first, *later = workload.calls
    assert len({id(batch) for batch in later}) == RING_BATCHES
    assert later[-1] is first
    assert later[0] is not first


def test_a_count_of_more_rows_than_there_are_is_refused_at_the_first_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stages, "_current", Stage.START)
    workload = Recorded(WorkloadSpec(4))
    workload.step = lambda actions: 5  # type: ignore[method-assign]
    built = build_workload(job(), Resolved("mine", "mine:build"), lambda num_envs, seed: workload)
    with pytest.raises(WorkloadError, match="5 of its 4 environments"):
        first_step(job(), built, Ledger(lambda _stage: None), ())


def test_a_workloads_module_imports_its_framework_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "envdyno_test_envs.py").write_text(
        "CALLS = []\n"
        "def import_framework(**options): CALLS.append(options)\n"
        "def build(num_envs, seed, engine): raise AssertionError('too early')\n"
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    wanted = job(workload="envdyno_test_envs:build", sys_path=(str(tmp_path),), options={"engine": "fast"})
    resolved, factory, probes = import_workload(wanted)
    assert (resolved.factory, factory.__name__, probes) == ("envdyno_test_envs:build", "build", None)
    assert sys.modules.pop("envdyno_test_envs").CALLS == [{"engine": "fast"}]
