from __future__ import annotations

from typing import Any

import pytest
from hand_made_run import counted, failed_outcome, measured, outcome, uncounted

from envdyno.host.hardware_counters import EventCount, HardwareUse
from envdyno.launch.run_record import make_record
from envdyno.record.hardware import HardwareCounts
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status


def record_of(*arguments: Any, **changes: Any) -> RunRecord:
    """The record of a hand-made run of two workers, 4,000 transitions each in a window of one second."""
    return make_record(outcome(*arguments, **changes), ("envdyno",))


def counts_of(record: RunRecord) -> HardwareCounts:
    """The counts of a run that has them."""
    assert record.hardware is not None
    return record.hardware


def test_counts_are_summed_over_the_workers_and_their_ratios_are_made_of_the_sums() -> None:
    found = counts_of(record_of(hardware=counted(2)))
    assert found.instructions is not None
    assert found.instructions.count == 16_000_000_000
    assert found.instructions_per_cycle == 2.0
    assert found.instructions_per_transition == 16_000_000_000 / 8000


def test_instructions_per_transition_make_up_for_readings_that_span_more_than_the_window() -> None:
    found = counts_of(record_of(hardware=counted(2, elapsed_s=1.25)))
    assert found.instructions_per_transition == pytest.approx(16_000_000_000 / (8000 * 1.25))


def test_each_worker_has_its_own_counts_over_its_own_transitions() -> None:
    record = record_of([measured(), measured({"transitions": 12000})], hardware=counted(2))
    uses = [worker.use for worker in record.workers]
    per_transition = [use.hardware.instructions_per_transition for use in uses if use and use.hardware]
    assert per_transition == [8_000_000_000 / 4000, 8_000_000_000 / 12000]


def test_the_share_that_is_told_is_that_of_the_worker_that_was_counted_least() -> None:
    half = HardwareUse(1.0, ({"cycles": EventCount(8, 1.0)}, {"cycles": EventCount(4, 0.5)}), {})
    found = counts_of(record_of(hardware=half)).cycles
    assert found is not None
    assert (found.count, found.counted_share) == (12, 0.5)


def test_on_a_machine_without_counters_one_reason_stands_for_all() -> None:
    record = record_of(hardware=uncounted(2))
    assert record.hardware is None
    assert {name for name in record.absent if "hardware" in name} == {"hardware"}
    assert "ENOENT" in record.absent["hardware"]
    assert record.absent["hardware"].count("ENOENT") == 1


@pytest.mark.parametrize("name", ["instructions", "cycles", "cache_misses"])
def test_every_null_count_has_its_reason_and_so_has_what_is_made_of_it(name: str) -> None:
    record = record_of(hardware=counted(2, {name: "no counter was free"}))
    nulls = {f"hardware.{field}" for field, value in counts_of(record).to_json().items() if value is None}
    assert f"hardware.{name}" in nulls
    assert nulls == {field for field in record.absent if field.startswith("hardware")}


def test_counters_that_were_switched_off_are_told_from_those_that_cannot_be_had() -> None:
    record = record_of(hardware=None, request={"hardware_counters": "off"})
    assert "--hardware-counters off" in record.absent["hardware"]


def test_a_run_that_failed_before_its_window_says_that_it_was_not_reached() -> None:
    assert "not reached" in make_record(failed_outcome(), ("envdyno",)).absent["hardware"]


def test_an_invalid_run_keeps_its_counts_but_no_figure_over_transitions() -> None:
    record = record_of([measured({"nonfinite_rows": 2})] * 2, hardware=counted(2))
    assert record.status is Status.INVALID
    assert counts_of(record).instructions is not None
    uses = [worker.use for worker in record.workers]
    of_workers = [use.hardware.instructions_per_transition for use in uses if use and use.hardware]
    assert [counts_of(record).instructions_per_transition, *of_workers] == [None, None, None]


def test_a_run_without_a_transition_has_no_instructions_per_transition() -> None:
    nothing = measured({"transitions": 0, "steps": 0}, first_ns=None)
    record = record_of([nothing, nothing], hardware=counted(2))
    assert counts_of(record).instructions_per_transition is None
    assert "hardware.instructions_per_transition" in record.absent
