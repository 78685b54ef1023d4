"""What an experiment tells while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from planned_experiment import entry_of, failing, plan_of, record_of, runs_of

from envdyno.agent.job import Timing
from envdyno.agent.stages import Stage
from envdyno.cli import planned_progress
from envdyno.cli.ab_progress import ExperimentProgress
from envdyno.plan.expand import PlannedRun
from envdyno.record.run_record import RunRecord

RUNS = runs_of(plan_of(("base", "head", "third"), attribution_pairs=1))


class Heard:
    """The progress of an experiment, and what it showed and told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.titles: list[str] = []
        self.told: list[str] = []
        self.kept: list[RunRecord] = []
        self.now = 0.0
        self.interrupts = SimpleNamespace(arrived=[])
        monkeypatch.setattr(planned_progress, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.notes: list[list[str]] = []
        self.rates: list[tuple[int, float]] = []
        line = SimpleNamespace(
            begin=self.begin,
            stage=lambda *_: None,
            tick=lambda: None,
            rate=lambda *told: self.rates.append(told),
            follows_rate=True,
        )
        output = SimpleNamespace(tell=self.told.append, tell_progress=self.told.append, keep=self.kept.append)
        self.progress = ExperimentProgress(
            line, output, self.interrupts, ("base", "head", "third"), len(RUNS)
        )  # type: ignore[arg-type]

    def begin(self, title: str, notes: Sequence[str] = ()) -> None:
        self.titles.append(title)
        self.notes.append(list(notes))


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    return Heard(monkeypatch)


def ended(run: PlannedRun, rate: float, *, final: bool = True, disturbed: bool = False) -> RunRecord:
    entry = entry_of(run, final=final, disturbed=disturbed)
    return record_of(run, rate, experiment=entry)


def test_a_look_before_measuring_names_case_and_side(heard: Heard) -> None:
    heard.progress.look(RUNS[0])
    assert heard.titles == [f"before measuring: {RUNS[0].case}, side {RUNS[0].side}"]


def test_the_title_counts_runs_and_tells_the_time_left_once_it_is_known(heard: Heard) -> None:
    heard.progress.begin_measuring([])
    heard.progress.begin(RUNS[0], 0, 12)
    heard.now = 60.0
    heard.progress.begin(RUNS[2], 2, 12)
    assert heard.titles[0].startswith("1 of 12   one, pair 1")
    assert heard.titles[1].startswith("3 of 12, at most 5 min left   one, pair 1")


def test_runs_of_an_earlier_session_do_not_make_this_one_look_fast(heard: Heard) -> None:
    heard.progress.begin_measuring([ended(run, 100.0) for run in RUNS[:6]])
    heard.progress.begin(RUNS[6], 6, 12)
    heard.now = 10.0
    heard.progress.begin(RUNS[7], 7, 12)
    assert heard.titles[0].startswith("7 of 12   ")
    assert heard.titles[1].startswith("8 of 12, at most 50 s left")
    assert heard.told == ["6 of 12 runs are settled already."]


def test_the_ratio_so_far_is_that_of_every_other_side_to_the_first(heard: Heard) -> None:
    heard.progress.begin_measuring([])
    rates = {"base": 200.0, "head": 100.0, "third": 150.0}
    for run in [run for run in RUNS if run.pair == 1 and run.timing is Timing.THROUGHPUT]:
        heard.progress.end(ended(run, rates[run.side]))
    heard.progress.begin(RUNS[6], 3, 12)
    assert heard.notes[-1] == ["so far one: head/base 0.500 of 1 pair, third/base 0.750 of 1 pair"]
    assert not any("so far" in line for line in heard.told), "one pair has no spread"


def test_a_pair_that_tells_of_the_spread_is_followed_by_the_ratio_with_its_interval(heard: Heard) -> None:
    heard.progress.begin_measuring([])
    measured = [run for run in RUNS if run.timing is Timing.THROUGHPUT and run.side != "third"]
    for run in measured:
        noise = 1 + 0.01 * run.pair * (run.side == "head")
        heard.progress.end(ended(run, 200.0 if run.side == "base" else 100.0 * noise))
    told = [line.strip() for line in heard.told if "so far" in line]
    assert len(told) == 2, "one after each pair but the first"
    assert told[0].startswith("one  so far  head/base 0.507 [")
    assert told[1].startswith("one  so far  head/base 0.510 [")
    assert told[1].endswith("] of 3 pairs")


def test_ratios_of_an_earlier_session_are_part_of_those_so_far(heard: Heard) -> None:
    earlier = [run for run in RUNS if run.timing is Timing.THROUGHPUT and run.side != "third"][:4]
    heard.progress.begin_measuring([ended(run, 200.0 if run.side == "base" else 150.0) for run in earlier])
    heard.progress.begin(RUNS[6], 6, 12)
    assert heard.notes[-1][0].startswith("so far one: head/base 0.750 [")
    assert heard.notes[-1][0].endswith("] of 2 pairs")


def test_the_rates_of_workers_are_handed_on(heard: Heard) -> None:
    assert heard.progress.follows_rate
    heard.progress.rate(1, 512.0)
    assert heard.rates == [(1, 512.0)]


def test_runs_with_phases_are_no_part_of_the_ratio(heard: Heard) -> None:
    heard.progress.begin_measuring([])
    timed = [run for run in RUNS if run.timing is Timing.ATTRIBUTION]
    for run in timed:
        heard.progress.end(ended(run, 1.0))
    heard.progress.begin(RUNS[0], 3, 12)
    assert heard.notes[-1] == []
    assert all(line.endswith("phases on") for line in heard.told)


def test_every_run_that_ends_is_one_line_and_is_kept_first(heard: Heard) -> None:
    heard.progress.begin(RUNS[0], 0, 12)
    record = ended(RUNS[0], 12_345.0)
    heard.progress.end(record)
    assert heard.told == [f"[ 1/12] one  pair 1  {RUNS[0].side}  12,345 transitions/s"]
    assert heard.kept == [record]


def test_a_disturbed_run_tells_the_load_and_whether_it_is_repeated(heard: Heard) -> None:
    heard.progress.end(ended(RUNS[0], 100.0, final=False, disturbed=True))
    heard.progress.end(ended(RUNS[0], 100.0, disturbed=True))
    assert heard.told[0].endswith("  ! 0.02 cores of other work, is repeated")
    assert heard.told[1].endswith("  ! 0.02 cores of other work")


def test_a_failed_run_tells_its_cause_in_one_line(heard: Heard) -> None:
    record = failing(RUNS[0]).record
    failure = record.failure.model_copy(update={"message": "It fell.\n  trace"}) if record.failure else None
    entry = ended(RUNS[0], 1.0, final=False).experiment
    changes = {"failure": failure, "experiment": entry, "throughput": None}
    heard.progress.end(record.model_copy(update=changes))
    assert heard.told[0].endswith("killed: It fell. It is tried again.")


def test_the_first_ctrl_c_is_answered_once_and_only_while_measuring(heard: Heard) -> None:
    heard.interrupts.arrived.append(2)
    heard.progress.tick()
    assert heard.told == [], "before the first run, a Ctrl-C ends at once"
    heard.progress.begin_measuring([])
    heard.progress.tick()
    heard.progress.tick()
    heard.progress.stage(0, Stage.WINDOW)
    assert heard.told == ["The run in hand is finished first; Ctrl-C again stops at once."]
