"""The cache: an entry is complete or absent, also when processes meet or die."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.problems import SideError
from envdyno.sides.store import READY, Kind, Store, discard_folder

BUILDER = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from envdyno.sides.store import Kind, Store, discard_folder

class Recipe:
    kind, key, title = Kind.TREES, "one", "a thing"
    def build(self, path):
        with open(sys.argv[2], "a") as log:
            log.write("begin\\n")
        (path / "content").write_text("half")
        time.sleep(float(sys.argv[3]))
        (path / "content").write_text("whole")
        return {}
    def fault(self, path, facts):
        return None
    def discard(self, path):
        discard_folder(path)

print("ready", flush=True)
with ExitStack() as leases:
    entry = Store(Path(sys.argv[1])).lease(Recipe(), leases)
    print((entry.path / "content").read_text(), flush=True)
"""


class Recipe:
    """Counts how often it was built."""

    kind = Kind.TREES
    title = "a thing"

    def __init__(self, key: str = "one", error: Exception | None = None) -> None:
        self.key = key
        self.builds = 0
        self.error = error
        self.bad: str | None = None

    def build(self, path: Path) -> Mapping[str, Any]:
        assert list(path.iterdir()) == []
        self.builds += 1
        (path / "content").write_text("half")
        if self.error is not None:
            raise self.error
        self.bad = None
        return {"built": self.builds}

    def fault(self, path: Path, facts: Mapping[str, Any]) -> str | None:
        return self.bad

    def discard(self, path: Path) -> None:
        discard_folder(path)


def test_an_entry_is_built_once_and_used_again(tmp_path: Path) -> None:
    recipe = Recipe()
    with ExitStack() as leases:
        first = Store(tmp_path).lease(recipe, leases)
        second = Store(tmp_path).lease(recipe, leases)
    assert recipe.builds == 1
    assert first.generation == second.generation
    assert first.facts == {"built": 1}


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    with ExitStack() as leases, pytest.raises(ValueError, match="no"):
        Store(tmp_path).lease(Recipe(error=ValueError("no")), leases)
    assert not (tmp_path / "trees" / "one").exists()
    again = Recipe()
    with ExitStack() as leases:
        Store(tmp_path).lease(again, leases)
    assert again.builds == 1


def test_a_half_built_entry_is_never_used(tmp_path: Path) -> None:
    half = tmp_path / "trees" / "one"
    half.mkdir(parents=True)
    (half / "content").write_text("half")
    recipe = Recipe()
    with ExitStack() as leases:
        Store(tmp_path).lease(recipe, leases)
    assert recipe.builds == 1


def test_a_build_that_is_killed_is_done_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "home"), str(log)]
    with subprocess.Popen([*command, "300"], stdout=subprocess.PIPE, text=True) as process:
        while not (log.exists() and log.read_text()):
            assert process.poll() is None
        process.kill()
    done = subprocess.run([*command, "0"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["ready", "whole"]
    assert log.read_text() == "begin\nbegin\n"


def test_two_processes_at_once_build_one_entry(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "home"), str(log), "0.5"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    assert outputs == ["ready\nwhole\n"] * 3
    assert log.read_text() == "begin\n"


def test_an_entry_that_has_changed_is_built_anew_and_says_why(tmp_path: Path) -> None:
    recipe = Recipe()
    told: list[str] = []
    store = Store(tmp_path, told.append)
    with ExitStack() as leases:
        first = store.lease(recipe, leases)
    recipe.bad = "a file was changed"
    with ExitStack() as leases:
        second = store.lease(recipe, leases)
    assert second.generation != first.generation
    assert "a file was changed" in told[0]


def test_an_entry_in_use_is_not_rebuilt_under_its_user(tmp_path: Path) -> None:
    recipe = Recipe()
    with ExitStack() as running, ExitStack() as second:
        Store(tmp_path).lease(recipe, running)
        recipe.bad = "a file was changed"
        with pytest.raises(SideError, match="held by another process"):
            Store(tmp_path, wait_s=0.2).lease(recipe, second)
    assert recipe.builds == 1


def test_a_recipe_that_never_holds_is_given_up(tmp_path: Path) -> None:
    class Restless(Recipe):
        def fault(self, path: Path, facts: Mapping[str, Any]) -> str | None:
            return "it changes all the time"

    with ExitStack() as leases, pytest.raises(SideError, match="never stayed usable"):
        Store(tmp_path).lease(Restless(), leases)


def test_a_marker_that_cannot_be_read_means_a_new_build(tmp_path: Path) -> None:
    recipe = Recipe()
    with ExitStack() as leases:
        entry = Store(tmp_path).lease(recipe, leases)
    for text in ("", "[]", json.dumps({"facts": {}})):
        (entry.path / READY).write_text(text)
        with ExitStack() as leases:
            Store(tmp_path).lease(recipe, leases)
    assert recipe.builds == 4


def test_entries_are_listed_and_removed_unless_in_use(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "trees" / "half").mkdir(parents=True)
    with ExitStack() as leases:
        store.lease(Recipe("used"), leases)
        with ExitStack() as ended:
            store.lease(Recipe("unused"), ended)
        entries = {entry.key: entry for entry in store.entries()}
        assert {key: entry.complete for key, entry in entries.items()} == {
            "half": False,
            "unused": True,
            "used": True,
        }
        assert not store.remove(entries["used"], discard_folder)
        assert store.remove(entries["unused"], discard_folder)
    assert not entries["unused"].path.exists()
    assert entries["used"].path.exists()
