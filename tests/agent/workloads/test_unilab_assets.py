"""Which asset an error of UniLab's is about, and the folder in which it looks."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab_assets import WorkingFolder, missing_asset

CLIPS = {"env": {"commands": {"motion": {"params": {"motion_file": ["motions/a.npz", "motions/b.npz"]}}}}}


class LocalEntryNotFoundError(Exception):
    """Named as the hub's."""


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of assets, beside the folder to be in."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    (tmp_path / "assets" / "robots").mkdir(parents=True)
    (tmp_path / "assets" / "motions").mkdir()
    (tmp_path / "assets" / "motions" / "a.npz").touch()
    return tmp_path / "assets"


def test_a_clip_that_the_hub_does_not_name_is_taken_from_the_configuration(assets: Path) -> None:
    folder = WorkingFolder(Path("unused"), str(assets))
    found = missing_asset(LocalEntryNotFoundError("An error happened."), CLIPS, folder)
    assert found == str(assets / "motions" / "b.npz")
    folder.close()


@pytest.mark.parametrize("kind", [ValueError, RuntimeError])
@pytest.mark.parametrize(
    "text",
    [
        "Error opening file 'x/base_0.obj'",
        "Asset file 'x' not found in primary path",
        "asset `x` was not found",
    ],
)
def test_a_mesh_is_named_by_the_engine(kind: type[Exception], text: str, assets: Path) -> None:
    folder = WorkingFolder(Path("unused"), str(assets))
    assert missing_asset(kind(text + "."), {}, folder) == text
    folder.close()


def test_a_cause_counts_as_much_as_what_it_caused(assets: Path) -> None:
    folder = WorkingFolder(Path("unused"), str(assets))
    error = RuntimeError("cannot build")
    error.__cause__ = FileNotFoundError("scene.xml")
    assert missing_asset(error, {}, folder) == "scene.xml"
    folder.close()


@pytest.mark.parametrize(
    "error", [ValueError("std is not known"), TypeError("asset not found"), KeyError("x")]
)
def test_other_errors_are_not_about_assets(error: Exception, assets: Path) -> None:
    folder = WorkingFolder(Path("unused"), str(assets))
    assert missing_asset(error, CLIPS, folder) is None
    folder.close()


@pytest.mark.parametrize(
    "text",
    [
        "Error: Error opening file '/x/robots/go2/hip.obj'",
        "asset `hip.obj` was not found at the primary path",
    ],
)
def test_a_mesh_is_named_where_its_model_wants_it_with_the_number_of_others(text: str, assets: Path) -> None:
    robot = assets / "robots" / "go2"
    (robot / "assets").mkdir(parents=True)
    (robot / "assets" / "there.obj").touch()
    (robot / "another.xml").write_text('<mesh file="base.obj"/>')
    files = "".join(f'<mesh name="m" file="{name}.obj"/>' for name in ("hip", "base", "foot", "there"))
    (robot / "go2.xml").write_text(f'<mujoco><compiler meshdir="assets"/>{files}</mujoco>')
    folder = WorkingFolder(Path("unused"), str(assets))
    found = missing_asset(RuntimeError(text), {}, folder)
    assert found == f"{robot / 'assets' / 'hip.obj'}, and 2 more that go2.xml names"
    folder.close()


def test_a_file_is_named_where_the_user_has_it_not_where_it_is_linked(assets: Path) -> None:
    folder = WorkingFolder(Path("unused"), str(assets))
    linked = Path.cwd() / "src" / "unilab" / "assets" / "robots" / "go2" / "base_0.obj"
    named = missing_asset(FileNotFoundError(f"no file {linked}"), {}, folder)
    assert named == f"no file {assets / 'robots' / 'go2' / 'base_0.obj'}"
    folder.close()


def test_the_folder_is_left_and_removed(assets: Path) -> None:
    home = Path.cwd()
    folder = WorkingFolder(Path("unused"), str(assets))
    made = Path.cwd()
    assert (made / "src/unilab/assets").resolve() == assets
    folder.close()
    assert (Path.cwd(), made.exists(), assets.is_dir()) == (home, False, True)


def test_a_folder_that_was_forgotten_is_removed_without_leaving_the_next_one(assets: Path) -> None:
    forgotten: Any = WorkingFolder(Path("unused"), str(assets))
    made = Path.cwd()
    folder = WorkingFolder(Path("unused"), str(assets))
    there = Path.cwd()
    del forgotten
    gc.collect()
    assert (made.exists(), Path.cwd()) == (False, there)
    folder.close()


def test_a_checkout_is_run_where_it_is(assets: Path) -> None:
    checkout = Path.cwd()
    (checkout / "src" / "unilab" / "assets").mkdir(parents=True)
    folder = WorkingFolder(Path("unused"), None)
    assert (folder.assets, Path.cwd()) == (checkout / "src" / "unilab" / "assets", checkout)
    folder.close()
    assert Path.cwd() == checkout
    with pytest.raises(WorkloadError, match=r"no folder .*motions/robots"):
        WorkingFolder(Path("unused"), str(assets / "motions"))
