"""The answer of a sweep, for people and for programs."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from made_bundles import Made
from made_sweeps import GRID, WORKLOAD, scouted, swept

from envdyno.cli.main import run_command
from envdyno.cli.show_verbs import material_lines
from envdyno.experiment.sweep_judging import answer_of
from envdyno.export.junit import junit_text
from envdyno.export.series import series_of
from envdyno.record.setting import Setting
from envdyno.report.glyphs import ASCII
from envdyno.report.history import history_of
from envdyno.report.html.page import html_page
from envdyno.report.markdown import markdown_text
from envdyno.report.sweep_json import answer_json
from envdyno.report.sweeps import sweeps_of

GOLDEN = Path(__file__).parent / "golden"
TOO_MANY = "32 threads with 1 worker a node: a worker has 16 CPUs there."


def grid() -> Made:
    """A sweep with settings that cannot be, one that fails, and runs beside other work."""
    impossible = {Setting(size, 1, 32).case_name(WORKLOAD): TOO_MANY for size in (1024, 2048)}
    return swept(impossible=impossible, disturbed=5)


def said(made: Made, width: int = 80) -> str:
    return " ".join(" ".join(material_lines(made.material(), width)).split())


@pytest.mark.parametrize("kind", ["terminal.txt", "md"])
def test_the_answer_is_the_golden_text(kind: str) -> None:
    """Set ENVDYNO_RENEW_GOLDEN=1 to write the files anew; then read the difference."""
    material = grid().material()
    text = markdown_text(material) if kind == "md" else "\n".join(material_lines(material, 80)) + "\n"
    path = GOLDEN / f"grid.{kind}"
    if os.environ.get("ENVDYNO_RENEW_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_it_fits_80_columns_and_an_ascii_terminal() -> None:
    lines = material_lines(grid().material(), 80)
    assert max(map(len, lines)) <= 80
    assert ASCII.fit("\n".join(lines)).isascii()


def test_a_wide_terminal_gets_every_column() -> None:
    assert "per CPU-s" in said(grid(), 120)
    assert "per CPU-s" not in said(grid(), 80)


def test_every_setting_says_how_many_of_its_runs_count() -> None:
    text = said(grid())
    assert text.count("3 of 3") == len(GRID)
    assert text.count("0 of 3") == 1


def test_settings_that_cannot_be_and_that_failed_are_named_with_the_reason() -> None:
    text = said(grid())
    assert f"2 settings of the grid cannot be. {TOO_MANY}" in text
    assert "8,192 envs, 2 workers a node, 8 threads: not measured." in text


def test_two_repeats_decide_nothing_and_say_what_would() -> None:
    text = said(swept(repeats=2, failing=()))
    assert "undecided. Highest so far: " in text
    assert "Two runs of a setting cannot tell a difference from noise" in text
    assert "--repeats 3" in text
    assert "best here" not in text
    assert "> highest so far" in text


def test_runs_that_are_missing_are_asked_for_rather_than_more_repeats() -> None:
    made = swept(failing=())
    first_block = tuple(one for one in made.records if one.experiment and one.experiment.pair == 1)
    text = said(made._replace(records=first_block))
    assert "One run of a setting cannot tell" in text
    assert "Make the runs that are missing: --resume" in text


def test_a_sweep_in_which_nothing_was_measured_says_so() -> None:
    assert "No setting was measured" in said(swept({}))


def test_a_sweep_that_ended_while_scouting_has_no_table() -> None:
    made = swept({}, failing=())
    records = scouted({64: 1e4, 128: 2e4, 256: 2.05e4, 512: None})
    lines = material_lines(Made(made.head, tuple(records)).material(), 80)
    assert "No setting was measured" in " ".join(lines)
    assert "scouting: 64 to 256 envs, once each; knee at 128 envs" in lines
    assert "WxT" not in " ".join(lines)


def test_the_json_holds_the_answer_and_every_setting() -> None:
    made = grid()
    assert made.head is not None
    body = json.loads(answer_json(answer_of(made.head, made.records)))
    assert body["schema"] == "envdyno.sweep/1"
    assert body["decided"] is True
    assert body["best"] == {"num_envs": 8192, "workers_per_node": 1, "threads": 16}
    assert body["cheapest"] == {"num_envs": 4096, "workers_per_node": 1, "threads": 16}
    assert len(body["settings"]) == len(GRID) + 1
    by_standing = {one["standing"] for one in body["settings"]}
    assert by_standing == {"best", "equal", "slower", "not_measured"}
    failed = next(one for one in body["settings"] if one["standing"] == "not_measured")
    assert failed["transitions_per_s"] is None
    assert failed["failure"]
    assert {"workers_per_node": 1, "threads": 16, "num_envs": 4096} in body["knees"]


def test_the_page_has_the_answer_and_one_curve_for_each_spread() -> None:
    text = html_page(grid().material())
    assert "best here: 8,192 envs" in text
    assert f"sweep of {WORKLOAD}" in text
    assert "The ring on each curve is its knee" in text
    for label in ("1 worker x 8 threads", "1 worker x 16 threads", "2 workers x 8 threads"):
        assert label in text


def test_scouting_runs_are_no_part_of_a_curve() -> None:
    made = grid()
    (with_scouting,) = sweeps_of([*scouted({64: 9e4, 128: 9e4, 256: 9e4}), *made.records])
    (without,) = sweeps_of(made.records)
    assert with_scouting.curves == without.curves


def test_junit_has_every_run_of_a_sweep_and_the_failed_ones_as_errors() -> None:
    material = grid().material()
    root = ET.fromstring(junit_text(material))
    assert root.get("tests") == str(len(material.records))
    assert len(root.findall(".//error")) + len(root.findall(".//failure")) == 3


def test_exports_and_histories_keep_settings_apart() -> None:
    material = grid().material()
    assert len(series_of(material)) == len(GRID)
    assert {one.case for one in history_of([material])} >= {one.case_name(WORKLOAD) for one in GRID}


def test_a_gate_refuses_a_sweep_and_names_what_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid().write(tmp_path / "bundle")
    assert run_command(["gate", str(tmp_path / "bundle")]) == 2
    assert "envdyno show" in capsys.readouterr().err
    assert run_command(["show", str(tmp_path / "bundle")]) == 0
    assert "best here" in capsys.readouterr().out
