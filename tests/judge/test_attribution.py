from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from experiments import case_of, run
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.attribution import Attribution, Clock, PhaseChange, attribute
from envdyno.judge.evidence import CaseEvidence, RunKind, Side
from envdyno.judge.fieller import fieller_interval
from envdyno.judge.phase_tree import PhaseKind, phase_tree
from envdyno.judge.reasons import ReasonCode

Run = tuple[float, Mapping[str, float]]
GO2_BASE: Run = (
    25.9,
    {"env_step": 25.8, "env_step/physics": 22.3, "env_step/update_state": 2.9, "env_step/reset_done": 0.0},
)
GO2_HEAD: Run = (
    40.2,
    {"env_step": 40.1, "env_step/physics": 29.6, "env_step/update_state": 7.5, "env_step/reset_done": 0.0},
)
"""Milliseconds per vector step of a published experiment; the whole is 8192 environments over the rate."""


def timed(base: Sequence[Run], head: Sequence[Run], *more: Any, **fields: Any) -> CaseEvidence:
    """A case with attribution runs: the vector step and its phases, for each pair."""
    runs = [
        run("case", side, pair, kind=RunKind.ATTRIBUTION, vector_step_ms=total, phases_ms=phases, **fields)
        for pair, both in enumerate(zip(base, head, strict=True))
        for side, (total, phases) in zip(Side, both, strict=True)
    ]
    return CaseEvidence(case="case", runs=(*runs, *more))


def jittered(one: Run, pairs: int, sd: float, seed: int) -> list[Run]:
    rng = np.random.default_rng(seed)
    factors = np.exp(rng.normal(0, sd, pairs)).tolist()
    return [(one[0] * f, {path: ms * f for path, ms in one[1].items()}) for f in factors]


def change(found: Attribution, path: str) -> PhaseChange:
    return next(c for c in found.phases if c.node.path == path)


def split(base: Sequence[Run], head: Sequence[Run], *more: Any, **fields: Any) -> Attribution:
    found = attribute(timed(base, head, *more, **fields))
    assert found is not None
    return found


def test_the_change_of_a_step_is_split_over_its_phases_in_ms_and_as_a_share() -> None:
    found = split([GO2_BASE], [GO2_HEAD])
    assert found.total.delta_ms == pytest.approx(14.3)
    physics, update = change(found, "env_step/physics"), change(found, "env_step/update_state")
    assert (physics.base_ms, physics.head_ms, physics.delta_ms) == pytest.approx((22.3, 29.6, 7.3))
    assert physics.share == pytest.approx(0.51, abs=0.005)
    assert update.share == pytest.approx(0.32, abs=0.005)


def test_what_no_phase_accounts_for_is_shown_at_every_level() -> None:
    found = split([GO2_BASE], [GO2_HEAD])
    assert change(found, "env_step/remainder").delta_ms == pytest.approx(3.0 - 0.6)
    assert change(found, "remainder").base_ms == pytest.approx(0.1)
    assert found.phases[0].node == ("env_step", PhaseKind.GROUP)
    assert [c.node.depth for c in found.phases] == [0, 1, 1, 1, 1, 0]


def test_columns_add_up_and_differ_by_the_change_however_runs_scatter() -> None:
    found = split(jittered(GO2_BASE, 5, 0.2, 1), jittered(GO2_HEAD, 5, 0.2, 2))
    parts = [one for one in found.phases if one.node.is_part]
    for side in ("base_ms", "head_ms", "delta_ms"):
        assert sum(getattr(one, side) for one in parts) == pytest.approx(getattr(found.total, side))
    for one in (found.total, *found.phases):
        assert one.base_ms is not None
        assert one.head_ms is not None
        assert one.head_ms - one.base_ms == pytest.approx(one.delta_ms)


def test_parts_are_ranked_by_how_much_they_changed() -> None:
    assert [c.node.path for c in split([GO2_BASE], [GO2_HEAD]).ranked][:3] == [
        "env_step/physics",
        "env_step/update_state",
        "env_step/remainder",
    ]


def test_one_pair_gives_no_interval_and_says_why() -> None:
    physics = change(split([GO2_BASE], [GO2_HEAD]), "env_step/physics")
    assert physics.interval is None
    assert physics.share_interval is None
    assert "one pair" in physics.why_null["interval"]
    assert not physics.is_shown


def test_several_pairs_give_intervals_for_times_and_shares() -> None:
    found = split(jittered(GO2_BASE, 5, 0.01, 0), jittered(GO2_HEAD, 5, 0.01, 1))
    physics = change(found, "env_step/physics")
    assert physics.interval is not None
    assert physics.share_interval is not None
    assert physics.interval.low < 7.3 < physics.interval.high
    assert physics.share_interval.low < 0.51 < physics.share_interval.high
    assert physics.is_shown


def test_a_change_is_named_after_a_phase_only_if_the_split_surely_says_so() -> None:
    shared: Run = (40.2, {**GO2_HEAD[1], "env_step/physics": 28.5, "env_step/update_state": 8.6})
    half = split(jittered(GO2_BASE, 5, 0.01, 0), jittered(shared, 5, 0.01, 1))
    head: Run = (10.5, {"physics": 6.3, "update_state": 4.2})
    base: Run = (7.4, {"physics": 5.74, "update_state": 1.01})
    clear = split(jittered(base, 5, 0.005, 0), jittered(head, 5, 0.005, 1))
    assert half.explained_by is None
    assert clear.explained_by is not None
    assert clear.explained_by.path == "update_state"


def test_a_phase_can_be_decided_where_the_whole_is_not() -> None:
    rng = np.random.default_rng(0)
    rest = rng.normal(50, 5, (2, 6))
    base, head = (
        [(r + own, {"update_state": own, "replay": r}) for r, own in zip(rest[i], owns, strict=True)]
        for i, owns in ((0, [3.0, 3.1, 2.9, 3.0, 3.1, 2.9]), (1, [4.0, 4.1, 3.9, 4.0, 4.1, 3.9]))
    )
    found = split(base, head)
    update = change(found, "update_state")
    assert update.is_shown
    assert not found.total.is_shown
    assert update.share is None
    assert update.why_null["share"] == "the change of the whole is not told from zero"


def test_a_phase_that_one_side_does_not_time_is_absent_and_not_zero() -> None:
    base: Run = (10.0, {"physics": 8.0})
    head: Run = (12.0, {"physics": 8.0, "update_state": 3.0})
    update = change(split([base], [head]), "update_state")
    assert update.base_ms is None
    assert update.head_ms == 3.0
    assert update.delta_ms is None
    assert update.why_null["base_ms"] == "not instrumented"


def test_cpu_time_is_split_like_wall_time() -> None:
    runs = [
        run(
            "case",
            side,
            0,
            kind=RunKind.ATTRIBUTION,
            vector_step_cpu_ms=ms,
            phases_cpu_ms={"physics": ms - 1},
        )
        for side, ms in ((Side.BASE, 80.0), (Side.HEAD, 90.0))
    ]
    evidence = CaseEvidence(case="case", runs=tuple(runs))
    found = attribute(evidence, Clock.CPU)
    assert found is not None
    assert change(found, "physics").delta_ms == pytest.approx(10.0)
    assert attribute(evidence, Clock.WALL) is None


def test_the_split_is_held_against_the_change_seen_without_timers() -> None:
    plain = case_of([316_000.0], [204_000.0]).runs
    without = [dataclasses.replace(r, vector_step_ms=ms) for r, ms in zip(plain, (25.0, 39.0), strict=True)]
    reconciliation = split([GO2_BASE], [GO2_HEAD], *without).reconciliation
    assert reconciliation is not None
    assert reconciliation.throughput_delta_ms == pytest.approx(14.0)
    assert (reconciliation.observer_base_ms, reconciliation.observer_head_ms) == pytest.approx((0.9, 1.2))
    assert reconciliation.agrees


def test_a_split_of_another_change_than_the_one_measured_is_told() -> None:
    plain = case_of([316_000.0], [204_000.0]).runs
    without = [dataclasses.replace(r, vector_step_ms=ms) for r, ms in zip(plain, (25.0, 27.0), strict=True)]
    found = split([GO2_BASE], [GO2_HEAD], *without)
    assert [alarm.code for alarm in found.alarms] == [ReasonCode.NOT_RECONCILED]
    assert "+2.00 ms in throughput runs and by +14.30 ms in attribution runs" in found.alarms[0].message


def test_phases_that_overlap_are_told() -> None:
    both: Run = (10.0, {"physics": 8.0, "update_state": 4.0})
    found = split([both], [both])
    assert [alarm.code for alarm in found.alarms] == [ReasonCode.OVERLAPPING_PHASES]
    assert "2.00 ms longer" in found.alarms[0].message


def test_runs_of_a_side_that_timed_other_things_are_told_and_those_of_the_other_side_are_not() -> None:
    case = timed([GO2_BASE] * 3, [GO2_HEAD] * 3)
    runs = [
        dataclasses.replace(one, config_hash="b" if (one.side, one.pair) == (Side.HEAD, 2) else "a")
        for one in case.runs
    ]
    (found,) = (alarm for alarm in attributed(runs).alarms if alarm.code is ReasonCode.MIXED_PHASES)
    assert "side head of case have 2 different configurations: a, b" in found.message


def test_sides_that_are_configured_apart_from_each_other_are_not_mixed() -> None:
    case = timed([GO2_BASE] * 3, [GO2_HEAD] * 3)
    runs = [dataclasses.replace(one, config_hash=one.side.value) for one in case.runs]
    assert attributed(runs).alarms == ()


def attributed(runs: Sequence[Any]) -> Attribution:
    """The split of a case's runs."""
    found = attribute(CaseEvidence(case="case", runs=tuple(runs)))
    assert found is not None
    return found


def test_without_attribution_runs_there_is_no_split() -> None:
    assert attribute(case_of([1.0], [1.0])) is None


@pytest.mark.parametrize("path", ["", "a//b", "/a", "a/remainder", "remainder"])
def test_a_malformed_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="no path of phase names"):
        phase_tree([{"a": 1.0, path: 1.0}])


def test_a_part_without_its_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="inside 'env_step', which no run has"):
        phase_tree([{"env_step/physics": 1.0}])


paths = st.sampled_from(["a", "a/x", "a/y", "a/y/z", "b", "b/x"])


@given(st.dictionaries(paths, st.floats(0.0, 10.0), min_size=1), st.floats(1.0, 100.0))
def test_parts_and_remainders_always_add_up_to_the_whole(phases: dict[str, float], total: float) -> None:
    whole = {"a": 5.0, "b": 5.0, "a/y": 1.0, **phases}
    tree = phase_tree([whole])
    times = tree.times(total, whole)
    parts = [times[node.path] for node in tree.nodes if node.is_part]
    assert sum(ms for ms in parts if ms is not None) == pytest.approx(total)


def test_fiellers_interval_covers_the_true_ratio_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        part = rng.normal(2.0, 0.5, 5)
        bounds = fieller_interval(part, part + rng.normal(4.0, 0.5, 5), 0.025)
        covered += bounds is not None and bounds[0] <= 1 / 3 <= bounds[1]
    assert 930 <= covered <= 970


def test_a_share_of_nothing_has_no_interval() -> None:
    assert fieller_interval(np.asarray([1.0, 2.0, 3.0]), np.asarray([-1.0, 0.1, 1.0]), 0.025) is None
