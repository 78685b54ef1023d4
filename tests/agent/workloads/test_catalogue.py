"""What is listed of a workload is what it does, and what the page about adapters says."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from told_of import contradictions, registered

from envdyno.agent.workloads.catalogue import ADAPTERS
from envdyno.agent.workloads.registration import Registration, Tells
from envdyno.agent.workloads.registry import built_in
from envdyno.suite.catalogue import NEEDS, SUITE
from envdyno.suite.collectors.catalogue import COLLECTORS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adapters.md").read_text("utf-8")
GROUPS = {"suite tasks": SUITE, "suite collectors": COLLECTORS}
BY_NAME = {entry.name: entry for entry in built_in()}


def table() -> dict[str, list[str]]:
    """The table of what each can tell: cells without markup, by what stands in the first column."""
    (block,) = re.findall(r"^## What each can tell\n\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", block).replace("`", "")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in plain.splitlines()]
    return {row[0]: row[1:] for row in rows if row[0] != "---"}


def cells(entry: Registration, columns: list[str]) -> list[str]:
    """What the table has to say of a workload."""
    told = {one.what.value: one.where or "yes" for one in entry.tells}
    return [told.get(column, "-") for column in columns]


def test_the_page_says_of_each_workload_what_the_list_says() -> None:
    rows = table()
    columns = rows.pop("")
    assert set(columns) == {one.value for one in Tells}
    named: set[str] = set()
    for name, row in rows.items():
        for entry in GROUPS.get(name) or [BY_NAME[one] for one in name.split(", ")]:
            assert row == cells(entry, columns), entry.name
            named.add(entry.name)
    assert named == {entry.name for entry in (*ADAPTERS, *SUITE, *COLLECTORS)}


def test_everything_that_comes_with_envdyno_says_what_it_tells() -> None:
    assert [entry.name for entry in built_in() if not entry.tells] == []


@pytest.mark.parametrize(
    ("adapter", "words"),
    [
        ("gymnasium", "Gymnasium {} and newer"),
        ("envpool", "EnvPool {} and newer"),
        ("motrixlab", "motrix-env-core {} and newer"),
    ],
)
def test_the_page_names_the_oldest_versions_that_the_adapters_take(adapter: str, words: str) -> None:
    assert words.format(BY_NAME[adapter].requires[0].at_least) in PAGE


def test_the_page_and_the_list_agree_on_how_fast_mjlab_is_on_a_cpu() -> None:
    speed = r"some (\d+) transitions in a CPU second"
    assert re.findall(speed, PAGE) == re.findall(speed, " ".join(BY_NAME["mjlab"].limits)) != []


@pytest.mark.parametrize(
    "entry", [entry for entry in built_in() if entry.requires], ids=lambda entry: entry.name
)
def test_the_line_that_installs_something_asks_for_what_is_new_enough(entry: Registration) -> None:
    assert "envdyno" not in entry.install, "nothing of envdyno belongs into the interpreter under test"
    for needed in entry.requires:
        if needed.at_least and needed.distribution in entry.install:
            assert f">={needed.at_least}" in entry.install or ">=" not in entry.install
    assert not re.search(r"(^| )[^' ]*[\[>]", entry.install.replace("https://", "")), "a shell reads [ and >"


def test_the_suite_needs_the_versions_that_envdyno_itself_asks_for() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for requirements in NEEDS.values():
        for needed in requirements:
            assert f'"{needed.distribution}>={needed.at_least}"' in project


@pytest.mark.parametrize(
    "workload",
    [
        "synthetic",
        "mujoco_rollout:go2",
        "go2_joystick_flat/mujoco",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("motrixsim:go2", "g1_walk_flat/motrix", "sac/g1_walk_flat/mujoco")
        ),
    ],
)
def test_a_workload_tells_what_the_list_says(workload: str, tmp_path: Path) -> None:
    if "motrix" in workload and importlib.util.find_spec("motrixsim") is None:
        pytest.skip("needs MotrixSim")
    command = [sys.executable, "-m", "envdyno", "check", workload, "-n", "4", "--steps", "10", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    assert contradictions(workload, found) == []


@pytest.mark.parametrize("workload", ["go2_joystick_flat/mujoco", "mujoco_rollout:go2"])
def test_contradictions_are_found(workload: str) -> None:
    nothing = {"lacks": [], "spec": {"autoreset": "same_step", "substeps": 1}, "findings": []}
    assert contradictions(workload, nothing)
    assert registered(workload).tells
