from __future__ import annotations

from pathlib import Path
from typing import Any

import hand_made_run
import pytest
from hand_made_run import measured, outcome

from envdyno.launch.run_record import make_record
from envdyno.record.worker import ContactSamples, WorkerRecord


def workers_of(*arguments: Any, **changes: Any) -> tuple[WorkerRecord, ...]:
    """The workers' parts of the record of a hand-made run."""
    return make_record(outcome(*arguments, **changes), ("envdyno",)).workers


def test_a_workers_part_says_where_it_ran_and_what_it_completed() -> None:
    first, second = workers_of([measured(), measured({"transitions": 12000, "steps": 3000})])
    assert (first.worker, first.pid, first.num_envs) == (0, 4242, 4)
    assert second.placement["cpus"] == [2, 3]
    assert first.outcome is not None
    assert first.outcome["cpu"]["state"] == "applied"
    assert (first.share, second.share) == (0.25, 0.75)
    assert (first.transitions_per_s, second.transitions_per_s) == (4000, 12000)
    assert first.entered_s == pytest.approx(0.0005)
    assert first.seed != second.seed
    assert first.thread_variables == {"set": {"OMP_NUM_THREADS": "2"}, "kept": {}}


def test_the_ledger_has_every_stage_that_the_worker_went_through() -> None:
    (worker,) = workers_of([measured()], shares=(4,))
    assert list(worker.stages_s) == [
        "bind", "import", "build", "first_step", "warmup", "window", "audit", "close",
    ]  # fmt: skip


def test_a_worker_that_did_not_close_keeps_the_stages_up_to_its_readiness() -> None:
    record = make_record(hand_made_run.failed_outcome(), ("envdyno",))
    assert list(record.workers[0].stages_s) == ["bind", "import", "build", "first_step", "warmup"]
    assert record.workers[0].totals is None
    assert record.workers[0].step_time is None


def test_cpu_use_is_of_the_cpus_that_the_worker_may_use() -> None:
    first, _ = workers_of(use=hand_made_run.use(2, elapsed_s=2.0, cpu_s=4.0))
    assert first.use is not None
    assert first.use.cpu_percent == pytest.approx(100 * 2.0 / 2.0 / 2)


def test_contacts_are_those_of_both_looks() -> None:
    looks = {"ready_changes": {"contacts": {"contacts": 5, "rows": 4}}}
    seen = measured(contacts_at_end={"contacts": 7, "rows": 4})
    record = make_record(outcome([seen, seen], **looks), ("envdyno",))
    assert all(
        worker.contacts == ContactSamples(rows=4, after_warmup=5, after_window=7) for worker in record.workers
    )
    assert "workers.contacts" not in record.absent


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        ({"contacts": 5, "rows": 4}, None),
        ({"contacts": 5, "rows": 4}, {"contacts": 1, "rows": 2}),
    ],
)
def test_contacts_that_were_not_seen_alike_at_both_looks_are_absent_with_a_reason(
    before: dict[str, int] | None, after: dict[str, int] | None
) -> None:
    told = [measured(contacts_at_end={"contacts": 7, "rows": 4}), measured(contacts_at_end=after)]
    record = make_record(outcome(told, ready_changes={"contacts": before}), ("envdyno",))
    assert record.workers[1].contacts is None
    assert "does not tell the contacts" in record.absent["workers.contacts"]


def test_rows_that_were_not_finite_are_the_most_that_any_look_found() -> None:
    first, second = workers_of(
        [measured(nonfinite_at_end=3), measured(nonfinite_at_end=None)],
        ready_changes={"nonfinite_rows": 1},
        request={"allow_nonfinite": True},
    )
    assert (first.nonfinite_seen, second.nonfinite_seen) == (3, 1)
    (blind,) = workers_of(
        [measured(nonfinite_at_end=None)], shares=(4,), ready_changes={"nonfinite_rows": None}
    )
    assert blind.nonfinite_seen is None


def test_raw_samples_have_a_path_inside_the_bundle_only_where_they_are_kept() -> None:
    (kept,) = workers_of([measured()], shares=(4,), folder=Path("/data/out/runs/run-0003"))
    assert kept.raw_samples == "runs/run-0003/worker-0.npy"
    (gone,) = workers_of([measured()], shares=(4,))
    assert gone.raw_samples is None


def test_a_series_that_falls_has_its_change_over_the_window() -> None:
    (falling,) = workers_of([measured(series=[200 - 5 * index for index in range(20)])], shares=(4,))
    assert falling.trend == pytest.approx(-95 / 152.5)
    (short,) = workers_of([measured(series=[])], shares=(4,))
    assert short.trend is None


def test_work_is_told_with_the_steps_that_it_was_done_in() -> None:
    told = {"vector_steps": 10, "totals": {"dispatches": 30}}
    (worker,) = workers_of([measured(work=told)], shares=(4,))
    assert worker.work is not None
    assert (worker.work.vector_steps, worker.work.totals) == (10, {"dispatches": 30})
