"""An experiment as text: what is shown, how wide, and that nothing is shown that was not measured."""

from __future__ import annotations

from typing import Any

import pytest
from made_bundles import G1, GO2, SCENARIOS, Made, experiment, failing, missing_case, passing
from made_records import START
from planned_experiment import ScriptedExecutor, head_of, plan_of, runs_of, steady

from envdyno.experiment.experiment import Experiment
from envdyno.experiment.judging import judge_experiment
from envdyno.record.hardware import EventCount, HardwareCounts
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Doubt, Warning_
from envdyno.report.experiment_report import experiment_lines
from envdyno.report.glyphs import ASCII

EXPERIMENTS = sorted(name for name, make in SCENARIOS.items() if make().head is not None)


def report(made: Made, *, judged: bool = True, width: int = 100) -> list[str]:
    assert made.head is not None
    material = made.material()
    return [
        line
        for one in material.judgements
        for line in experiment_lines(
            made.head, one.other, one.report, one.attributions, made.records, judged=judged, width=width
        )
    ]


def text(made: Made, **more: Any) -> str:
    """The report as one line, however its sentences are broken."""
    return " ".join(" ".join(report(made, **more)).split())


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("scenario", EXPERIMENTS)
def test_no_line_is_wider_than_the_screen(scenario: str, width: int) -> None:
    assert max(map(len, report(SCENARIOS[scenario](), width=width))) <= width


@pytest.mark.parametrize("scenario", EXPERIMENTS)
def test_the_report_can_be_written_in_ascii(scenario: str) -> None:
    for line in report(SCENARIOS[scenario]()):
        assert ASCII.fit(line).isascii()


def test_on_a_wide_screen_every_case_is_one_line_with_both_sides_ratio_and_verdict() -> None:
    header, first, second, *_ = report(failing(), width=160)
    assert header.split("  ")[0] == "transitions/s"
    assert "base (60c2ce7c)" in header
    assert "head (2a3bcea7)" in header
    for cell in (
        GO2,
        "312,825 [310,949–313,762]",
        "201,358 [200,251–202,063]",
        "0.644 [0.642, 0.646]",
        "6 of 6",
    ):
        assert cell in first
    assert first.endswith("FAIL")
    assert second.endswith("PASS")


def test_on_a_narrower_screen_the_names_stand_above_their_figures() -> None:
    lines = report(failing(), width=100)
    assert lines[2] == GO2
    assert lines[3].startswith("  312,825 [310,949–313,762]")


def test_on_a_narrow_screen_every_case_is_a_block() -> None:
    lines = report(failing(), width=80)
    assert lines[0] == f"{GO2}   FAIL"
    assert lines[1].split() == ["base", "(60c2ce7c)", "312,825", "[310,949–313,762]", "transitions/s"]
    assert lines[3].split() == ["ratio", "[95", "%]", "0.644", "[0.642,", "0.646]", "6", "of", "6", "pairs"]


def test_a_failed_case_says_why_and_one_that_passed_says_nothing_more() -> None:
    said = text(failing())
    assert f"{GO2}: FAIL (UPPER_BOUND_BELOW_GATE). The ratio 0.644 is below 0.9" in said
    assert f"{G1}: " not in said


def test_phases_of_both_sides_stand_side_by_side_with_the_change_and_the_remainder() -> None:
    lines = report(failing())
    physics, unchanged = (line for line in lines if line.lstrip().startswith("physics"))
    assert unchanged.split()[:5] == ["physics", "10.100", "→", "10.100", "+0.000"]
    assert physics.split() == [
        "physics",
        "10.100",
        "→",
        "17.407",
        "+7.307",
        "[+7.242,",
        "+7.373]",
        "100",
        "%",
    ]
    assert sum(line.lstrip().startswith("remainder") for line in lines) == 4, "in both cases, on both levels"
    assert any("More than half of the change is env_step/physics." in line for line in lines)


def test_columns_of_phases_are_headed_by_the_names_of_the_sides() -> None:
    made = experiment(
        {GO2: ((1e5, 1.01e5, 1e5), (7e4, 7.1e4, 7e4))}, slower_ms=2.0, sides=("direct", "manager")
    )
    header = next(line for line in report(made) if "ms a vector step, wall time" in line)
    assert header.split()[6:8] == ["direct", "manager"]


def test_a_phase_that_was_called_more_often_on_one_side_says_so() -> None:
    def dispatched(record: RunRecord) -> RunRecord:
        entry = record.experiment
        if record.phases is None or entry is None:
            return record
        calls = 3.0 if entry.side == "head" else 1.0

        def told(node: dict[str, Any]) -> dict[str, Any]:
            inner = [told(child) for child in node["children"]]
            return {**node, "calls_per_step": calls if node["name"] == "physics" else 1.0, "children": inner}

        phases = {**record.phases, "phases": [told(node) for node in record.phases["phases"]]}
        return record.model_copy(update={"phases": phases})

    made = failing()
    lines = report(made._replace(records=tuple(map(dispatched, made.records))))
    physics = [line for line in lines if line.lstrip().startswith("physics")]
    assert len(physics) == 2
    assert all(line.endswith("calls 1 → 3") for line in physics)
    assert not any("calls" in line for line in lines if line.lstrip().startswith("update_state"))


def test_a_phase_whose_timer_never_ran_is_not_shown_as_0_ms() -> None:
    def idle(record: RunRecord) -> RunRecord:
        if record.phases is None:
            return record
        told = {"name": "replay", "path": "replay", "status": "never_ran", "ms_per_step": 0.0}
        told |= {"calls_per_step": 0, "children": []}
        rest = [node for node in record.phases["phases"] if node["name"] != "replay"]
        return record.model_copy(update={"phases": {**record.phases, "phases": [*rest, told]}})

    made = failing()
    lines = report(made._replace(records=tuple(map(idle, made.records))))
    rows = {" ".join(line.split()) for line in lines if line.lstrip().startswith("replay")}
    assert rows == {"replay never ran → never ran"}


def test_a_case_that_could_not_be_run_is_listed_with_the_reason_and_no_figure() -> None:
    lines = report(missing_case(), width=160)
    row = next(line for line in lines if line.startswith(G1))
    assert row.split() == [G1, "-", "-", "-", "0", "of", "6", "NOT_MEASURED"]
    assert (
        f"{G1}: NOT_MEASURED (CASE_MISSING). The side head cannot build it: No module named 'torch'."
        in text(missing_case())
    )


def test_without_a_gate_no_verdict_is_shown_but_what_has_no_result_is() -> None:
    said = text(failing(), judged=False)
    assert "FAIL" not in said
    assert "PASS" not in said
    assert "NOT_MEASURED" in text(missing_case(), judged=False)


def test_the_footer_tells_sides_order_drift_packages_runs_and_resolution() -> None:
    said = text(passing())
    assert "sides differ in: code, packages order: AB BA AB BA AB BA drift: none seen" in said
    assert "mujoco 3.3.7 → 4.0.0" in said
    assert "runs: 24 made" in said
    assert "smallest visible change: 0.3 %" in said


def test_drift_disturbance_and_missing_pairs_are_told_with_their_codes() -> None:
    said = text(SCENARIOS["drifted"]())
    assert "drift: see below" in said
    assert "(MACHINE_TREND)" in said
    assert "runs: 12 made, 6 disturbed by foreign load" in said
    assert "(DISTURBED_RUNS)" in said


def test_an_order_of_many_pairs_is_shortened() -> None:
    base = [1e5 + 100 * (pair % 3) for pair in range(12)]
    assert "order: AB BA AB BA … (12 pairs)" in text(experiment({GO2: (base, base)}))


def test_what_many_cases_have_in_common_is_told_in_full_for_the_first_ones_only() -> None:
    names = [f"case-{number}" for number in range(6)]
    made = experiment(
        dict.fromkeys(names, ((100000.0, 101000.0, 100000.0), (100000.0, 100000.0, 101000.0))),
        planned_pairs=6,
    )
    said = text(made)
    assert said.count("pairs of case-0 are incomplete. (PAIRS_INCOMPLETE)") == 1
    assert said.count("(PAIRS_INCOMPLETE)") == 2
    assert "PAIRS_INCOMPLETE too: case-2, case-3, case-4, case-5." in said


def doubtful(made: Made, *numbers: int) -> Made:
    """The same, some of its runs with a warning each."""
    records = list(made.records)
    for number in numbers:
        warning = Warning_(code=Doubt.STEAL, message=f"{number} cores were taken.", remedy="Use your own.")
        records[number] = records[number].model_copy(update={"warnings": (warning, warning)})
    return made._replace(records=tuple(records))


def test_doubts_of_single_runs_are_counted_and_told_once() -> None:
    assert "! 1 of 24 runs: 3 cores were taken. Use your own. (steal)" in text(doubtful(passing(), 3))
    said = text(doubtful(passing(), 3, 4, 5))
    assert "! 3 of 24 runs: Such as: 3 cores were taken. Use your own. (steal)" in said


def test_what_the_user_was_told_before_measuring_is_told_again() -> None:
    made = passing()
    assert made.head is not None
    head = made.head.model_copy(update={"notices": ("governor: powersave.",)})
    assert "! governor: powersave." in report(made._replace(head=head))


def test_attribution_runs_in_which_nothing_is_named_say_what_to_do() -> None:
    made = failing()
    silent = tuple(
        record
        if record.phases is None
        else record.model_copy(update={"phases": {**record.phases, "phases": []}})
        for record in made.records
    )
    assert f"! No phase is named in {GO2}, {G1}, so the change cannot be attributed." in text(
        made._replace(records=silent)
    )


def test_of_three_sides_each_is_held_against_the_first() -> None:
    plan = plan_of(("one", "two", "three"), gate={"min_ratio": 0.5})
    written: list[RunRecord] = []
    Experiment(runs_of(plan), ScriptedExecutor(steady), written.append).run_all()
    head = head_of(plan, runs_of(plan))

    judgements = judge_experiment(head, written, plan.gate, today=START.date())
    assert [one.other for one in judgements] == ["two", "three"]
    for one in judgements:
        lines = experiment_lines(
            head, one.other, one.report, one.attributions, written, judged=True, width=160
        )
        assert f"{one.other} (kind={one.other})" in lines[0]
        assert "one (kind=one)" in lines[0]
        assert "runs: 6 made" in lines


def test_what_the_processor_counted_on_both_sides_stands_below_the_case() -> None:
    made = failing()
    counted = []
    for record in made.records:
        assert record.experiment is not None
        assert record.throughput is not None
        per_transition = 50_000 if record.experiment.side == "head" else 40_000
        count = EventCount(
            count=round(per_transition * 10 * record.throughput.transitions_per_s), counted_share=1.0
        )
        hardware = HardwareCounts(
            elapsed_s=10.0,
            instructions=count,
            cycles=None,
            cache_references=None,
            cache_misses=None,
            branch_misses=None,
            instructions_per_cycle=None,
            instructions_per_transition=float(per_transition),
        )
        counted.append(record.model_copy(update={"hardware": hardware}))
    shown = text(made._replace(records=tuple(counted)), width=160)
    assert "hardware counters, user space base head change [95 %]" in shown
    assert "instructions a transition 40,000 → 50,000 +25.0 % [+25.0 %, +25.0 %]" in shown
    assert "cycles a transition" not in shown
    assert "hardware" not in text(made)
