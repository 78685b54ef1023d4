from __future__ import annotations

from made_records import made_run

from envdyno.judge.work_facts import work_facts
from envdyno.record.worker import ContactSamples, WorkSpan


def test_settings_of_an_engine_are_facts_of_their_own_and_the_users_options_are_none() -> None:
    details = {"solver": "newton", "iterations": 10, "runtime": "direct", "limits": [1, 2]}
    record = made_run(1e5, options={"runtime": "direct"})
    facts = work_facts(record.model_copy(update={"spec": {**(record.spec or {}), "details": details}}))
    assert facts is not None
    found = {name: value for name, value in facts.items() if name.startswith("details")}
    assert found == {"details.solver": "newton", "details.iterations": 10, "details.limits": "[1, 2]"}


def test_the_mean_length_of_episodes_is_told_where_episodes_ended() -> None:
    record = made_run(1e5)
    span = WorkSpan(vector_steps=100, totals={"episode_steps": 5000.0, "dispatches": 300.0, "substeps": 9.0})
    workers = tuple(worker.model_copy(update={"work": span}) for worker in record.workers)
    assert record.throughput is not None
    ended = record.throughput.model_copy(update={"resets_per_step": 0.5})
    facts = work_facts(record.model_copy(update={"workers": workers, "throughput": ended}))
    assert facts is not None
    assert facts["episode_length_mean"] == 100.0
    assert facts["dispatches_per_step"] == 3.0
    assert not {"episode_steps_per_step", "substeps_per_step"} & set(facts)
    none = record.throughput.model_copy(update={"resets_per_step": 0.0})
    facts = work_facts(record.model_copy(update={"workers": workers, "throughput": none}))
    assert facts is not None
    assert "episode_length_mean" not in facts


def test_contacts_in_a_row_are_the_mean_of_the_looks_of_all_workers() -> None:
    record = made_run(1e5)
    looks = ContactSamples(rows=4, after_warmup=4, after_window=12)
    workers = tuple(worker.model_copy(update={"contacts": looks}) for worker in record.workers)
    facts = work_facts(record.model_copy(update={"workers": workers}))
    assert facts is not None
    assert facts["contacts_per_row"] == 2.0
    partly = (workers[0], workers[0].model_copy(update={"contacts": None}))
    facts = work_facts(record.model_copy(update={"workers": partly}))
    assert facts is not None
    assert "contacts_per_row" not in facts
