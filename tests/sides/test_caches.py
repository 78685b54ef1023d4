"""Compiled code of one side is out of the other's reach; downloads stay where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdyno.sides.caches import (
    CACHES,
    CacheDir,
    Choice,
    OwnFolder,
    Scope,
    When,
    cache_dirs,
    refuse_shared,
)
from envdyno.sides.problems import SideError


def given(
    tmp_path: Path, key: str = "a", caller: dict[str, str] | None = None, side: dict[str, str] | None = None
) -> dict[str, CacheDir]:
    environ = {"HOME": str(tmp_path), **(caller or {})}
    own = {scope: OwnFolder(tmp_path / key / scope.value, key) for scope in Scope}
    return {cache.variable: cache for cache in cache_dirs(own, environ, side or {})}


def test_two_sides_share_nothing(tmp_path: Path) -> None:
    first, second = given(tmp_path, "a"), given(tmp_path, "b")
    assert {cache.path for cache in first.values()} & {cache.path for cache in second.values()} == set()
    refuse_shared("a", tuple(first.values()), "b", tuple(second.values()))


def test_bytecode_and_every_kernel_cache_has_its_folder(tmp_path: Path) -> None:
    found = given(tmp_path)
    wanted = {cache.variable for cache in CACHES if cache.when is When.ALWAYS}
    assert set(found) == wanted
    assert {"PYTHONPYCACHEPREFIX", "NUMBA_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME"} <= wanted
    for cache in found.values():
        assert (cache.path.parent if cache.path.suffix else cache.path).is_dir()
        assert cache.choice is Choice.OWN


def test_a_folder_of_the_callers_is_divided_and_its_value_recorded(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    caller = {"NUMBA_CACHE_DIR": str(scratch), "UNISIM_CHUNK_SIZE_CACHE": str(scratch / "chunks.json")}
    first, second = given(tmp_path, "a", caller), given(tmp_path, "b", caller)
    assert first["NUMBA_CACHE_DIR"].path == scratch / "envdyno-a"
    assert first["UNISIM_CHUNK_SIZE_CACHE"].path == scratch / "envdyno-a.json"
    assert first["NUMBA_CACHE_DIR"].choice is Choice.BELOW_CALLER
    assert first["NUMBA_CACHE_DIR"].to_json()["caller_value"] == str(scratch)
    refuse_shared("a", tuple(first.values()), "b", tuple(second.values()))


def test_a_folder_of_the_callers_that_cannot_be_written_is_not_used(tmp_path: Path) -> None:
    found = given(tmp_path, caller={"NUMBA_CACHE_DIR": "/proc/numba"})
    assert found["NUMBA_CACHE_DIR"].choice is Choice.OWN
    assert found["NUMBA_CACHE_DIR"].caller_value == "/proc/numba"


def test_a_cache_that_is_off_by_default_stays_off(tmp_path: Path) -> None:
    assert "JAX_COMPILATION_CACHE_DIR" not in given(tmp_path)
    caller = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    assert given(tmp_path, caller=caller)["JAX_COMPILATION_CACHE_DIR"].choice is Choice.BELOW_CALLER


def test_the_callers_xdg_folder_is_not_divided_for_our_own_is_below_it_already(tmp_path: Path) -> None:
    found = given(tmp_path, caller={"XDG_CACHE_HOME": str(tmp_path / "xdg")})
    assert found["XDG_CACHE_HOME"].choice is Choice.OWN
    assert found["XDG_CACHE_HOME"].caller_value == str(tmp_path / "xdg")


def test_what_the_plan_sets_for_a_side_wins(tmp_path: Path) -> None:
    found = given(tmp_path, side={"WARP_CACHE_PATH": str(tmp_path / "mine")})
    assert found["WARP_CACHE_PATH"].path == tmp_path / "mine"
    assert found["WARP_CACHE_PATH"].choice is Choice.SIDE


def test_a_cache_that_the_plan_gives_to_both_sides_is_refused(tmp_path: Path) -> None:
    shared = {"NUMBA_CACHE_DIR": str(tmp_path / "shared")}
    first, second = given(tmp_path, "a", side=shared), given(tmp_path, "b", side=shared)
    with pytest.raises(SideError, match="NUMBA_CACHE_DIR"):
        refuse_shared("a", tuple(first.values()), "b", tuple(second.values()))


def test_downloads_are_not_fetched_again_because_the_cache_moved(tmp_path: Path) -> None:
    (tmp_path / ".cache" / "huggingface").mkdir(parents=True)
    first, second = given(tmp_path, "a"), given(tmp_path, "b")
    assert first["HF_HOME"].path == tmp_path / ".cache" / "huggingface"
    assert first["HF_HOME"].choice is Choice.KEPT
    refuse_shared("a", tuple(first.values()), "b", tuple(second.values()))
    assert "HF_HOME" not in given(tmp_path, caller={"HF_HOME": "/elsewhere"})


def test_a_cache_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(SideError, match="PYTHONPYCACHEPREFIX"):
        given(tmp_path)
