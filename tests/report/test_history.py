"""Many bundles over time: order, holes, machines, and where levels change."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import G1, GO2, NOISE, Made, experiment, missing_case, sweep

from envdyno.cli.main import run_command
from envdyno.report.change_points import change_points
from envdyno.report.history import Figure, history_of
from envdyno.report.history_lines import history_lines


def day(number: int, ratio: float = 0.98, cases: tuple[str, ...] = (GO2,), **changes: object) -> Made:
    """One night's experiment."""
    level = 300_000 * (1 + 0.003 * (number * 7 % 5 - 2))
    base = [level * one for one in NOISE[:3]]
    head = [ratio * level * one for one in NOISE[1:4]]
    return experiment(dict.fromkeys(cases, (base, head)), day=number, **changes)  # type: ignore[arg-type]


def test_series_are_in_order_of_time_whatever_the_order_of_the_bundles() -> None:
    series = history_of([day(n).material(f"d{n}") for n in (3, 0, 2, 1)])
    assert [point.bundle for point in series[0].points] == ["d0", "d1", "d2", "d3"]
    assert [one.figure for one in series] == [Figure.RATIO, Figure.RATE, Figure.RATE]


def test_a_bundle_without_a_case_is_a_hole_with_its_reason() -> None:
    nights = [day(0, cases=(GO2, G1)), day(1), day(2, cases=(GO2, G1))]
    found = {
        one.case: one for one in history_of([n.material() for n in nights]) if one.figure is Figure.RATIO
    }
    hole = found[G1].points[1]
    assert hole.value is None
    assert hole.why == "not part of this bundle"
    assert [point.value is None for point in found[GO2].points] == [False, False, False]


def test_a_case_that_could_not_run_is_a_hole_that_says_why() -> None:
    series = history_of([missing_case().material()])
    lost = next(one for one in series if one.case == G1 and one.figure is Figure.RATIO)
    assert lost.points[0].value is None
    assert "No module named 'torch'" in lost.points[0].why
    assert any("No module named 'torch'" in line for line in history_lines(series, 100))


def test_machines_are_kept_apart() -> None:
    def moved(record):  # type: ignore[no-untyped-def]
        identity = {**record.fingerprint.identity, "cpu_model": "Another CPU"}
        fingerprint = record.fingerprint.model_copy(update={"identity": identity})
        return record.model_copy(update={"fingerprint": fingerprint})

    series = history_of([day(0).material(), day(1, change=moved).material()])
    assert len({one.machine for one in series}) == 2
    assert all(len(one.points) == 1 for one in series)


def test_a_new_level_is_marked_where_it_begins_with_its_size() -> None:
    series = history_of([day(n, 0.98 if n < 6 else 0.85).material() for n in range(12)])
    marked = [n for n, point in enumerate(series[0].points) if point.begins_level]
    assert marked == [6]
    assert series[0].points[6].change == pytest.approx(0.85 / 0.98 - 1, abs=0.01)
    assert any("! -13" in line for line in history_lines(series, 100))


def test_a_hole_does_not_move_a_change_point() -> None:
    nights = [day(n, 0.98 if n < 6 else 0.85, cases=(G1,) if n == 2 else (GO2,)) for n in range(12)]
    series = next(one for one in history_of([n.material() for n in nights]) if one.case == GO2)
    assert [n for n, point in enumerate(series.points) if point.begins_level] == [6]


def test_noise_is_seldom_taken_for_a_change() -> None:
    rng = np.random.default_rng(0)
    false = sum(bool(change_points(np.exp(rng.normal(0, 0.03, 20)).tolist())) for _ in range(300))
    assert false <= 9  # 1 % of 300, and three standard deviations


@given(st.lists(st.floats(0.5, 2.0), max_size=30))
@settings(max_examples=60)
def test_change_points_lie_inside_and_two_apart(values: list[float]) -> None:
    found = change_points(values)
    edges = [0, *found, len(values)]
    assert list(found) == sorted(set(found))
    assert not found or all(after - before >= 2 for before, after in itertools.pairwise(edges))


def test_runs_of_no_experiment_have_rates_only() -> None:
    series = history_of([sweep().material()])
    assert {one.figure for one in series} == {Figure.RATE}
    lost = next(one for one in series if "16384" in one.case)
    assert "SIGKILL" in lost.points[0].why


def test_a_folder_of_bundles_is_read_and_what_is_broken_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        day(number).write(tmp_path / f"d{number}")
    (tmp_path / "d1" / "experiment.json").write_text("{")
    (tmp_path / "notes").mkdir()
    assert run_command(["history", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "left out" in captured.err
    assert captured.out.count("2026-07-0") == 2 * 3
    assert run_command(["history", str(tmp_path / "notes")]) == 2
    assert "no bundle" in capsys.readouterr().err


def test_the_page_draws_every_series(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="needs the extra envdyno[report]")
    for number in range(4):
        day(number, cases=(GO2, G1) if number != 1 else (GO2,)).write(tmp_path / f"d{number}")
    assert run_command(["history", str(tmp_path), "--html", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("<figure") == text.count('<svg class="figure"') == 6
    assert "not part of this bundle" in text
    assert "http" not in text.replace("http-equiv", "")
