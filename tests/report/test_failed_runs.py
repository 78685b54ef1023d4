from __future__ import annotations

import pytest
from made_records import killed, made_run

from envdyno.launch.failure import FailureKind
from envdyno.record.status import FailureRecord, Status
from envdyno.report.failed_runs import failed_run_note


@pytest.mark.parametrize(
    "kind", [*(kind.value for kind in FailureKind), "interrupt", "skipped", "of_tomorrow"]
)
def test_every_kind_of_failure_is_told_with_what_would_help(kind: str) -> None:
    failure = FailureRecord(kind=kind, worker=0, stage="build", message="It fell over")
    note = failed_run_note(made_run(None, num_envs=4096, status=Status.FAILED, failure=failure))
    what, _, remedy = note.partition(" What would help: ")
    assert what.endswith("4,096 envs: It fell over.")
    assert remedy.endswith(".")


def test_a_run_that_was_killed_may_have_lacked_memory() -> None:
    note = failed_run_note(made_run(None, status=Status.KILLED, failure=killed()))
    assert "Fewer environments or workers, if memory ran out." in note


def test_a_run_without_a_cause_still_says_how_it_ended_and_where_its_log_is() -> None:
    note = failed_run_note(made_run(None, status=Status.INVALID))
    assert "ended as invalid. What would help: Its log is in the bundle" in note
