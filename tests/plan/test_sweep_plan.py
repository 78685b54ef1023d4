"""Sweeps in plans: lists of numbers, the grid, and the order of the runs."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.plan.experiment import SWEPT_SIDE, ExperimentPlan
from envdyno.plan.plan_error import PlanError
from envdyno.plan.planned_request import placement_request
from envdyno.plan.read_plan import build_plan
from envdyno.plan.sweep_grid import Grid, Room, grid_of, scouting_threads, usual_workers
from envdyno.plan.sweep_runs import SCOUTED, block_orders, grid_runs, scouting_runs
from envdyno.plan.sweep_section import SweepSection, doubled
from envdyno.record.setting import Setting

TWO_NODES = {1: Room(2, 16), 2: Room(4, 8)}


def plan(sweep: dict[str, Any] | None = None, **tables: Any) -> ExperimentPlan:
    return build_plan({"experiment": {"cases": ["synthetic"]}, "sweep": sweep or {}, **tables}, "plan.toml")


def grid(num_envs: tuple[int, ...] = (64, 128), **sweep: Any) -> Grid:
    return grid_of(SweepSection.model_validate(sweep), num_envs, TWO_NODES)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("256,512", (256, 512)),
        ("512, 256", (256, 512)),
        ("256..2048", (256, 512, 1024, 2048)),
        ("100..500", (100, 200, 400, 500)),
        ("1,4..16", (1, 4, 8, 16)),
        ("7..7", (7,)),
        ([3, 1], (1, 3)),
        (5, (5,)),
        ("auto", "auto"),
    ],
)
def test_numbers_are_written_as_lists_and_as_doublings(written: object, read: object) -> None:
    section = SweepSection.model_validate({"num_envs": written, "threads": written})
    assert section.num_envs == read
    assert section.threads == read


@pytest.mark.parametrize(
    "wrong", ["", "many", "8..4", "0", "0..8", "1,1", [1, 1], [], [True], 1.5, "1.5", "-4"]
)
def test_what_is_no_list_of_numbers_is_refused_by_its_key(wrong: object) -> None:
    with pytest.raises(PlanError, match=r"sweep\.num_envs"):
        plan({"num_envs": wrong})


@given(first=st.integers(1, 1000), times=st.integers(1, 1000))
def test_a_doubling_begins_and_ends_where_it_was_asked_to_and_at_most_doubles(first: int, times: int) -> None:
    found = doubled(first, first * times)
    assert (found[0], found[-1]) == (first, first * times)
    assert found == sorted(set(found))
    assert all(later <= 2 * earlier for earlier, later in itertools.pairwise(found))


def test_a_sweep_has_one_side_without_being_told_and_repeats_a_disturbed_run_once() -> None:
    found = plan()
    assert list(found.sides) == [SWEPT_SIDE]
    assert found.experiment.disturbed_repeats == 1
    assert found.experiment.attribution_pairs == 0
    assert plan(experiment={"cases": ["synthetic"], "disturbed_repeats": 4}).experiment.disturbed_repeats == 4


def test_a_plan_in_json_is_the_same_plan() -> None:
    first = plan({"num_envs": "64..256", "threads": [1, 2]})
    assert build_plan(first.to_json(), "again").digest == first.digest


def test_a_plan_without_a_sweep_keeps_the_digest_that_it_had_before_there_were_sweeps() -> None:
    body = {
        "experiment": {"cases": ["synthetic"]},
        "sides": {"a": {"options": {"step_ms": 1}}, "b": {"options": {"step_ms": 2}}},
    }
    found = build_plan(body, "plan.toml")
    assert build_plan({**body, "sweep": None}, "plan.toml").digest == found.digest
    assert plan({"repeats": 4}).digest != plan({"repeats": 3}).digest


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"sides": {"a": {}, "b": {}}}, "a sweep is of one side, and this plan has a, b"),
        ({"gate": {"min_ratio": 0.9}}, "has no gate"),
        ({"axes": {"step_ms": [1, 2]}}, "axes"),
        ({"experiment": {"cases": ["synthetic"], "num_envs": [1, 2]}}, r"stand in sweep\.num_envs"),
        ({"experiment": {"cases": ["synthetic"], "attribution_pairs": 2}}, "attribution"),
        ({"placement": {"workers_per_node": 2}}, r"stand in sweep\.workers_per_node"),
    ],
)
def test_what_means_nothing_in_a_sweep_is_refused(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        plan(**tables)


def test_the_grid_is_every_combination() -> None:
    found = grid(workers_per_node=[1, 2], threads=[4, 8])
    assert len(found.settings) == len(set(found.settings)) == 2 * 2 * 2
    assert found.impossible == ()


def test_settings_that_cannot_be_are_each_listed_with_the_reason() -> None:
    found = grid((2, 64), workers_per_node=[1, 2], threads=[4, 12, 32])
    why = {one.setting: one.reason for one in found.impossible}
    assert len(found.settings) + len(found.impossible) == 2 * 2 * 3
    assert "12 threads with 2 workers a node: a worker has 8 CPUs" in why[Setting(64, 2, 12)]
    assert "32 threads with 1 worker a node: a worker has 16 CPUs" in why[Setting(64, 1, 32)]
    assert "there are 4 workers, and each needs an environment" in why[Setting(2, 2, 4)]
    assert Setting(2, 1, 4) in found.settings


def test_workers_that_cannot_be_placed_are_listed_where_they_were_asked_for_and_else_not_tried() -> None:
    rooms = {1: Room(1, 1), 2: "2 workers were asked for on node 0, which has 1 usable core."}
    asked = grid_of(SweepSection.model_validate({"workers_per_node": [1, 2]}), (64,), rooms)
    assert [one.reason for one in asked.impossible] == [rooms[2]]
    auto = grid_of(SweepSection(), (64,), rooms)
    assert auto.settings == (Setting(64, 1, 1),)
    assert auto.impossible == ()


def test_threads_left_to_auto_are_all_the_cpus_of_a_worker_and_powers_of_two_below() -> None:
    found = grid((64,), workers_per_node=[1, 2])
    threads = {workers: [one.threads for one in found.settings if one[1] == workers] for workers in (1, 2)}
    assert threads == {1: [2, 4, 8, 16], 2: [1, 2, 4, 8]}
    assert grid_of(SweepSection(), (64,), {1: Room(1, 96), 2: Room(2, 48)}).settings[3].threads == 96


def test_scouting_takes_the_fewest_workers_and_the_most_threads_that_fit() -> None:
    section = SweepSection.model_validate({"workers_per_node": [2], "threads": [4, 8, 32]})
    assert usual_workers(section, {2: Room(4, 8)}) == 2
    assert scouting_threads(section, {2: Room(4, 8)}) == 8
    assert scouting_threads(SweepSection(threads=(32,)), TWO_NODES) is None


@given(settings=st.integers(1, 40), blocks=st.integers(1, 9), seed=st.integers(0, 2**40))
def test_every_block_has_every_setting_once(settings: int, blocks: int, seed: int) -> None:
    orders = block_orders(settings, blocks, seed)
    assert len(orders) == blocks
    assert all(sorted(order) == list(range(settings)) for order in orders)


@given(settings=st.integers(1, 40), pairs=st.integers(1, 4), seed=st.integers(0, 2**40))
def test_over_every_two_blocks_no_setting_comes_earlier_than_another(
    settings: int, pairs: int, seed: int
) -> None:
    places: Counter[int] = Counter()
    for order in block_orders(settings, 2 * pairs, seed):
        places.update({setting: place for place, setting in enumerate(order)})
    assert len({places[setting] for setting in range(settings)}) == 1


@given(settings=st.integers(1, 40), blocks=st.integers(1, 8), seed=st.integers(0, 2**40))
def test_more_blocks_do_not_change_the_earlier_ones(settings: int, blocks: int, seed: int) -> None:
    assert block_orders(settings, blocks + 1, seed)[:blocks] == block_orders(settings, blocks, seed)


def test_the_order_is_that_of_the_seed() -> None:
    assert block_orders(9, 3, 1) == block_orders(9, 3, 1) != block_orders(9, 3, 2)


def test_planned_runs_have_settings_of_their_own_and_ids_of_their_own() -> None:
    found = plan({"num_envs": [64, 128], "threads": [1, 2], "repeats": 3}, options={"step_ms": 2})
    assert found.sweep is not None
    settings = [Setting(size, 1, threads) for size in (64, 128) for threads in (1, 2)]
    runs = grid_runs(found, found.sweep, "synthetic", settings, first=5)
    assert len({run.id for run in runs}) == len(runs) == 12
    assert [run.index for run in runs] == list(range(5, 17))
    assert Counter(run.case for run in runs) == dict.fromkeys((s.case_name("synthetic") for s in settings), 3)
    assert all(run.options == {"step_ms": 2} for run in runs)
    one = next(run for run in runs if run.num_envs == 64 and run.threads == 2)
    assert placement_request(found, one.workers_per_node, one.threads).threads == 2


def test_scouting_goes_up_in_doublings_with_a_short_window_and_no_batch_below_the_workers() -> None:
    found = plan(measure={"window": "10s"})
    runs = scouting_runs(found, "synthetic", Setting(200, 2, 4))
    assert [run.num_envs for run in runs] == [size for size in SCOUTED if size >= 200]
    assert {run.window_s for run in runs} == {2.0}
    assert {(run.workers_per_node, run.threads) for run in runs} == {(2, 4)}
    short = plan(measure={"window": "0.5s"})
    assert scouting_runs(short, "synthetic", Setting(1, 1, 1))[0].window_s == 0.5
