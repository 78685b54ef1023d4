"""``--assets DIR`` is the workload's option ``assets``, whatever the folder is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.cli.ab import ab
from envdyno.cli.ab_options import load
from envdyno.cli.assets import with_assets
from envdyno.cli.main import run_command
from envdyno.cli.values import parse_pairs

SHOWS = (
    "from pathlib import Path\n"
    "class Work:\n"
    "    def step(self, actions):\n"
    "        return 2\n"
    "def build(num_envs, seed, assets):\n"
    "    Path('seen').write_text(assets)\n"
    "    return Work()\n"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a workload that writes down which assets it got, and a folder of assets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shows.py").write_text(SHOWS)
    (tmp_path / "my assets").mkdir()
    return tmp_path


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_any_name_of_a_folder_is_taken_to_the_letter(name: str) -> None:
    folder = Path("/") / name
    assert parse_pairs(with_assets(("a=1",), folder)) == {"a": 1, "assets": str(folder)}
    assert with_assets(("a=1",), None) == ("a=1",)


@pytest.mark.parametrize(
    "verb", [("run", "--duration", "0.1s", "--warmup", "1", "-q"), ("check", "--steps", "2")]
)
def test_a_workload_gets_the_folder_as_an_absolute_path(verb: tuple[str, ...], here: Path) -> None:
    assert run_command([verb[0], "shows:build", "-n", "2", "--assets", "my assets", *verb[1:]]) == 0
    assert (here / "seen").read_text() == str(here / "my assets")


def test_every_side_of_an_experiment_gets_the_folder(here: Path) -> None:
    words = ["shows:build", "--aa", "--side", "one=current", "--side", "two=current", "--assets", "my assets"]
    loaded = load(ab.make_context("ab", words).params)
    assert loaded.plan.options == {"assets": str(here / "my assets")}


def test_a_workload_that_takes_no_assets_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "synthetic", "-n", "2", "--assets", "my assets", "-q"]) == 2
    assert "'synthetic' has no option 'assets'" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "check", "ab", "plan"])
def test_a_folder_that_is_not_there_is_a_usage_error(
    verb: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "file").touch()
    assert run_command([verb, "shows:build", "--assets", "nowhere"]) == 2
    assert "'nowhere' does not exist" in capsys.readouterr().err
    assert run_command([verb, "shows:build", "--assets", "file"]) == 2
    assert "'file' is a file" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "check", "ab"])
def test_assets_that_are_given_twice_are_a_usage_error(
    verb: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--assets", "my assets", "-o", f"assets={json.dumps(str(here))}"]
    assert run_command([verb, "shows:build", *words]) == 2
    assert "assets" in capsys.readouterr().err
