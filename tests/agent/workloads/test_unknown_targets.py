"""A target that a framework does not have is met with those of its own names that are near."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.options import choice, one_of, refusing_values
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.torchrl import Batching

CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)
IDS = {"Ant-v5": None, "CartPole-v1": None, "fast": None, "PushCube-v1": None}
GYMNASIUM = SimpleNamespace(registry=IDS)
FAKES = {
    "brax": SimpleNamespace(_envs=IDS),
    "playground": SimpleNamespace(registry=SimpleNamespace(ALL_ENVS=tuple(IDS))),
    "mjlab": SimpleNamespace(list_tasks=lambda: list(IDS)),
    "motrixlab": SimpleNamespace(contains=IDS.__contains__, list_registered_envs=lambda: IDS),
    "envpool": SimpleNamespace(__version__="1.3", list_all_envs=lambda: list(IDS)),
    "torchrl": GYMNASIUM,
    "pufferlib": GYMNASIUM,
    "maniskill": GYMNASIUM,
    "isaaclab": GYMNASIUM,
}


@pytest.mark.parametrize("adapter", FAKES)
@pytest.mark.parametrize(
    ("wrong", "meant"), [("CartPol-v1", "CartPole-v1"), ("Ant-v6", "Ant-v5"), ("fats", "fast")]
)
def test_a_misspelt_target_is_met_with_the_near_names_of_the_framework(
    adapter: str, wrong: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = refusal(adapter, wrong, monkeypatch)
    assert f"no environment {wrong!r}. Did you mean {meant}" in said.replace("no task", "no environment")


@pytest.mark.parametrize("adapter", FAKES)
def test_a_target_that_is_like_nothing_is_met_with_no_guess(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Did you mean" not in refusal(adapter, "zzz", monkeypatch)


def test_the_line_that_shows_envpools_tasks_names_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"{sys.executable} -c" in refusal("envpool", "zzz", monkeypatch)


def refusal(adapter: str, target: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what an adapter says of a target; its framework is a stand-in that has names only."""

    def load(self: Framework, module: str = "") -> Any:
        return FAKES[adapter]

    monkeypatch.setattr(Framework, "load", load)
    build = importlib.import_module(f"envdyno.agent.workloads.{adapter}").build
    context = {} if adapter in ("maniskill", "isaaclab") else {"context": CONTEXT}
    with pytest.raises(WorkloadError) as caught:
        build(4, 0, target, **context)
    return str(caught.value)


def test_a_misspelt_value_of_an_option_is_met_with_what_is_near() -> None:
    with pytest.raises(WorkloadError, match=r"it has: serial, parallel\. Did you mean parallel\?"):
        choice("torchrl", "batching", "paralel", Batching)
    with pytest.raises(WorkloadError, match=r"Did you mean mujoco\?"):
        one_of("robot", "engine", "mujco", ["mujoco", "motrix"])


def test_of_several_options_the_one_that_is_not_taken_is_named() -> None:
    def make(gravity: float, mass: float) -> None: ...

    given: dict[str, Any] = {"gravity": 9.81, "mass": 1.0, "batch_sise": 3}
    with (
        pytest.raises(WorkloadError, match=r"^gym:Ant has no option 'batch_sise': "),
        refusing_values("gym:Ant", given),
    ):
        make(**given)


def test_where_nobody_says_which_option_is_at_fault_all_are_named() -> None:
    given = {"gravity": "up", "mass": 1.0}
    with (
        pytest.raises(WorkloadError, match=r"cannot be made with gravity='up', mass=1\.0: ValueError"),
        refusing_values("gym:Ant", given),
    ):
        float(str(given["gravity"]))
