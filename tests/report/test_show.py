"""What ``envdyno show`` prints, by scenario."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import GO2, SCENARIOS, experiment, failing, passing

from envdyno.cli.console import stdout_line
from envdyno.cli.main import run_command
from envdyno.cli.show_verbs import material_lines
from envdyno.report.case_tree import case_tree
from envdyno.report.glyphs import ASCII
from envdyno.report.ratio_picture import ratio_picture, ratio_scale

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_terminal_shows_the_golden_text(scenario: str) -> None:
    """Set ENVDYNO_RENEW_GOLDEN=1 to write the files anew; then read the difference."""
    text = "\n".join(material_lines(SCENARIOS[scenario]().material(), 80)) + "\n"
    path = GOLDEN / f"{scenario}.terminal.txt"
    if os.environ.get("ENVDYNO_RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_line_is_wider_than_80_columns(scenario: str) -> None:
    assert max(map(len, material_lines(SCENARIOS[scenario]().material(), 80))) <= 80


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_an_ascii_terminal_gets_ascii(scenario: str) -> None:
    assert ASCII.fit("\n".join(material_lines(SCENARIOS[scenario]().material(), 80))).isascii()


def test_warnings_come_last() -> None:
    lines = material_lines(SCENARIOS["drifted"]().material(), 80)
    first = next(number for number, line in enumerate(lines) if line.startswith("! "))
    assert all(line.startswith(("! ", "    ")) for line in lines[first:])
    assert "What would help:" in " ".join(lines[first:])


def test_without_a_gate_no_verdict_and_no_gate_is_drawn() -> None:
    made = passing()
    assert made.head is not None
    plan = {**made.head.plan, "gate": None}
    made = made._replace(head=made.head.model_copy(update={"plan": plan}))
    lines = material_lines(made.material(), 80)
    assert "PASS" not in "\n".join(lines)
    tree = [line for line in lines if line.startswith(GO2)]
    assert tree
    assert "|" not in tree[0]


def test_the_picture_puts_the_interval_on_the_side_of_the_gate_where_it_is() -> None:
    cases = failing().material().judgements[0].report.cases
    scale = ratio_scale(cases, 40, judged=True)
    failed, passed = (ratio_picture(case, scale, judged=True) for case in cases)
    assert failed.index("o") < failed.index("|") < failed.index(":")
    assert passed.index("|") < passed.index("o")
    assert {len(failed), len(passed)} == {40}


def test_an_interval_beyond_the_scale_ends_in_an_arrow() -> None:
    made = experiment({GO2: ([100_000.0] * 3, [20_000.0, 100_000.0, 500_000.0])})
    cases = made.material().judgements[0].report.cases
    picture = ratio_picture(cases[0], ratio_scale(cases, 40, judged=True), judged=True)
    assert picture[0] == "<"
    assert picture[-1] == ">"


@given(st.lists(st.text("ab/", min_size=1, max_size=8), unique=True, max_size=8))
def test_every_case_is_in_the_tree_once_under_its_whole_name(cases: list[str]) -> None:
    tree = case_tree(cases)
    assert sorted(branch.case for branch in tree if branch.case is not None) == sorted(cases)
    stack: list[str] = []
    for branch in tree:
        del stack[branch.depth :]
        if branch.case is None:
            stack.append(branch.text)
        else:
            assert "".join(stack) + branch.text == branch.case


@given(case=st.text(min_size=1, max_size=30))
@settings(max_examples=30)
def test_no_name_of_a_case_steers_the_terminal(case: str) -> None:
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [1e5, 1e5, 1e5])})
    written: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("click.echo", written.append)
        for line in material_lines(made.material(), 80):
            stdout_line(line)
    assert all(character.isprintable() or character == "\t" for line in written for character in line)


def test_show_reads_a_bundle_and_a_file_of_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing().write(tmp_path / "bundle")
    assert run_command(["show", str(tmp_path / "bundle")]) == 0
    assert "FAIL" in capsys.readouterr().out
    assert run_command(["show", str(tmp_path / "bundle" / "records.jsonl")]) == 0
    assert "transitions/s" in capsys.readouterr().out


def test_what_is_no_bundle_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["show", str(tmp_path)]) == 2
    assert "neither an experiment nor records" in capsys.readouterr().err
    assert run_command(["show", str(tmp_path / "gone")]) == 2
    assert "There is no" in capsys.readouterr().err
