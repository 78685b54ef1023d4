"""A name from an entry point opens a family where its factory takes a target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from registered_package import install_package

from envdyno.agent.workloads.named_factory import inspect_entry_point, named_factory
from envdyno.agent.workloads.registration import Naming
from envdyno.agent.workloads.registry import Resolved, WorkloadError, resolve


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers workloads."""
    install_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


@pytest.mark.parametrize("name", ["fam:small", "fam:name/space:small", "either:small", "either", "one"])
def test_what_an_entry_point_can_stand_for_is_imported(name: str) -> None:
    resolved, factory = named_factory(name)
    target = name.partition(":")[2]
    assert (resolved.name, resolved.target) == (name, target or None)
    assert resolved.factory == f"fam_pkg.envs:{factory.__name__}"


def test_a_family_without_a_member_asks_which_one() -> None:
    with pytest.raises(WorkloadError, match=r"'fam' opens a family .* as fam:NAME"):
        named_factory("fam")


def test_one_workload_cannot_be_asked_for_a_member() -> None:
    with pytest.raises(WorkloadError, match=r"'one' is one workload and no family: .* no parameter 'target'"):
        named_factory("one:small")


def test_a_factory_in_a_package_that_bears_the_name_of_its_entry_point_can_be_had() -> None:
    resolved, factory = named_factory("fam_pkg:plain")
    assert resolved == Resolved("fam_pkg:plain", "fam_pkg:plain")
    assert factory.__name__ == "plain"


def test_built_in_families_and_own_factories_are_named_as_ever() -> None:
    assert named_factory("synthetic")[0] == resolve("synthetic")
    assert named_factory("fam_pkg.envs:one")[0] == Resolved("fam_pkg.envs:one", "fam_pkg.envs:one")
    assert named_factory("mujoco_rollout:go2")[0].target == "go2"


@pytest.mark.parametrize(
    ("name", "naming"), [("fam", Naming.PREFIX), ("either", Naming.PREFIX), ("one", Naming.EXACT)]
)
def test_the_factory_tells_whether_a_name_opens_a_family(name: str, naming: Naming) -> None:
    assert inspect_entry_point(name) == (naming, "")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone", "no module 'fam_pkg.nowhere'"),
        ("breaks", "RuntimeError: no display"),
        ("no_factory", "has no attribute ''"),
        ("no name", "'not a module'"),
    ],
)
def test_what_cannot_be_imported_is_told_with_its_reason(name: str, reason: str) -> None:
    assert reason in inspect_entry_point(name).broken


@pytest.mark.parametrize("name", ["fan", "fan:small"])
def test_a_name_that_this_interpreter_does_not_know_names_the_interpreter(name: str) -> None:
    with pytest.raises(WorkloadError, match="has no entry point") as caught:
        named_factory(name)
    assert sys.executable in str(caught.value)
