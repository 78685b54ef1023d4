from __future__ import annotations

from typing import Any

import hand_made_run
import pytest
from hand_made_run import measured, outcome

from envdyno.agent.placement.notes import Note, NoteKind
from envdyno.launch.run_record import make_record
from envdyno.record.status import Doubt, Warning_


def doubts_of(*arguments: Any, **changes: Any) -> dict[Doubt, Warning_]:
    """What makes the figures of a hand-made run doubtful, by code."""
    record = make_record(outcome(*arguments, **changes), ("envdyno",))
    return {warning.code: warning for warning in record.warnings}


def test_a_quiet_and_steady_run_is_not_doubted() -> None:
    assert doubts_of() == {}


@pytest.mark.parametrize(
    ("use", "code", "said"),
    [
        ({"foreign_cores_chosen": 1.3}, Doubt.FOREIGN_LOAD, "1.30 cores"),
        ({"steal_s": 0.2}, Doubt.STEAL, "0.20 cores"),
        ({"throttled_us": 250_000}, Doubt.THROTTLED, "0.25 s"),
        ({"control_cpu_s": 0.02}, Doubt.CONTROL_LOAD, "0.020 cores"),
    ],
)
def test_a_disturbed_window_is_named_with_its_size_and_a_remedy(
    use: dict[str, Any], code: Doubt, said: str
) -> None:
    (warning,) = doubts_of(use=hand_made_run.use(2, **use)).values()
    assert warning.code is code
    assert said in warning.message
    assert warning.remedy


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ({"foreign_cores_chosen": 0.1}, Doubt.FOREIGN_LOAD),
        ({"steal_s": 0.05}, Doubt.STEAL),
        ({"control_cpu_s": 0.01}, Doubt.CONTROL_LOAD),
    ],
)
def test_load_exactly_at_the_limit_is_no_doubt_and_just_above_it_is(
    use: dict[str, float], code: Doubt
) -> None:
    assert code not in doubts_of(use=hand_made_run.use(2, **use))
    more = {name: value * (1 + 1e-9) for name, value in use.items()}
    assert code in doubts_of(use=hand_made_run.use(2, **more))


def test_the_limit_of_foreign_load_is_the_one_that_was_asked_for() -> None:
    disturbed = hand_made_run.use(2, foreign_cores_chosen=1.3)
    assert doubts_of(use=disturbed, request={"foreign_load_limit_cores": 2.0}) == {}


def test_a_warm_up_that_did_not_settle_is_named() -> None:
    warmup = {"steps": 120, "rounds": 4, "seconds": 0.2, "steady": False, "relative_change": -0.31}
    (warning,) = doubts_of([measured()], shares=(4,), ready_changes={"warmup": warmup}).values()
    assert warning.code is Doubt.NOT_STEADY
    assert "-31 %" in warning.message


def test_a_warm_up_too_short_to_tell_is_no_doubt() -> None:
    warmup = {"steps": 3, "rounds": 1, "seconds": 0.2, "steady": None, "relative_change": None}
    assert doubts_of(ready_changes={"warmup": warmup}) == {}


def test_a_rate_that_falls_over_the_window_is_named() -> None:
    falling = measured(series=[200 - 4 * index for index in range(20)])
    (warning,) = doubts_of([falling], shares=(4,)).values()
    assert warning.code is Doubt.TREND
    assert "-47 %" in warning.message


def test_raw_samples_that_were_thinned_are_said_in_a_window_only() -> None:
    thinned = measured(raw_kept=900)
    assert "last 100 steps" in doubts_of([thinned], shares=(4,))[Doubt.RAW_THINNED].message
    latency = {"mode": "latency", "steps": 1000}
    assert Doubt.RAW_THINNED not in doubts_of([thinned], shares=(4,), request=latency)


def test_a_binding_that_was_denied_names_its_half_and_the_remedy() -> None:
    denied = {
        "state": "denied",
        "actual": None,
        "errno": 1,
        "message": "set_mempolicy was refused.",
        "remedy": "Run the container with --cap-add SYS_NICE.",
    }
    (warning,) = doubts_of(
        [measured()], shares=(4,), placed_message=hand_made_run.placed(memory=denied)
    ).values()
    assert warning.code is Doubt.PLACEMENT
    assert warning.message == "Worker 0: memory binding denied. set_mempolicy was refused."
    assert warning.remedy == "Run the container with --cap-add SYS_NICE."


def test_a_binding_that_was_not_asked_for_is_no_doubt() -> None:
    off = {"state": "off", "actual": None, "errno": None, "message": None, "remedy": None}
    assert doubts_of(placed_message=hand_made_run.placed(cpu=off, memory=off)) == {}


def test_threads_and_pages_out_of_place_are_named_as_the_last_look_found_them() -> None:
    finding = {"findings": [{"kind": "remote_pages", "message": "12 % of the memory is remote."}]}
    (warning,) = doubts_of([measured(audit=finding)], shares=(4,)).values()
    assert (warning.code, warning.message) == (Doubt.AUDIT, "Worker 0: 12 % of the memory is remote.")


def test_notes_of_the_choice_are_passed_on() -> None:
    note = Note(NoteKind.QUOTA, "The CPU quota gives 1 CPU.")
    site = hand_made_run.site(2, choice={"notes": (note,)})
    assert doubts_of(on=site)[Doubt.PLACEMENT_NOTE].message == "The CPU quota gives 1 CPU."


def test_an_assumption_about_counting_is_said() -> None:
    found = doubts_of(ready_changes={"counting_assumption": "every row is taken for a transition"})
    assert "every row is taken for a transition" in found[Doubt.COUNTING_ASSUMED].message


def test_a_window_of_few_steps_says_what_its_edges_are_worth() -> None:
    few = measured({"steps": 20, "transitions": 80})
    (warning,) = doubts_of([few, few]).values()
    assert warning.code is Doubt.FEW_STEPS
    assert "±5.0 %" in warning.message
    enough = measured({"steps": 50, "transitions": 200})
    assert doubts_of([enough, enough]) == {}


def test_a_window_without_an_episodes_end_says_nothing_about_resets() -> None:
    whole = measured({"episodes": 0})
    assert set(doubts_of([whole, whole])) == {Doubt.NO_RESETS}
    assert doubts_of([measured({"episodes": None}), whole]) == {}


def test_a_straggler_is_named_beyond_its_limit() -> None:
    def slower(transitions: int) -> dict[str, Any]:
        return measured({"transitions": transitions, "steps": transitions // 4})

    assert doubts_of([slower(4400), slower(4000)]) == {}
    (warning,) = doubts_of([slower(4800), slower(4000)]).values()
    assert warning.code is Doubt.STRAGGLER
    assert "1.20 times" in warning.message


def test_rows_that_were_not_finite_come_first_and_ask_for_no_flag_that_was_given() -> None:
    bad = measured({"nonfinite_rows": 3, "nonfinite_rewards": 2})
    record = make_record(outcome([bad, measured()], use=hand_made_run.use(2, steal_s=1.0)), ("envdyno",))
    assert record.warnings[0].code is Doubt.NONFINITE
    assert "--allow-nonfinite" in record.warnings[0].remedy
    allowed = doubts_of([bad, measured()], request={"allow_nonfinite": True})[Doubt.NONFINITE]
    assert "--allow-nonfinite" not in allowed.remedy


def test_processes_that_outlived_the_workload_are_said() -> None:
    assert "2 processes" in doubts_of(left_processes=2)[Doubt.LEFT_PROCESSES].message


def test_a_bad_exit_after_closing_is_said() -> None:
    ended = outcome()
    ended.states[1].exit_status = -11
    (warning,) = make_record(ended, ("envdyno",)).warnings
    assert warning.code is Doubt.BAD_EXIT
    assert "Worker 1" in warning.message


def test_a_failed_run_is_not_doubted_for_what_followed_from_the_failure() -> None:
    failed = hand_made_run.failed_outcome(left_processes=3)
    for state in failed.states:
        state.exit_status = -9
    assert make_record(failed, ("envdyno",)).warnings == ()
