from __future__ import annotations

import signal
from typing import Any

import hand_made_run
import pytest
from hand_made_run import measured, outcome

from envdyno.agent.protocol import FromWorker
from envdyno.launch.failure import FailureKind
from envdyno.launch.run_record import make_record
from envdyno.record.run_record import RunRecord, Throughput
from envdyno.record.status import Status
from envdyno.record.strict_json import loads

COMMAND = ("envdyno", "run", "synthetic")


def record_of(*arguments: Any, **changes: Any) -> RunRecord:
    """The record of a hand-made run."""
    return make_record(outcome(*arguments, **changes), COMMAND)


def figures(record: RunRecord) -> Throughput:
    """The record's figures, which have to be there."""
    assert record.throughput is not None
    return record.throughput


def test_a_run_that_went_well_has_figures_made_of_its_totals() -> None:
    record = record_of()
    found = figures(record)
    assert record.status is Status.OK
    assert found.transitions_per_s == 8000
    assert found.vector_steps_per_s == 2000
    assert found.substeps_per_s == 24000
    assert found.real_time_factor == 160
    assert found.episodes_per_s == 14
    assert found.resets_per_step == pytest.approx(14 / 2000)
    assert record.reward_mean == 0.25
    assert record.started_at == "2026-07-01T12:00:00.000+00:00"
    assert record.command == COMMAND
    assert record.config_hash == record.case.config_hash()
    assert record.skipped_nodes == {"9": "it has no CPUs"}


def test_transitions_per_cpu_second_make_up_for_samples_that_span_more_than_the_window() -> None:
    record = record_of(use=hand_made_run.use(2, elapsed_s=1.25, cpu_s=2.5))
    assert figures(record).transitions_per_cpu_s == pytest.approx(8000 * 1.25 / 2.5)


@pytest.mark.parametrize("use", [None, hand_made_run.use(2, cpu_s=0.0), hand_made_run.use(2, cpu_s=-0.01)])
def test_without_cpu_time_there_is_no_figure_per_cpu_second_but_a_reason(use: Any) -> None:
    record = record_of(use=use)
    assert figures(record).transitions_per_cpu_s is None
    assert "throughput.transitions_per_cpu_s" in record.absent


def test_what_the_workload_does_not_tell_is_null_with_a_reason() -> None:
    silent = {"episodes": None, "nonfinite_rows": None, "reward_sum": None}
    spec = {**hand_made_run.SPEC, "substeps": None, "step_dt_s": None}
    record = record_of([measured(silent), measured()], ready_changes={"spec": spec})
    found = figures(record)
    assert (found.substeps_per_s, found.real_time_factor, found.episodes_per_s) == (None, None, None)
    assert record.reward_mean is None
    for name in ("totals.episodes", "totals.reward_sum", "reward_mean", "throughput.substeps_per_s"):
        assert "does not tell" in record.absent[name]


@pytest.mark.parametrize(
    "record",
    [
        record_of(),
        record_of(use=None),
        record_of([measured({"reward_sum": None, "episodes": None}), measured()]),
        record_of([measured({"transitions": 0, "steps": 0}, first_ns=None)] * 2),
        record_of([measured()], shares=(8,)),
        record_of(use=hand_made_run.use(2, steal_s=None, throttled_us=None)),
        make_record(hand_made_run.failed_outcome(), COMMAND),
        make_record(hand_made_run.failed_outcome(states=[], variables=()), COMMAND),
    ],
    ids=[
        "well",
        "no counters",
        "silent",
        "nothing done",
        "one worker",
        "silent kernel",
        "failed",
        "not started",
    ],
)
def test_every_null_figure_has_its_reason(record: RunRecord) -> None:
    body = record.to_json()
    wanted = {"spec", "throughput", "totals", "reward_mean", "machine", "software", "overhead_s"}
    nulls = {name for name in wanted if body[name] is None}
    for part in ("throughput", "totals", "machine"):
        nulls |= {f"{part}.{name}" for name, value in (body[part] or {}).items() if value is None}
    pressure = (body["machine"] or {}).get("pressure_s", {})
    nulls |= {f"machine.pressure_s.{name}" for name, value in pressure.items() if value is None}
    assert nulls <= set(record.absent)
    assert all(record.absent.values())


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (FailureKind.SIGNAL, Status.KILLED),
        (FailureKind.DEADLINE, Status.TIMEOUT),
        (FailureKind.EXCEPTION, Status.FAILED),
        (FailureKind.EXIT, Status.FAILED),
        (FailureKind.PROTOCOL, Status.FAILED),
        (FailureKind.LAUNCH, Status.FAILED),
    ],
)
def test_a_failed_run_has_its_cause_and_no_figure(kind: FailureKind, status: Status) -> None:
    record = make_record(hand_made_run.failed_outcome(kind), COMMAND)
    assert record.status is status
    assert record.failure is not None
    assert (record.failure.kind, record.failure.worker, record.failure.stage) == (kind.value, 1, "window")
    assert record.failure.log_tail == ("loading assets", "stepping")
    assert (record.throughput, record.totals, record.reward_mean) == (None, None, None)
    assert [worker.totals for worker in record.workers] == [None, None]


def test_a_run_that_failed_after_its_window_has_no_figure_either() -> None:
    failure = hand_made_run.failed_outcome().failure
    record = record_of(failure=failure)
    assert (record.throughput, record.totals) == (None, None)


def test_one_worker_without_a_result_leaves_no_figure_of_the_others() -> None:
    half = outcome()
    half.states[1].messages.pop(FromWorker.MEASURED)
    record = make_record(half, COMMAND)
    assert (record.throughput, record.totals) == (None, None)
    assert record.workers[0].transitions_per_s is None


def test_an_interrupted_run_says_by_what() -> None:
    record = record_of(interrupted_by=signal.SIGTERM)
    assert record.status is Status.INTERRUPTED
    assert record.throughput is None
    assert record.failure is not None
    assert record.failure.message == "Interrupted by SIGTERM."


@pytest.mark.parametrize(
    "told",
    [measured({"nonfinite_rows": 1}), measured({"nonfinite_rewards": 1}), measured(nonfinite_at_end=2)],
    ids=["rows", "rewards", "seen at the end"],
)
def test_work_that_is_not_finite_makes_a_run_invalid_unless_it_is_allowed(told: dict[str, Any]) -> None:
    record = record_of([measured(), told])
    assert record.status is Status.INVALID
    assert record.throughput is None
    assert record.totals is not None
    assert [worker.transitions_per_s for worker in record.workers] == [None, None]
    allowed = record_of([measured(), told], request={"allow_nonfinite": True})
    assert allowed.status is Status.OK
    assert figures(allowed).transitions_per_s == 8000


def test_a_mean_reward_over_steps_some_of_which_were_not_finite_is_not_given() -> None:
    record = record_of([measured({"nonfinite_rewards": 1})] * 2, request={"allow_nonfinite": True})
    assert record.reward_mean is None
    assert "not finite" in record.absent["reward_mean"]


def test_the_case_holds_what_was_asked_for_in_each_mode() -> None:
    window = record_of().case
    assert (window.mode.value, window.window_s, window.steps) == ("window", 1.0, None)
    latency = record_of(request={"mode": "latency", "steps": 50}).case
    assert (latency.mode.value, latency.window_s, latency.steps) == ("latency", None, 50)
    assert window.shares == (4, 4)
    assert window.placements == ("CPUs 0-1, memory bind 0", "CPUs 2-3, memory bind 1")
    assert latency.config_hash() != window.config_hash()


def test_what_is_timed_and_how_is_part_of_an_attribution_run_and_of_no_other() -> None:
    wanted = {"probes": ("physics=sim:step",), "phase_cpu": True}
    timed = [record_of(request={"timing": "attribution", **more}) for more in ({}, wanted)]
    plain = [record_of(request=more) for more in ({}, wanted)]
    assert timed[0].config_hash != timed[1].config_hash
    assert plain[0].config_hash == plain[1].config_hash
    assert (timed[1].case.probes, timed[1].case.phase_cpu) == (("physics=sim:step",), True)
    assert (plain[1].case.probes, plain[1].case.phase_cpu) == ((), False)
    assert timed[1].fingerprint is not None
    assert timed[1].fingerprint.identity["config_hash"] == timed[1].config_hash


def test_runs_without_hardware_counters_are_other_measurements() -> None:
    assert record_of().config_hash != record_of(request={"hardware_counters": "off"}).config_hash


def test_a_record_is_one_line_of_strict_json_that_reads_back_equal() -> None:
    for record in (record_of(), make_record(hand_made_run.failed_outcome(), COMMAND)):
        line = record.to_line()
        assert "\n" not in line
        assert RunRecord.model_validate(loads(line)) == record


def test_the_fingerprint_has_what_was_loaded_or_says_why_not() -> None:
    record = record_of()
    assert record.fingerprint is not None
    assert record.fingerprint.identity["packages"] == {"numpy": "2.4.6"}
    assert record.fingerprint.identity["nodes"] == {"0": "0-1", "1": "2-3"}
    failed = make_record(hand_made_run.failed_outcome(), COMMAND)
    assert failed.fingerprint is not None
    assert failed.fingerprint.identity["packages"] is None
    assert "fingerprint.identity.packages" in failed.absent


def test_the_time_beyond_the_slowest_workers_stages_is_the_overhead() -> None:
    stages = 0.01 + sum(hand_made_run.closed()["ledger"].values())
    assert record_of().overhead_s == pytest.approx(2.0 - stages)
    assert record_of(elapsed_s=1.0).overhead_s == 0
