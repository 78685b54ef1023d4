"""Every run of a plan, in order: complete, balanced, and the same each time."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from registered_package import install_package

from envdyno.agent.job import Timing
from envdyno.plan.cases import (
    Case,
    Catalogue,
    Unknown,
    cases_of,
    catalogue,
    find_workloads,
    unmatched_exceptions,
)
from envdyno.plan.duration_estimate import ASSUMED_OVERHEAD_S, estimate_duration
from envdyno.plan.expand import Need, PlannedRun, expand, order_of
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.ordering import balanced_orders, label
from envdyno.plan.plan_error import PlanError
from envdyno.plan.read_plan import build_plan

SUITE = tuple(
    f"{collector}/{task}/{engine}"
    for collector, task, engine in [
        ("flashsac", "go2_joystick_flat", "mujoco"),
        ("flashsac", "g1_walk_flat", "mujoco"),
        ("flashsac", "g1_walk_flat", "motrix"),
        ("sac", "g1_walk_flat", "mujoco"),
        ("sac", "g1_walk_flat", "motrix"),
        ("sac", "g1_motion_tracking", "mujoco"),
        ("sac", "g1_motion_tracking", "motrix"),
    ]
)
KNOWN = Catalogue((*SUITE, "synthetic"), {"suite": SUITE})


def plan_of(sides: int = 2, **experiment: Any) -> ExperimentPlan:
    tables = {name: experiment.pop(name) for name in ("axes", "options", "gate") if name in experiment}
    names = ["base", "head", "third", "fourth", "fifth"][:sides]
    return build_plan(
        {
            "experiment": {"cases": "suite", **experiment},
            "sides": {name: {"options": {"side": name}} for name in names},
            **tables,
        },
        "a test",
    )


def runs_of(plan: ExperimentPlan) -> tuple[PlannedRun, ...]:
    return expand(plan, cases_of(plan, KNOWN))


def test_the_suite_stands_for_its_seven_cases() -> None:
    assert find_workloads(["suite"], KNOWN) == SUITE


def test_patterns_match_and_each_case_comes_once() -> None:
    assert find_workloads(["sac/g1_walk_flat/*", "sac/*/mujoco"], KNOWN) == (SUITE[3], SUITE[4], SUITE[5])


def test_what_other_packages_registered_is_matched_by_its_name_its_group_and_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path, {"their_one": "fam_pkg.envs:one", "their_family": "fam_pkg.envs:family"})
    monkeypatch.syspath_prepend(tmp_path)
    known = catalogue()
    assert find_workloads(["installed"], known) == ("their_family", "their_one")
    assert find_workloads(["their_o*", "their_family:small"], known) == ("their_one", "their_family:small")
    assert "gymnasium" not in known.names


def test_a_pattern_that_matches_nothing_is_refused_with_what_is_near() -> None:
    with pytest.raises(PlanError, match=r"'sac/g1_wlk_flat/\*' matches no case.*sac/g1_walk_flat"):
        find_workloads(["sac/g1_wlk_flat/*"], KNOWN)


def test_a_factory_is_taken_by_its_name_and_an_unknown_name_is_refused() -> None:
    assert find_workloads(["package.module:Class.make"], KNOWN) == ("package.module:Class.make",)
    with pytest.raises(PlanError, match="no workload named 'nothing_like_it'"):
        find_workloads(["nothing_like_it"], KNOWN)
    assert find_workloads(["of_the_side"], KNOWN, Unknown.KEEP) == ("of_the_side",)


def test_all_bad_patterns_are_named_at_once() -> None:
    with pytest.raises(PlanError, match="2 problems"):
        find_workloads(["nothing_like_it", "x/*"], KNOWN)


def test_what_is_registered_can_be_matched() -> None:
    known = catalogue()
    assert "synthetic" in known.names
    assert set(known.groups["suite"]) <= set(known.names)


def test_axes_multiply_and_name_the_case() -> None:
    plan = plan_of(
        cases="synthetic", num_envs=[256, 1024], axes={"runtime": ["direct", "manager"]}, options={"x": 1}
    )
    cases = cases_of(plan, KNOWN)
    assert [case.name for case in cases] == [
        "synthetic@num_envs=256,runtime=direct",
        "synthetic@num_envs=256,runtime=manager",
        "synthetic@num_envs=1024,runtime=direct",
        "synthetic@num_envs=1024,runtime=manager",
    ]
    assert cases[1] == Case(cases[1].name, "synthetic", 256, {"x": 1, "runtime": "manager"})


def test_one_batch_size_stays_out_of_the_name() -> None:
    assert cases_of(plan_of(cases="synthetic", num_envs=64), KNOWN)[0].name == "synthetic"


def test_the_protocol_of_seven_cases_and_three_pairs_has_42_headline_runs() -> None:
    runs = runs_of(plan_of(pairs=3, attribution_pairs=0))
    assert len(runs) == 42
    assert Counter((run.case, run.side) for run in runs) == dict.fromkeys(
        itertools.product(SUITE, ("base", "head")), 3
    )


def test_pairs_are_close_in_time_and_their_order_alternates() -> None:
    plan = plan_of(pairs=6, attribution_pairs=0)
    runs = runs_of(plan)
    for first, second in zip(runs[::2], runs[1::2], strict=True):
        assert (first.case, first.pair) == (second.case, second.pair)
        assert {first.side, second.side} == {"base", "head"}
        assert (first.position, second.position) == (0, 1)
    assert order_of(runs, plan, SUITE[0], Timing.THROUGHPUT) == "AB BA AB BA AB BA"
    assert order_of(runs, plan, SUITE[1], Timing.THROUGHPUT) == "BA AB BA AB BA AB"


def test_every_case_has_had_its_pairs_but_one_at_any_time() -> None:
    runs = runs_of(plan_of(pairs=4, attribution_pairs=0))
    done: Counter[str] = Counter()
    for run in runs:
        done[run.case] += 1
        counts = [done[case] for case in SUITE]
        assert max(counts) - min(counts) <= 2


def test_phases_are_timed_after_the_headline_pairs_and_before_the_further_ones() -> None:
    runs = runs_of(plan_of(pairs="3..5", attribution_pairs=2, cases="synthetic"))
    kinds = [(run.timing, run.need, run.pair) for run in runs[::2]]
    assert kinds == [
        *((Timing.THROUGHPUT, Need.ALWAYS, pair) for pair in (1, 2, 3)),
        *((Timing.ATTRIBUTION, Need.ALWAYS, pair) for pair in (1, 2)),
        *((Timing.THROUGHPUT, Need.IF_UNDECIDED, pair) for pair in (4, 5)),
    ]


def test_more_pairs_leave_the_earlier_ones_as_they_were() -> None:
    few, many = runs_of(plan_of(pairs="3..5")), runs_of(plan_of(pairs="3..9"))
    assert few == many[: len(few)]


def test_blocked_order_is_case_by_case_and_side_by_side() -> None:
    plan = plan_of(pairs=3, attribution_pairs=0, order="blocked", cases=["sac/g1_walk_flat/*"])
    runs = runs_of(plan)
    assert [(run.case, run.side) for run in runs] == [
        (case, side) for case in SUITE[3:5] for side in ("base", "head") for _ in range(3)
    ]


def test_another_seed_gives_another_order_of_the_same_runs() -> None:
    first, second = runs_of(plan_of(order_seed=0)), runs_of(plan_of(order_seed=1))
    assert [run.id for run in first] != [run.id for run in second]
    assert {run.id for run in first} == {run.id for run in second}


def test_options_of_plan_axis_and_side_meet_in_the_run() -> None:
    run = runs_of(plan_of(cases="synthetic", options={"x": 1}, axes={"runtime": ["direct"]}, seed=7))[0]
    assert run.options == {"x": 1, "runtime": "direct", "side": "base"}
    assert run.seed == 7


plans = st.builds(
    plan_of,
    sides=st.integers(2, 5),
    cases=st.lists(st.sampled_from(["suite", "sac/*", "synthetic"]), min_size=1, max_size=2),
    pairs=st.sampled_from([3, "3..7", "4..5"]),
    attribution_pairs=st.integers(0, 3),
    order_seed=st.integers(0, 5),
    num_envs=st.sampled_from([64, [64, 128]]),
)


@given(plans)
def test_expanding_is_complete_repeatable_and_without_doubles(plan: ExperimentPlan) -> None:
    runs = runs_of(plan)
    assert runs == runs_of(plan)
    assert [run.index for run in runs] == list(range(len(runs)))
    assert len({run.id for run in runs}) == len(runs)
    assert all(re.fullmatch(r"[A-Za-z0-9._=-]+", run.id) for run in runs)
    wanted = plan.experiment.pairs.maximum + plan.experiment.attribution_pairs
    counts = Counter((run.case, run.side) for run in runs)
    assert set(counts.values()) == {wanted}
    needs = [run.need for run in runs]
    assert needs == sorted(needs, key=[Need.ALWAYS, Need.IF_UNDECIDED].index)


@given(st.integers(2, 9))
def test_every_side_stands_equally_often_in_every_place_and_after_every_other(sides: int) -> None:
    orders = balanced_orders(sides)
    assert len(orders) == (2 * sides if sides % 2 else sides)
    for place in range(sides):
        assert set(Counter(order[place] for order in orders).values()) == {len(orders) // sides}
    followers = Counter(pair for order in orders for pair in itertools.pairwise(order))
    assert len(followers) == sides * (sides - 1)
    assert len(set(followers.values())) == 1


def test_two_sides_are_ab_and_ba() -> None:
    assert [label(order) for order in balanced_orders(2)] == ["AB", "BA"]


def test_exceptions_for_cases_that_are_not_run_are_found() -> None:
    exception = {"min_ratio": 0.8, "reason": "r", "owner": "o", "expires": "2027-03-01"}
    gate = {"exceptions": [{**exception, "case": SUITE[0]}, {**exception, "case": "sac/typo"}]}
    plan = plan_of(gate=gate)
    assert unmatched_exceptions(plan, cases_of(plan, KNOWN)) == ("sac/typo",)


def test_the_estimate_says_what_it_rests_on() -> None:
    plan = plan_of(cases="synthetic", pairs="3..6", attribution_pairs=1)
    runs = runs_of(plan)
    estimate = estimate_duration(plan, runs)
    assert estimate.runs == 8
    assert estimate.runs_at_most == 14
    assert estimate.certain_s == 8 * (10.0 + ASSUMED_OVERHEAD_S)
    assert "assuming 15 s" in str(estimate)
    known = estimate_duration(plan, runs, {"synthetic": 2.0})
    assert known.longest_s == 14 * 12.0
    assert "timed before" in str(known)


def test_a_budget_cuts_the_longest_time_and_never_what_is_certain() -> None:
    plan = plan_of(cases="synthetic", pairs="3..300", attribution_pairs=0, budget="10m")
    assert estimate_duration(plan, runs_of(plan)).longest_s == 600.0
    short = plan_of(cases="synthetic", pairs="3..300", attribution_pairs=0, budget="1s")
    estimate = estimate_duration(short, runs_of(short))
    assert estimate.longest_s == estimate.certain_s == 150.0


def test_file_names_stay_apart_where_names_of_cases_are_alike(tmp_path: Path) -> None:
    cases = [Case(name, "synthetic", 1, {}) for name in ("a/b", "a:b", "a-b")]
    runs = expand(plan_of(cases="synthetic"), cases)
    assert len({run.id for run in runs}) == len(runs)
