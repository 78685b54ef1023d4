"""From a bundle to verdicts, which cases are decided, and the noise floors that outlive an experiment."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pytest
from made_bundles import G1, GO2, Made, experiment
from made_records import IDENTITY
from planned_experiment import head_of, plan_of, runs_of

from envdyno.experiment.floor_store import floor_path, keep_floors, read_floors
from envdyno.experiment.judging import decided_cases, judge_experiment, look_schedule
from envdyno.experiment.judging import plan_of as plan_in
from envdyno.judge.from_records import key_of_machine
from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.verdicts import Verdict
from envdyno.plan.sections import GateSection
from envdyno.record.bundle import BundleError

DAY = date(2026, 7, 1)
CLEAR = ((100e3, 101e3, 99e3), (60e3, 61e3, 60e3))
EVEN = ((100e3, 101e3, 99e3), (99.5e3, 101.5e3, 99e3))
CLOSE = ((100e3, 104e3, 97e3), (91e3, 92e3, 91e3))


def floor(case: str = GO2, sd: float = 0.01, pairs: int = 6, machine: str | None = None) -> NoiseFloor:
    return NoiseFloor(
        machine=machine or key_of_machine(IDENTITY),
        case=case,
        pairs=pairs,
        sd_log_ratio=sd,
        df=pairs - 1.0,
        bias_log_ratio=0.0,
        bias_half_width=0.01,
    )


def verdicts(made: Made, gate: GateSection | None) -> dict[str, Verdict]:
    assert made.head is not None
    (judgement,) = judge_experiment(made.head, made.records, gate, today=DAY)
    return {case.case: case.verdict for case in judgement.report.cases}


def adaptive(made: Made) -> Made:
    """The same, planned as 3 to 6 pairs."""
    assert made.head is not None
    plan = {**made.head.plan, "experiment": {**made.head.plan["experiment"], "pairs": "3..6"}}
    return made._replace(head=made.head.model_copy(update={"plan": plan}))


def test_every_case_is_judged_by_the_gate_that_is_given() -> None:
    made = experiment({GO2: CLEAR, G1: EVEN})
    assert verdicts(made, GateSection(min_ratio=0.9)) == {GO2: Verdict.FAIL, G1: Verdict.PASS}
    assert verdicts(made, GateSection(min_ratio=0.3))[GO2] is Verdict.PASS


def test_without_a_gate_uncommitted_changes_are_no_obstacle() -> None:
    made = experiment({GO2: EVEN})
    assert made.head is not None
    sides = [
        side.model_copy(update={"identity": {"code": {"commit": "1", "dirty": True}}})
        for side in made.head.sides
    ]
    dirty = made._replace(head=made.head.model_copy(update={"sides": tuple(sides)}))
    assert verdicts(dirty, None)[GO2] is not Verdict.INCOMPARABLE
    assert verdicts(dirty, GateSection())[GO2] is Verdict.INCOMPARABLE


def test_the_noise_floors_of_the_bundle_are_those_that_count() -> None:
    """So that a bundle has the same verdict on every machine."""
    made = experiment({GO2: EVEN})
    assert made.head is not None
    noisy = made.head.model_copy(update={"noise_floors": (asdict(floor(sd=0.2)),)})
    (judgement,) = judge_experiment(noisy, made.records, GateSection(), today=DAY)
    assert judgement.report.cases[0].code is ReasonCode.GATE_TIGHTER_THAN_NOISE


def test_a_canary_limit_of_the_gate_holds_for_phases_too() -> None:
    made = experiment({GO2: CLEAR}, slower_ms=3.0)
    assert made.head is not None
    moving = [
        record.model_copy(
            update={
                "experiment": record.experiment.model_copy(update={"canary_per_s": 700.0 + 90 * (number % 2)})
            }
        )
        for number, record in enumerate(made.records)
        if record.experiment is not None
    ]
    (strict,) = judge_experiment(made.head, moving, GateSection(), today=DAY)
    (lenient,) = judge_experiment(made.head, moving, GateSection(canary_limit=1.0), today=DAY)
    assert strict.attributions == ()
    assert lenient.attributions != ()


def test_a_case_that_is_plain_is_decided_and_one_that_is_close_is_not() -> None:
    made = adaptive(experiment({GO2: CLEAR, G1: CLOSE}))
    assert made.head is not None
    found = decided_cases(made.head, made.records, GateSection())
    assert found == {GO2: "No further pair is needed: the verdict is FAIL (UPPER_BOUND_BELOW_GATE)."}


def test_a_fixed_number_of_pairs_has_no_looks_and_a_range_begins_at_its_first() -> None:
    assert look_schedule(plan_of(pairs=6)) is None
    schedule = look_schedule(plan_of(pairs="3..12"))
    assert schedule is not None
    assert (schedule.minimum, schedule.maximum) == (3, 12)


def test_the_plan_of_a_bundle_is_the_plan_that_was_run() -> None:
    plan = plan_of(pairs="3..5", gate={"min_ratio": 0.8, "exceptions": []}, num_envs=[8, 16], budget="20m")
    head = head_of(plan, runs_of(plan))
    found = plan_in(head.model_validate_json(head.model_dump_json(by_alias=True)))
    assert found == plan
    assert found.digest == head.plan_digest


def test_a_bundle_of_one_side_is_refused() -> None:
    made = experiment({GO2: EVEN})
    assert made.head is not None
    with pytest.raises(BundleError, match="two sides or more"):
        judge_experiment(made.head.model_copy(update={"sides": made.head.sides[:1]}), [], None, today=DAY)


def test_floors_are_kept_read_back_and_pooled(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "floors.json"
    assert keep_floors(NoiseFloors((floor(),)), "one", path) == path
    assert read_floors(path).floors == (floor(),)
    keep_floors(NoiseFloors((floor(), floor(G1))), "two", path)
    (go2, g1) = sorted(read_floors(path).floors, key=lambda one: one.case)
    assert (go2.pairs, g1.pairs) == (12, 6)


def test_an_experiment_that_is_told_again_is_not_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    for _ in range(3):
        keep_floors(NoiseFloors((floor(),)), "one", path)
    assert read_floors(path).floors == (floor(),)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"floors": [{"x": 1}]}', '{"floors": 3}', "null"])
def test_a_file_of_floors_that_cannot_be_read_is_none_and_is_written_anew(text: str, tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    path.write_text(text)
    assert read_floors(path).floors == ()
    keep_floors(NoiseFloors((floor(),)), "one", path)
    assert read_floors(path).floors == (floor(),)
    assert json.loads(path.read_text())["experiments"] == ["one"]


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/a"}, "/state/envdyno/noise-floors.json"),
        ({"HOME": "/home/a"}, "/home/a/.local/state/envdyno/noise-floors.json"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/home/a"}, "/home/a/.local/state/envdyno/noise-floors.json"),
        ({"HOME": ""}, "/.local/state/envdyno/noise-floors.json"),
    ],
)
def test_floors_are_kept_where_the_user_keeps_state(environ: dict[str, str], place: str) -> None:
    assert str(floor_path(environ)) == place
