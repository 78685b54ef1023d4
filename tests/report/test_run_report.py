from __future__ import annotations

from dataclasses import replace
from typing import Any

import hand_made_run
import pytest
from hand_made_run import measured, outcome

from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.launch.run_record import make_record
from envdyno.record.run_record import RunRecord
from envdyno.report.glyphs import glyphs_for
from envdyno.report.run_report import heading, placement_outcome, report_lines


def record_of(*arguments: Any, **changes: Any) -> RunRecord:
    """The record of a hand-made run."""
    return make_record(outcome(*arguments, **changes), ("envdyno", "run"))


def text_of(record: RunRecord) -> str:
    """The whole report."""
    return "\n".join(report_lines(record))


def test_the_report_of_a_run_says_what_was_measured_and_on_what() -> None:
    machine = "MODEL"
    record = record_of(request={"options": {"step_ms": 1.0}})
    assert record.fingerprint is not None
    identity = {**record.fingerprint.identity, "cpu_model": machine}
    record = record.model_copy(
        update={"fingerprint": record.fingerprint.model_copy(update={"identity": identity})}
    )
    assert report_lines(record) == [
        "synthetic step_ms=1.0   8 envs   2 workers on nodes 0-1   MODEL, CPUs 0-3",
        "",
        "  8,000 transitions/s             1.0 s window, 8,000 transitions, 0 reset rows, 14 episodes ended",
        "  8,889 transitions/CPU-s         3 substeps each: 24,000 substeps/s, 160 × real time",
        "  2,000 vector steps/s            0.01 resets a vector step",
        "",
        "  worker  node  CPUs  envs   share  step p50   CPU  placement",
        "  0       0     0-1      4  50.0 %   1.00 ms  22 %  CPU applied, memory applied (99.9 % on node 0)",
        "  1       1     2-3      4  50.0 %   1.00 ms  22 %  CPU applied, memory applied (0.1 % on node 1)",
    ]


def test_what_the_processor_counted_is_one_line_and_without_counters_there_is_none() -> None:
    lines = report_lines(record_of(hardware=hand_made_run.counted(2)))
    assert (
        "  2 M instructions/transition     2.00 a cycle, 10.0 % cache misses, counted 80 % of the time"
        in lines
    )
    assert "instruction" not in text_of(record_of())


@pytest.mark.parametrize("missing", ["cycles", "cache_misses", "cache_references"])
def test_of_what_was_counted_only_what_is_known_is_shown(missing: str) -> None:
    shown = text_of(record_of(hardware=hand_made_run.counted(2, {missing: "no counter was free"})))
    assert "2 M instructions/transition" in shown
    assert ("a cycle" in shown, "cache misses" in shown) == (missing != "cycles", "cache" not in missing)


def test_steps_far_below_a_millisecond_keep_their_digits() -> None:
    told = measured()
    told["step_time"] = {**told["step_time"], "p50_ms": 0.000966}
    assert " 0.00097 ms " in text_of(record_of([told, measured()]))


def test_reset_rows_have_their_share_of_all_rows() -> None:
    some = measured({"transitions": 3600, "reset_rows": 400})
    assert "7,200 transitions, 800 reset rows (10.0 %)" in text_of(record_of([some, some]))


def test_what_is_not_told_is_said_and_the_rates_that_are_known_stay() -> None:
    silent = measured({"episodes": None, "reward_sum": None})
    spec = {**hand_made_run.SPEC, "substeps": None, "step_dt_s": None}
    text = text_of(record_of([silent, silent], use=None, ready_changes={"spec": spec}))
    assert "episodes not told" in text
    assert "transitions/CPU-s not known" in text
    assert "2,000 vector steps/s\n" in text
    assert "substeps" not in text
    assert "real time" not in text


def test_latency_has_its_quantiles_for_each_worker() -> None:
    record = record_of(request={"mode": "latency", "steps": 1000})
    text = text_of(record)
    assert "1,000 vector steps in 1.00 s" in text
    for worker in (0, 1):
        assert f"vector step (worker {worker}): p10 1.000   p50 1.000   p90 1.000   p99 1.000 ms" in text


def test_a_failed_run_shows_its_cause_its_log_and_no_figure() -> None:
    text = text_of(make_record(hand_made_run.failed_outcome(), ("envdyno",)))
    assert "Worker 1 was killed by SIGKILL in stage window" in text
    assert "possibly out of memory" in text
    assert "The log of worker 1 ends with:\n    | loading assets\n    | stepping" in text
    assert "transitions/s" not in text


def test_a_message_of_several_lines_is_shown_as_several_lines() -> None:
    failed = hand_made_run.failed_outcome()
    assert failed.failure is not None
    failed.failure = replace(failed.failure, message="first\nsecond", traceback="Traceback:\n  line\n")
    lines = report_lines(make_record(failed, ("envdyno",)))
    assert {"  first", "  second", "  Traceback:", "    line"} <= set(lines)
    assert not any("\n" in line for line in lines)


def test_a_run_that_never_started_is_not_called_unbound() -> None:
    record = make_record(hand_made_run.failed_outcome(states=[], variables=()), ("envdyno",))
    assert "unbound" not in heading(record)
    assert "2 workers " in heading(record)


def test_unbound_workers_are_called_so() -> None:
    site = hand_made_run.site(2)
    free = tuple(
        part._replace(node=None, cpus=(), memory_nodes=(), policy=MemoryPolicy.OFF)
        for part in site.choice.placements
    )
    record = record_of(on=replace(site, choice=replace(site.choice, placements=free)))
    assert "2 workers, unbound" in heading(record)
    assert "\n  0       -     all " in text_of(record)


def test_nodes_are_in_the_order_of_their_numbers() -> None:
    record = record_of([measured()] * 11, shares=[4] * 11)
    assert "11 workers on nodes 0-10 " in heading(record)


def test_an_invalid_run_says_that_no_figure_is_given_and_why() -> None:
    text = text_of(record_of([measured({"nonfinite_rows": 3}), measured()]))
    assert "This run was measured, but is invalid: no figure is given." in text
    assert "! 3 rows" in text
    assert "transitions/s" not in text


def test_every_doubt_is_a_line_with_its_remedy() -> None:
    record = record_of(use=hand_made_run.use(2, foreign_cores_chosen=1.3, steal_s=0.5))
    lines = [line for line in report_lines(record) if line.startswith("  ! ")]
    assert len(lines) == 2
    assert lines[0].endswith("this figure is disturbed. Wait for a quiet machine, or use --wait-idle.")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_sentences_are_folded_to_the_screen_and_lose_no_word(width: int) -> None:
    record = record_of(use=hand_made_run.use(2, foreign_cores_chosen=1.3, steal_s=0.5))
    folded, whole = report_lines(record, width), report_lines(record)
    assert " ".join(folded).split() == " ".join(whole).split()
    begins = next(index for index, line in enumerate(folded) if line.startswith("  ! "))
    assert len(folded) - begins > len([line for line in whole if line.startswith("  ! ")])
    assert max(map(len, [folded[0], *folded[begins:]])) <= width


def test_a_run_that_completed_nothing_has_rates_of_zero() -> None:
    nothing = measured({"transitions": 0, "steps": 0, "episodes": 0, "reward_sum": 0.0}, first_ns=None)
    text = text_of(record_of([nothing, nothing]))
    assert "0 transitions/s" in text
    assert "worker  node" in text


def test_a_worker_that_told_nothing_of_its_binding_is_unknown() -> None:
    record = make_record(hand_made_run.failed_outcome(), ("envdyno",))
    worker = record.workers[0].model_copy(update={"outcome": None, "audit_after": None})
    assert placement_outcome(worker) == "CPU unknown, memory unknown"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
@pytest.mark.parametrize("well", [True, False])
def test_a_whole_report_can_be_written_in_every_encoding(encoding: str, well: bool) -> None:
    few = measured({"steps": 20, "transitions": 80})
    failed = hand_made_run.failed_outcome()
    assert failed.failure is not None
    failed.failure = replace(failed.failure, log_tail=("载入 ✓", "\x1b[31mError\x1b[0m"), traceback="“Ω”\n")
    record = record_of([few, few]) if well else make_record(failed, ("envdyno",))
    glyphs = glyphs_for(encoding)
    for line in report_lines(record):
        shown = glyphs.fit(line)
        assert shown.encode(encoding).decode(encoding) == shown
        assert "\x1b" not in shown
