from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.record.case import CaseRecord

ASKED: dict[str, Any] = {
    "workload": "synthetic",
    "options": {"step_ms": 1.0, "wait": "sleep"},
    "num_envs": 8,
    "shares": (4, 4),
    "seed": 0,
    "actions": "random",
    "warmup_steps": 30,
    "mode": "window",
    "window_s": 10.0,
    "steps": None,
    "timing": "throughput",
    "numa": "auto",
    "placements": ("CPUs 0-1, memory bind 0", "CPUs 2-3, memory bind 1"),
}
OTHERWISE: dict[str, Any] = {
    "workload": "other",
    "options": {"step_ms": 2.0, "wait": "sleep"},
    "num_envs": 9,
    "shares": (5, 3),
    "seed": 1,
    "actions": "zero",
    "warmup_steps": 31,
    "mode": "latency",
    "window_s": 9.0,
    "steps": 100,
    "timing": "attribution",
    "numa": "off",
    "placements": ("CPUs 0-1, memory bind 0", "CPUs 2-3, memory bind 0"),
    "threads": 2,
    "probes": ("physics=sim:step",),
    "phase_cpu": True,
    "hardware_counters": "off",
}


def case(**changes: Any) -> CaseRecord:
    """What was asked for, with changes."""
    return CaseRecord(**{**ASKED, **changes})


def test_equal_cases_have_equal_hashes() -> None:
    assert case().config_hash() == case().config_hash()
    assert len(case().config_hash()) == 64


@pytest.mark.parametrize("name", sorted(OTHERWISE))
def test_a_change_of_any_field_changes_the_hash(name: str) -> None:
    assert case(**{name: OTHERWISE[name]}).config_hash() != case().config_hash()


def test_every_field_takes_part() -> None:
    assert set(OTHERWISE) == set(CaseRecord.model_fields)


@pytest.mark.parametrize("probes", [("a=m:f", "b=m:g"), ("b=m:g", "a=m:f"), ("a=m:g",), ()])
def test_runs_that_time_other_callables_are_other_measurements(probes: tuple[str, ...]) -> None:
    asked = case(timing="attribution", probes=("a=m:f", "b=m:g"))
    same = probes == asked.probes
    assert (case(timing="attribution", probes=probes).config_hash() == asked.config_hash()) is same


def test_a_case_of_the_time_before_a_field_was_there_keeps_its_hash() -> None:
    assert case().config_hash() == "934619b9c23908b648f1b6517ff6e6512e12b4c5582fa67e919d9bfd97cce040"


@given(st.permutations(list(ASKED["options"])))
def test_the_order_of_options_does_not_matter(names: list[str]) -> None:
    shuffled = {name: ASKED["options"][name] for name in names}
    assert case(options=shuffled).config_hash() == case().config_hash()


figures = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
option_values = st.none() | st.booleans() | figures | st.text()


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=5), option_values, max_size=4))
def test_a_case_read_from_a_file_has_the_hash_that_it_was_written_with(options: dict[str, Any]) -> None:
    written = case(options=options)
    read = CaseRecord.model_validate(json.loads(written.model_dump_json()))
    assert read == written
    assert read.config_hash() == written.config_hash()
