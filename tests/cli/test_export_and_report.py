"""The verbs that write reports and exports: where they write, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_bundles import failing, missing_case, one_run

from envdyno.cli.export import FORMATS as OFFERED
from envdyno.cli.main import VERBS, run_command
from envdyno.export.formats import FORMATS
from envdyno.record.status import Status


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """The folder of a bundle in which one case failed."""
    failing().write(tmp_path / "bundle")
    return str(tmp_path / "bundle")


def test_every_format_is_offered() -> None:
    assert tuple(FORMATS) == OFFERED


@pytest.mark.parametrize("verb", ["show", "report", "export", "history", "replay", "pack"])
def test_the_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb in VERBS
    assert run_command([verb, "--help"]) == 0
    assert "Usage: envdyno" in capsys.readouterr().out


def test_a_file_is_replaced_whole(bundle: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old and longer than what comes" * 1000)
    assert run_command(["export", bundle, "-f", "bencher", "--out", str(target)]) == 0
    assert json.loads(target.read_text())
    assert not list(tmp_path.glob("*.partial"))


def test_a_place_that_cannot_be_written_is_a_sentence(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["export", bundle, "-f", "csv"], ["report", bundle, "--md"]):
        assert run_command([*command, "--out", str(tmp_path / "no" / "where")]) == 2
        assert "cannot be written" in capsys.readouterr().err


def test_a_side_that_is_not_there_is_named_with_those_that_are(
    bundle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["export", bundle, "-f", "go", "--side", "hed"]) == 2
    assert "no side hed; it has base, head" in capsys.readouterr().err


def test_one_side_is_exported_by_itself(bundle: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run_command(["export", bundle, "-f", "go", "--side", "head"]) == 0
    out = capsysbinary.readouterr().out
    assert b"/side=head" in out
    assert b"/side=base" not in out


def test_a_case_without_a_figure_is_named_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing_case().write(tmp_path / "bundle")
    target = ["--out", str(tmp_path / "x")]
    assert run_command(["export", str(tmp_path / "bundle"), "-f", "github-action", *target]) == 0
    assert "no figure for sac/g1_walk_flat/mujoco [base]" in capsys.readouterr().err


def test_nothing_to_export_is_an_error_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = one_run()
    lost = {"status": Status.KILLED, "throughput": None, "totals": None, "workers": ()}
    made._replace(records=(made.records[0].model_copy(update=lost),)).write(tmp_path / "bundle")
    assert run_command(["export", str(tmp_path / "bundle"), "-f", "prometheus"]) == 2
    assert "no figure to export" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change", [{"placement": {}}, {"placement": {"node": 0, "cpus": 7}}, {"outcome": {"cpu": 3}}]
)
def test_a_record_whose_open_parts_do_not_fit_is_refused_in_a_sentence(
    change: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = one_run()
    workers = tuple(worker.model_copy(update=change) for worker in made.records[0].workers)
    made._replace(records=(made.records[0].model_copy(update={"workers": workers}),)).write(
        tmp_path / "bundle"
    )
    assert run_command(["show", str(tmp_path / "bundle")]) == 2
    assert "does not fit together" in capsys.readouterr().err
