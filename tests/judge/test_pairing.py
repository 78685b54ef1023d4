from __future__ import annotations

import math

import pytest
from experiments import case_of, run
from hypothesis import given
from hypothesis import strategies as st

from envdyno.judge.evidence import CaseEvidence, Metric, RunKind, RunSample, Side
from envdyno.judge.pairing import WhyUnused, canary_moved, pairs_of
from envdyno.record.status import Status

BASE = {"transitions_per_s": 100.0}
HEAD = {"transitions_per_s": 90.0}


def evidence(*runs: RunSample) -> CaseEvidence:
    return CaseEvidence(case="case", runs=runs)


def pair(
    number: int, base: dict[str, object] | None = None, head: dict[str, object] | None = None
) -> list[RunSample]:
    return [
        run("case", Side.BASE, number, **{**BASE, **(base or {})}),
        run("case", Side.HEAD, number, **{**HEAD, **(head or {})}),
    ]


def test_each_pair_gives_one_log_ratio_head_over_base() -> None:
    pairs = pairs_of(case_of([100, 200], [50, 220]))
    assert pairs.log_ratios() == pytest.approx([math.log(0.5), math.log(1.1)])
    assert pairs.head_first == (False, True)


def test_a_pair_with_a_missing_run_is_left_out_and_named() -> None:
    lonely = run("case", Side.BASE, 1, **BASE)
    failed = run("case", Side.HEAD, 1, status=Status.FAILED)
    pairs = pairs_of(evidence(*pair(0), lonely, failed))
    assert [p.number for p in pairs.used] == [0]
    assert pairs.unused[0] == (1, WhyUnused.INCOMPLETE)


def test_pairs_that_were_planned_and_never_run_are_named() -> None:
    planned = CaseEvidence(case="case", runs=tuple(pair(0)), planned_pairs=3)
    assert [unused.number for unused in pairs_of(planned).unused] == [1, 2]


def test_a_pair_whose_canary_moved_is_void_whatever_its_ratio() -> None:
    moved = pair(1, {"canary_per_s": 100.0}, {"canary_per_s": 90.0})
    calm = pair(0, {"canary_per_s": 100.0}, {"canary_per_s": 101.0})
    pairs = pairs_of(evidence(*calm, *moved))
    assert [p.number for p in pairs.used] == [0]
    assert pairs.unused == ((1, WhyUnused.CANARY_MOVED),)


@pytest.mark.parametrize(("factor", "moved"), [(1.0, False), (0.999, False), (1.001, True)])
def test_a_canary_at_its_limit_has_not_moved_and_beyond_it_has(factor: float, moved: bool) -> None:
    limit = 0.05
    head = {"canary_per_s": 100.0 * math.exp(limit * factor)}
    found = pairs_of(evidence(*pair(0, {"canary_per_s": 100.0}, head)), canary_limit=1.0).used[0]
    exact = found.canary_log_ratio
    assert exact is not None
    assert canary_moved(found, limit if factor != 1.0 else abs(exact)) is moved


def test_disturbed_pairs_are_set_aside_where_enough_calm_ones_are_left() -> None:
    runs = [r for i in range(4) for r in pair(i, {"disturbed": i == 2})]
    pairs = pairs_of(evidence(*runs), enough=3)
    assert [p.number for p in pairs.used] == [0, 1, 3]
    assert pairs.unused == ((2, WhyUnused.DISTURBED),)


def test_disturbed_pairs_count_where_too_few_calm_ones_are_left() -> None:
    runs = [r for i in range(4) for r in pair(i, {"disturbed": i >= 2})]
    pairs = pairs_of(evidence(*runs), enough=3)
    assert [p.number for p in pairs.used] == [0, 1, 2, 3]
    assert pairs.unused == ()


def test_the_undisturbed_repeat_of_a_pair_is_preferred() -> None:
    first = pair(0, {"disturbed": True, "transitions_per_s": 10.0})
    again = pair(0, {"attempt": 1, "started_at_s": 10.0}, {"attempt": 1, "started_at_s": 11.0})
    assert pairs_of(evidence(*first, *again), enough=1).used[0].base.transitions_per_s == 100.0


def test_the_first_try_is_kept_where_the_repeat_is_no_better() -> None:
    again = pair(0, {"attempt": 1, "transitions_per_s": 7.0}, {"attempt": 1, "transitions_per_s": 7.0})
    assert pairs_of(evidence(*again, *pair(0))).used[0].base.transitions_per_s == 100.0


def test_runs_of_one_attempt_stay_together() -> None:
    again = pair(0, {"attempt": 1, "transitions_per_s": 70.0}, {"attempt": 1, "transitions_per_s": 63.0})
    failed = run("case", Side.BASE, 0, status=Status.FAILED)
    head = run("case", Side.HEAD, 0, transitions_per_s=90.0)
    chosen = pairs_of(evidence(failed, head, *again)).used[0]
    assert (chosen.base.attempt, chosen.head.attempt) == (1, 1)


def test_attribution_runs_and_throughput_runs_are_never_paired_with_each_other() -> None:
    timed = run("case", Side.HEAD, 0, kind=RunKind.ATTRIBUTION, phases_ms={"physics": 1.0})
    assert pairs_of(evidence(run("case", Side.BASE, 0, **BASE), timed)).used == ()


def test_a_pair_without_the_asked_metric_is_incomplete() -> None:
    pairs = pairs_of(case_of([1.0], [1.0]), Metric.TRANSITIONS_PER_CPU_S)
    assert pairs.used == ()
    assert pairs.unused == ((0, WhyUnused.INCOMPLETE),)


def test_a_run_without_a_figure_must_say_how_it_ended() -> None:
    with pytest.raises(ValueError, match="is 'ok' and has no transitions_per_s"):
        run("case", Side.BASE, 0)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_a_rate_that_is_no_speed_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="positive finite number"):
        run("case", Side.BASE, 0, transitions_per_s=rate)


def test_runs_of_another_case_are_refused() -> None:
    with pytest.raises(ValueError, match="runs of other cases: other"):
        CaseEvidence(case="case", runs=(run("other", Side.BASE, 0, **BASE),))


@given(st.permutations(range(12)))
def test_the_order_of_records_does_not_matter(order: list[int]) -> None:
    runs = case_of([100, 110, 105, 99, 101, 102], [90, 95, 99, 91, 92, 93]).runs
    shuffled = evidence(*(runs[i] for i in order))
    assert pairs_of(shuffled) == pairs_of(evidence(*runs))
