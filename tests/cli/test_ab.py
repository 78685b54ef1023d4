"""``envdyno ab`` on synthetic workloads: A/A, several sides, cases that cannot run, and plans."""

from __future__ import annotations

import json
from collections import Counter

from ab_process import NO_REPEATS, QUICK, SYNTHETIC, Ab, head_of, records_of, settled

from envdyno.record.status import Status


def test_an_a_a_keeps_the_noise_floor_of_this_machine_and_counts_its_pairs_once(ab: Ab) -> None:
    sides = ("--aa", "--side", "x=current", "--side", "y=current")
    done = ab.run(*sides, "synthetic", "-n", "4", *QUICK, *NO_REPEATS, "--out", ab.out)
    assert done.code == 0, done.err
    path = ab.folder / "state" / "envdyno" / "noise-floors.json"
    assert f"noise floors of this machine are kept in {path}" in done.said
    kept = json.loads(path.read_text())
    assert kept["experiments"] == [head_of(ab.bundle()).experiment_id]
    again = ab.run("--resume", ab.out)
    assert again.code == 0, again.err
    assert json.loads(path.read_text()) == kept, "the same pairs are not counted twice"


def test_three_sides_and_a_case_that_cannot_run_are_all_accounted_for(ab: Ab) -> None:
    sides = [word for name, ms in (("a", 1), ("b", 2), ("c", 3)) for word in ("-o", f"{name}:step_ms={ms}")]
    done = ab.run(*sides, "synthetic", "no_such_module:make", "-n", "4", *QUICK, *NO_REPEATS, "--out", ab.out)
    assert done.code == 5, "a case was not measured"
    head = head_of(ab.bundle())
    assert head.cases == ("synthetic", "no_such_module:make")
    assert "There is no module 'no_such_module'" in head.cannot_run["no_such_module:make"]
    assert done.said.count("no_such_module:make: NOT_MEASURED") == 2, "in the table of b and in that of c"
    records = records_of(ab.bundle())
    assert sorted(settled(records)) == sorted(head.planned)
    statuses = Counter((r.experiment.case, r.status) for r in records if r.experiment)
    assert statuses == {("synthetic", Status.OK): 9, ("no_such_module:make", Status.SKIPPED): 9}
    for name in ("b", "c"):
        assert f"{name} (step_ms=" in done.err


def test_a_side_that_fails_is_given_up_and_the_exit_code_says_that_nothing_was_decided(ab: Ab) -> None:
    sides = ("-o", "a:fault=none", "-o", "b:fault=raise", "synthetic", "-n", "4")
    done = ab.run(*sides, *QUICK, *NO_REPEATS, "--pairs", "4", "--gate", "0.9", "--out", ab.out)
    assert done.code == 5
    counts = Counter(record.status for record in records_of(ab.bundle()))
    assert counts[Status.FAILED] == 2
    assert counts[Status.FAILED] + counts[Status.OK] + counts[Status.SKIPPED] == 8
    assert "RUN_FAILED" in done.err
    assert "failed 2 times in a row" in records_of(ab.bundle())[-1].failure.message  # type: ignore[union-attr]


def test_the_plan_lists_every_run_and_starts_nothing(ab: Ab) -> None:
    done = ab.run(*SYNTHETIC, "--pairs", "3..4", verb="plan")
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if "throughput" in line]
    assert [row[3] for row in rows] == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert [row[-1] for row in rows].count("undecided") == 2
    assert "side a (step_ms=1): Python" in done.out
    assert "b differs from a in: options" in done.out
    assert "deadlines: start 60 s" in done.out
    assert "time: about" in done.out
    assert not (ab.folder / "out").exists()


def test_a_plan_file_may_stand_in_the_place_of_the_cases(ab: Ab) -> None:
    (ab.folder / "exp.toml").write_text(
        '[experiment]\ncases = "synthetic"\n[sides.a.options]\nstep_ms = 1\n[sides.b.options]\nstep_ms = 2\n'
    )
    done = ab.run("exp.toml", "--pairs", "5", verb="plan")
    assert done.code == 0, done.err
    assert sum("throughput" in line for line in done.out.splitlines()) == 10


def test_a_starter_plan_can_be_planned_as_it_is(ab: Ab) -> None:
    assert ab.run("exp.toml", verb="init").code == 0
    text = (ab.folder / "exp.toml").read_text()
    assert "[experiment]" in text
    twice = ab.run("exp.toml", verb="init")
    assert twice.code == 2
    assert "is there already" in twice.said
    assert (ab.folder / "exp.toml").read_text() == text
