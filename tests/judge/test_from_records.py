"""From records to evidence: every figure in its place, nothing invented, nothing counted twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bundles import GO2, experiment
from made_records import IDENTITY, made_run
from planned_experiment import ScriptedExecutor, failing, head_of, plan_of, record_of, runs_of, steady

from envdyno.experiment.experiment import Experiment
from envdyno.judge.evidence import RunKind, RunOrder, RunSample, Side
from envdyno.judge.from_records import (
    MACHINE_FIELDS,
    experiment_evidence,
    key_of_machine,
    machine_key,
    phase_times,
    run_sample,
    several_machines,
)
from envdyno.judge.phase_tree import phase_tree
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status

MADE = experiment({GO2: ((100.0, 101.0, 102.0), (90.0, 91.0, 92.0))}, slower_ms=2.0)


def evidence(head: Any, records: Any, base: str = "base", other: str = "head") -> Any:
    return experiment_evidence(head, records, base, other)


def measured(
    plan: Any, cases: tuple[str, ...] = ("one",), script: Any = steady, **more: Any
) -> list[RunRecord]:
    """The records of an experiment without processes."""
    written: list[RunRecord] = []
    Experiment(runs_of(plan, cases), ScriptedExecutor(script), written.append, **more).run_all()
    return written


def test_every_run_of_both_sides_is_in_its_case_pair_and_place() -> None:
    found = evidence(MADE.head, MADE.records)
    (case,) = found.cases
    throughput = [run for run in case.runs if run.kind is RunKind.THROUGHPUT]
    assert [(run.pair, run.side, run.position) for run in throughput] == [
        (0, Side.BASE, 0),
        (0, Side.HEAD, 1),
        (1, Side.HEAD, 0),
        (1, Side.BASE, 1),
        (2, Side.BASE, 0),
        (2, Side.HEAD, 1),
    ]
    assert [run.transitions_per_s for run in case.of(Side.BASE)] == [100.0, 101.0, 102.0]
    assert [run.transitions_per_s for run in case.of(Side.HEAD)] == [90.0, 91.0, 92.0]
    assert len(case.of(Side.HEAD, RunKind.ATTRIBUTION)) == 3


def test_the_order_of_the_records_does_not_matter() -> None:
    there, back = evidence(MADE.head, MADE.records), evidence(MADE.head, MADE.records[::-1])
    assert sorted(there.cases[0].runs, key=_place) == sorted(back.cases[0].runs, key=_place)


def _place(run: RunSample) -> tuple[str, int, str]:
    return run.kind.value, run.pair, run.side.value


def test_of_three_sides_only_the_two_that_are_asked_for_take_part() -> None:
    plan = plan_of(("a", "b", "c"))
    head, records = head_of(plan, runs_of(plan)), measured(plan)
    found = evidence(head, records, "a", "c")
    assert len(found.cases[0].runs) == 6
    assert (found.base.name, found.head.name) == ("a", "c")


def test_pairs_that_were_not_needed_are_not_missing() -> None:
    plan = plan_of(pairs="3..5")
    records = measured(plan, decided=lambda _: {"one": "It is decided."})
    found = evidence(head_of(plan, runs_of(plan)), records, "a", "b")
    assert {run.pair for run in found.cases[0].runs} == {0, 1, 2}
    assert found.cases[0].planned_pairs == 3


def test_pairs_that_were_planned_and_skipped_are_missing() -> None:
    plan = plan_of()
    records = measured(plan, not_measured={"one": "It cannot be built."})
    found = evidence(head_of(plan, runs_of(plan)), records, "a", "b")
    assert {run.status for run in found.cases[0].runs} == {Status.SKIPPED}
    assert {run.reason for run in found.cases[0].runs} == {"It cannot be built"}


def test_a_failed_run_keeps_its_reason_and_has_no_figure() -> None:
    plan = plan_of()
    records = measured(plan, script=lambda run, _: failing(run))
    run = evidence(head_of(plan, runs_of(plan)), records, "a", "b").cases[0].runs[0]
    assert (run.status, run.transitions_per_s) == (Status.KILLED, None)
    assert run.reason == "Worker 0 was killed by SIGKILL"


def test_a_window_in_which_nothing_was_completed_is_no_figure() -> None:
    plan = plan_of()
    records = measured(plan, script=lambda run, _: steady(run, 0)._replace(record=record_of(run, 0.0)))
    run = evidence(head_of(plan, runs_of(plan)), records, "a", "b").cases[0].runs[0]
    assert (run.status, run.transitions_per_s) == (Status.INVALID, None)
    assert run.reason == "no transition was completed in its window"


def test_what_was_found_before_measuring_keeps_a_case_from_being_compared() -> None:
    assert MADE.head is not None
    head = MADE.head.model_copy(update={"misaligned": {GO2: "substeps differ"}})
    assert evidence(head, MADE.records).cases[0].not_aligned == "substeps differ"


def test_runs_of_two_machines_are_not_put_together() -> None:
    fast = {**IDENTITY, "cpu_model": "another"}
    records = [made_run(100.0), made_run(100.0, identity=fast)]
    text = several_machines(records)
    assert text is not None
    assert "cpu_model is" in text
    assert "another" in text
    assert several_machines(records[:1] * 2) is None
    assert several_machines([]) is None


def test_a_case_whose_runs_were_made_under_other_limits_is_not_aligned() -> None:
    changed = [
        record
        if record.experiment is None or record.experiment.pair < 3 or record.fingerprint is None
        else record.model_copy(
            update={
                "fingerprint": record.fingerprint.model_copy(
                    update={"identity": {**record.fingerprint.identity, "quota_cpus": 2.0}}
                )
            }
        )
        for record in MADE.records
    ]
    found = evidence(MADE.head, changed)
    assert "quota_cpus" in found.cases[0].not_aligned
    assert found.machine is None


def test_a_machine_has_the_same_key_before_and_after_a_run() -> None:
    record = made_run(100.0)
    assert record.fingerprint is not None
    assert machine_key(record) == key_of_machine({name: IDENTITY.get(name) for name in MACHINE_FIELDS})
    assert key_of_machine(IDENTITY) == key_of_machine({**IDENTITY, "packages": {}, "python": "3.13"})
    assert key_of_machine(IDENTITY) != key_of_machine({**IDENTITY, "smt": "on"})


def test_an_unknown_commit_is_no_revision_and_a_side_of_options_is_its_own() -> None:
    assert MADE.head is not None
    sides = [
        side.model_copy(update={"identity": {"code": {"commit": None, "dirty": True}}})
        for side in MADE.head.sides
    ]
    found = evidence(MADE.head.model_copy(update={"sides": tuple(sides)}), MADE.records)
    assert (found.base.revision, found.base.dirty) == (None, True)
    plan = plan_of()
    options = evidence(head_of(plan, runs_of(plan)), measured(plan), "a", "b")
    assert (options.base.revision, options.base.dirty) == ("a" * 8, False)


def test_blocked_order_and_an_a_a_are_told() -> None:
    plan = plan_of(order="blocked", aa=True)
    found = evidence(head_of(plan, runs_of(plan)), measured(plan), "a", "b")
    assert (found.order, found.is_aa) == (RunOrder.BLOCKED, True)
    assert evidence(MADE.head, MADE.records).order is RunOrder.PAIRED


def test_a_record_of_no_experiment_is_no_sample() -> None:
    with pytest.raises(ValueError, match="is of no experiment"):
        run_sample(made_run(1.0), Side.BASE)
    assert evidence(MADE.head, [*MADE.records, made_run(1.0)]) == evidence(MADE.head, MADE.records)


def node(name: str, ms: float | None, *children: dict[str, Any], path: str = "") -> dict[str, Any]:
    return {"name": name, "path": path or name, "ms_per_step": ms, "children": list(children)}


def phased(*nodes: dict[str, Any]) -> RunRecord:
    return made_run(1.0, timing="attribution", phases={"step_ms": 10.0, "phases": list(nodes)})


def test_phases_are_told_by_their_paths() -> None:
    record = phased(node("env_step", 9.0, node("physics", 7.0), node("reset_done", 0.0)), node("replay", 0.5))
    assert phase_times(record, "ms_per_step") == {
        "env_step": 9.0,
        "env_step/physics": 7.0,
        "env_step/reset_done": 0.0,
        "replay": 0.5,
    }


def test_what_is_timed_inside_a_phase_that_is_not_moves_to_its_parent_under_both_names() -> None:
    inner = node("step_core", None, node("physics", 7.0, node("collide", 2.0)))
    times = phase_times(phased(node("env_step", 9.0, inner)), "ms_per_step")
    assert times == {
        "env_step": 9.0,
        "env_step/step_core.physics": 7.0,
        "env_step/step_core.physics/collide": 2.0,
    }


def test_a_users_phase_may_be_called_remainder() -> None:
    times = phase_times(phased(node("remainder", 1.0)), "ms_per_step")
    assert times == {"remainder (phase)": 1.0}
    phase_tree([times or {}])


def test_a_run_without_phases_tells_none() -> None:
    assert phase_times(made_run(1.0), "ms_per_step") is None
    assert phase_times(phased(), "ms_per_step") is None


NODES = st.recursive(
    st.builds(lambda name, ms: node(name, ms), st.sampled_from("abc"), st.none() | st.floats(0, 9)),
    lambda inner: st.builds(
        lambda name, ms, children: node(name, ms, *{child["name"]: child for child in children}.values()),
        st.sampled_from("abc"),
        st.none() | st.floats(0, 9),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.lists(NODES, max_size=3, unique_by=lambda found: found["name"]))
def test_whatever_a_framework_times_makes_a_tree_that_the_judge_can_read(nodes: list[dict[str, Any]]) -> None:
    times = phase_times(phased(*nodes), "ms_per_step")
    phase_tree([times or {}])


def test_cases_without_any_record_are_there_and_empty() -> None:
    plan = plan_of()
    head = head_of(plan, runs_of(plan, ("one", "two")))
    found = evidence(head, measured(plan), "a", "b")
    assert [(case.case, len(case.runs)) for case in found.cases] == [("one", 6), ("two", 0)]
