"""Which settings of a sweep may be the best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.best_settings import (
    SettingResult,
    Standing,
    SweepResult,
    compare_with_best,
    judge_sweep,
)
from envdyno.judge.distributions import Floats
from envdyno.judge.knee import NEAR_BEST
from envdyno.judge.sweep_evidence import ENOUGH, SweepEvidence, SweepRun
from envdyno.record.setting import Setting


def settings_of(number: int) -> tuple[Setting, ...]:
    """So many settings, each with fewer threads and a smaller batch than the next."""
    return tuple(Setting(2**n, 1, n) for n in range(1, number + 1))


def sweep_of(rates: Sequence[Sequence[float | None]]) -> SweepEvidence:
    """A sweep from the rates of each setting, block by block."""
    settings = settings_of(len(rates))
    runs = [
        SweepRun(setting, block, rate)
        for setting, own in zip(settings, rates, strict=True)
        for block, rate in enumerate(own)
        if rate is not None
    ]
    return SweepEvidence(settings, len(rates[0]), tuple(runs))


def judged(rates: Sequence[Sequence[float | None]]) -> SweepResult:
    return judge_sweep(sweep_of(rates))


def standings(result: SweepResult) -> list[Standing]:
    return [one.standing for one in result.settings]


@st.composite
def log_rates(draw: st.DrawFn, shape: tuple[int, int] | None = None) -> Floats:
    """A grid of plausible log rates, some runs missing."""
    shape = shape or (draw(st.integers(2, 8)), draw(st.integers(3, 6)))
    cells = st.floats(-0.5, 0.5) | st.just(math.nan)
    flat = draw(st.lists(cells, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    grid = np.asarray(flat).reshape(shape) + 10.0
    grid[0] = np.where(np.isnan(grid[0]), 10.0, grid[0])
    return grid


@given(grid=log_rates(), shifts=st.lists(st.floats(-2, 2), min_size=6, max_size=6))
def test_what_slows_the_machine_for_a_block_changes_nothing(grid: Floats, shifts: list[float]) -> None:
    before = compare_with_best(grid)
    after = compare_with_best(grid + np.asarray(shifts[: grid.shape[1]]))
    assert after.log_ratio[before.best] == pytest.approx(0.0, abs=1e-9)
    if after.best == before.best:
        assert after.log_ratio == pytest.approx(before.log_ratio, abs=1e-6, nan_ok=True)
        assert after.half_width == pytest.approx(before.half_width, rel=1e-3, abs=1e-6)


@given(grid=log_rates(), factor=st.floats(-3, 3))
def test_the_unit_of_the_rates_does_not_matter(grid: Floats, factor: float) -> None:
    before, after = compare_with_best(grid), compare_with_best(grid + factor)
    assert after.log_ratio[before.best] == pytest.approx(0.0, abs=1e-9)
    if after.best == before.best:
        assert after.half_width == pytest.approx(before.half_width, rel=1e-3, abs=1e-6)


@given(grid=log_rates(), data=st.data())
def test_the_order_of_the_settings_does_not_matter(grid: Floats, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(grid.shape[0])))
    before, after = compare_with_best(grid), compare_with_best(grid[list(order)])
    if order[int(after.best)] == int(before.best):
        assert after.log_ratio == pytest.approx(before.log_ratio[list(order)], abs=1e-6, nan_ok=True)
        assert after.half_width == pytest.approx(before.half_width[list(order)], rel=1e-3, abs=1e-6)


@given(grids=st.lists(log_rates((4, 4)), min_size=1, max_size=3))
def test_many_sweeps_at_once_are_judged_as_one_by_one(grids: list[Floats]) -> None:
    together = compare_with_best(np.stack(grids))
    for number, grid in enumerate(grids):
        alone = compare_with_best(grid)
        assert together.best[number] == alone.best
        assert together.half_width[number] == pytest.approx(alone.half_width, rel=1e-3, abs=1e-6)


@given(grid=log_rates())
def test_the_cheapest_may_be_the_best_and_came_near_it(grid: Floats) -> None:
    rates = [[None if math.isnan(cell) else math.exp(cell) for cell in row] for row in grid.tolist()]
    result = judged(rates)
    if result.cheapest is None:
        assert result.best is None or result.best.n < ENOUGH
        return
    assert result.cheapest.standing in (Standing.BEST, Standing.EQUAL)
    assert result.cheapest.log_ratio is not None
    assert result.cheapest.log_ratio >= math.log(NEAR_BEST)
    cheaper = [one for one in result.settings if one.setting.threads < result.cheapest.setting.threads]
    assert not any(_as_good(one) for one in cheaper)


def _as_good(one: SettingResult) -> bool:
    good = one.standing in (Standing.BEST, Standing.EQUAL)
    return good and (one.log_ratio or 0.0) >= math.log(NEAR_BEST)


def test_a_setting_far_behind_is_slower_and_one_close_by_may_be_the_best() -> None:
    result = judged([[50, 51, 50], [99, 101, 100], [100, 100, 101]])
    assert standings(result) == [Standing.SLOWER, Standing.EQUAL, Standing.BEST]
    assert result.cheapest is not None
    assert result.cheapest.setting == settings_of(2)[1]


def test_the_cheapest_is_not_one_that_lost_more_than_five_per_cent_by_what_was_seen() -> None:
    result = judged([[70, 110, 80], [99, 101, 100], [100, 95, 110]])
    assert result.settings[0].standing is Standing.EQUAL
    assert result.cheapest is not None
    assert result.cheapest.setting != result.settings[0].setting


def test_workers_count_for_the_cost_of_a_setting() -> None:
    narrow, wide = Setting(64, 2, 2), Setting(64, 1, 3)
    runs = [SweepRun(one, block, 100.0 + block) for one in (narrow, wide) for block in range(3)]
    for workers, cheapest in (({}, wide), ({narrow: 2, wide: 2}, narrow)):
        result = judge_sweep(SweepEvidence((narrow, wide), 3, tuple(runs), workers))
        assert result.cheapest is not None
        assert result.cheapest.setting == cheapest


@pytest.mark.parametrize("blocks", [1, 2])
def test_fewer_than_three_repeats_decide_nothing(blocks: int) -> None:
    result = judged([[10.0] * blocks, [1000.0] * blocks])
    assert not result.is_decided
    assert Standing.SLOWER not in standings(result)
    assert result.best is not None
    assert result.best.setting == settings_of(2)[1]
    assert result.resolution is None


def test_a_setting_with_too_few_runs_is_undecided_and_never_the_best() -> None:
    result = judged([[100, 101, 99], [None, None, 500], [50, 51, 50]])
    assert standings(result) == [Standing.BEST, Standing.UNDECIDED, Standing.SLOWER]
    assert [one.n for one in result.settings] == [3, 1, 3]


def test_nothing_measured_is_no_best() -> None:
    result = judged([[None] * 3, [None] * 3])
    assert result.best is None
    assert standings(result) == [Standing.NOT_MEASURED] * 2


def test_a_setting_without_a_run_is_not_measured_and_the_others_are_judged() -> None:
    result = judged([[100, 101, 99], [None, None, None], [50, 51, 50]])
    assert standings(result) == [Standing.BEST, Standing.NOT_MEASURED, Standing.SLOWER]


def test_one_setting_alone_is_the_best() -> None:
    assert standings(judged([[100, 101, 99]])) == [Standing.BEST]


def test_runs_that_are_equal_to_the_last_digit_are_not_taken_for_precision() -> None:
    result = judged([[100.0] * 3, [99.99] * 3])
    assert standings(result) == [Standing.BEST, Standing.EQUAL]


@pytest.mark.parametrize(("settings", "blocks"), [(3, 3), (12, 3), (12, 5)])
def test_the_truly_best_setting_is_among_those_named(settings: int, blocks: int) -> None:
    rng = np.random.default_rng(7)
    grids = 0.02 * rng.standard_normal((2000, settings, blocks))
    found = compare_with_best(grids)
    kept = (found.best == 0) | (found.log_ratio[:, 0] + found.half_width[:, 0] >= 0)
    assert kept.mean() >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)


def test_a_loss_well_above_the_smallest_that_shows_is_found() -> None:
    rng = np.random.default_rng(7)
    grids = 0.01 * rng.standard_normal((500, 8, 3))
    grids[:, 0] -= 0.10
    found = compare_with_best(grids)
    assert (found.log_ratio[:, 0] + found.half_width[:, 0] < 0).mean() > 0.95
