"""The cache folder is one that can be written, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdyno.sides import cache_home as module
from envdyno.sides.cache_home import cache_home
from envdyno.sides.problems import SideError


def test_the_users_own_choice_comes_first(tmp_path: Path) -> None:
    environ = {"ENVDYNO_CACHE_DIR": str(tmp_path / "mine"), "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    assert cache_home(environ).path == tmp_path / "mine"


def test_xdg_comes_before_home_and_a_relative_one_is_ignored(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    assert cache_home(environ).path == tmp_path / "xdg" / "envdyno"
    assert cache_home({**environ, "XDG_CACHE_HOME": "xdg"}).path == tmp_path / ".cache" / "envdyno"


def test_a_home_that_cannot_be_written_leads_to_a_private_folder_with_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").write_text("")
    found = cache_home({"HOME": str(tmp_path / "file")})
    assert found.path.parent == tmp_path
    assert found.path.stat().st_mode & 0o077 == 0
    assert "ENVDYNO_CACHE_DIR" in (found.notice or "")


def test_a_private_folder_that_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    planted = tmp_path / f"envdyno-{module.os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    with pytest.raises(SideError, match="can be written by others"):
        cache_home({"HOME": "/dev/null"})


def test_a_chosen_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SideError, match="ENVDYNO_CACHE_DIR is"):
        cache_home({"ENVDYNO_CACHE_DIR": str(tmp_path / "file" / "below")})
