"""Sides of an experiment: their labels, and the watch over what each run loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hand_made_run import counted as counts
from hand_made_run import outcome
from made_sides import code, side
from planned_experiment import plan_of, record_of, runs_of

from envdyno.agent.measure.origin import Origin, code_hash
from envdyno.experiment.side_labels import LONGEST, side_labels
from envdyno.experiment.side_watch import SideWatch
from envdyno.experiment.unmade import invalid_for_its_side
from envdyno.launch.run_record import make_record
from envdyno.record.experiment import SideRecord
from envdyno.record.run_record import RunRecord, SoftwareRecord
from envdyno.record.status import Status
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.problems import SideError, SideProblem

LABELS: dict[str, tuple[tuple[PreparedSide, PreparedSide], tuple[str, str]]] = {
    "commits": ((side("a", at=code("1" * 40)), side("b", at=code("2" * 40))), ("1" * 8, "2" * 8)),
    "a dirty tree": (
        (side("a", at=code()), side("b", at=code(dirty=True, diff_sha256="x"))),
        ("66666666", "66666666-dirty"),
    ),
    "options that differ, and not those that do not": (
        (side("a", options={"k": 1, "n": 8}), side("b", options={"k": 2, "n": 8})),
        ("k=1", "k=2"),
    ),
    "a commit and an option": (
        (side("a", at=code("1" * 40), options={"k": 1}), side("b", at=code("2" * 40))),
        ("11111111 k=1", "22222222"),
    ),
    "requirements": (
        (side("a", requirements="mujoco==3.3.7\n"), side("b", requirements="# new\nmujoco==4.0.0\n")),
        ("mujoco==3.3.7", "mujoco==4.0.0"),
    ),
    "variables": (
        (side("a", environ={"OMP_NUM_THREADS": "1"}), side("b", environ={"OMP_NUM_THREADS": "8"})),
        ("OMP_NUM_THREADS=1", "OMP_NUM_THREADS=8"),
    ),
    "interpreters": (
        (side("a"), side("b", python={"version": "3.13.1"})),
        ("Python 3.11.7", "Python 3.13.1"),
    ),
    "an A/A of a commit": ((side("a", at=code()), side("b", at=code())), ("66666666", "66666666")),
    "an A/A of an interpreter": ((side("a"), side("b")), ("Python 3.11.7", "Python 3.11.7")),
}


@pytest.mark.parametrize("name", LABELS)
def test_a_side_is_called_by_what_sets_it_apart(name: str) -> None:
    sides, labels = LABELS[name]
    assert tuple(side_labels(sides).values()) == labels


def test_a_long_label_is_cut() -> None:
    found = side_labels((side("a", options={"k": "x" * 99}), side("b")))
    assert len(found["a"]) == LONGEST
    assert found["a"].endswith("…")


@pytest.fixture
def module(tmp_path: Path) -> Origin:
    """A module on disk, as a process reports it."""
    file = tmp_path / "walker.py"
    file.write_text("STEP = 1\n")
    return Origin("walker", loaded=True, file=str(file), sha256=code_hash([str(file)]))


def watch(*proven: Origin, **versions: str) -> SideWatch:
    record = SideRecord(
        name="b",
        label="b",
        digest="d",
        identity={},
        distributions=versions,
        origins=tuple(origin.to_json() for origin in proven),
    )
    return SideWatch(side("b"), record)


def run_that_loaded(*origins: Origin, **versions: str) -> RunRecord:
    software = SoftwareRecord(
        python="3.11.7",
        implementation="cpython",
        executable="/opt/side/bin/python",
        distributions=versions,
        origins=tuple(origin.to_json() for origin in origins),
    )
    run = runs_of(plan_of())[0]
    return record_of(run, software=software)


def problem(found: SideWatch, record: RunRecord) -> tuple[SideProblem, str]:
    with pytest.raises(SideError) as raised:
        found.check_after(record)
    return raised.value.problem, str(raised.value)


def test_a_run_that_loaded_what_was_proven_is_well_and_no_file_is_read_again(
    module: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envdyno.sides.proof.code_hash", lambda _: pytest.fail("a file was read"))
    watch(module, numpy="2.4.6").check_after(run_that_loaded(module, numpy="2.4.6"))


def test_a_package_of_another_version_than_before_is_named_with_both() -> None:
    kind, text = problem(watch(numpy="2.4.6"), run_that_loaded(numpy="2.5.0"))
    assert kind is SideProblem.CHANGED
    assert "numpy was 2.4.6 and is 2.5.0." in text


def test_a_package_that_is_first_loaded_later_is_watched_from_then_on() -> None:
    found = watch()
    found.check_after(run_that_loaded(scipy="1.0"))
    kind, text = problem(found, run_that_loaded(scipy="1.1"))
    assert kind is SideProblem.CHANGED
    assert "scipy was 1.0 and is 1.1." in text


def test_files_of_a_module_that_changed_are_named(module: Origin) -> None:
    edited = Origin("walker", loaded=True, file=module.file, sha256="0" * 64)
    kind, text = problem(watch(module), run_that_loaded(edited))
    assert kind is SideProblem.CHANGED
    assert f"The files of walker in {module.file} are others." in text


def test_a_module_from_another_place_is_named_with_both(module: Origin) -> None:
    moved = Origin("walker", loaded=True, file="/elsewhere/walker.py", sha256=module.sha256)
    _, text = problem(watch(module), run_that_loaded(moved))
    assert f"walker came from {module.file} and comes from /elsewhere/walker.py." in text


def test_a_module_that_was_not_proven_is_proven_when_it_appears(module: Origin, tmp_path: Path) -> None:
    found = watch()
    found.check_after(run_that_loaded(module))
    (tmp_path / "walker.py").write_text("STEP = 2\n")
    late = Origin("late", loaded=True, file=module.file, sha256=module.sha256)
    kind, text = problem(found, run_that_loaded(module, late))
    assert kind is SideProblem.ORIGIN
    assert "changed meanwhile" in text


def test_lazy_imports_of_several_cases_are_each_read_once_only(
    module: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One case loads more of a package than another; both are proven, whichever comes next."""
    found = watch(module)
    more = Origin("walker", loaded=True, file=module.file, sha256=module.sha256, strays={"walker.x": "/a"})
    for origin in (module, more):
        found.check_after(run_that_loaded(origin))
    monkeypatch.setattr("envdyno.sides.proof.code_hash", lambda _: pytest.fail("a file was read"))
    for origin in (more, module, more):
        found.check_after(run_that_loaded(origin))


def test_a_module_that_another_case_loads_need_not_be_loaded_by_this_one(
    module: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envdyno.sides.proof.code_hash", lambda _: pytest.fail("a file was read"))
    found = watch(module, Origin("other", loaded=True, file="/x/other.py", sha256="1" * 64))
    found.check_after(run_that_loaded(module, Origin("other")))


def test_a_module_that_the_workload_names_has_to_be_loaded_by_every_run(module: Origin) -> None:
    run = run_that_loaded(Origin("walker"))
    named = run.model_copy(update={"spec": {"modules_under_test": ["walker"]}})
    kind, text = problem(watch(module), named)
    assert kind is SideProblem.ORIGIN
    assert "was never imported" in text


def test_a_run_that_did_not_come_so_far_as_to_tell_is_left_alone() -> None:
    run = runs_of(plan_of())[0]
    watch(numpy="1.0").check_after(record_of(run, software=None))


def test_a_run_of_other_code_keeps_no_figure(module: Origin) -> None:
    error = SideError(SideProblem.CHANGED, "It was edited.")
    counted = make_record(outcome(hardware=counts(2, {"cycles": "no counter was free"})), ("envdyno",))
    run = run_that_loaded(module).model_copy(
        update={"hardware": counted.hardware, "workers": counted.workers, "absent": counted.absent}
    )
    found = invalid_for_its_side(run, error)
    assert found.status is Status.INVALID
    assert found.failure is not None
    assert found.failure.message == "It was edited."
    figures: dict[str, Any] = {
        name: getattr(found, name) for name in ("throughput", "totals", "reward_mean", "hardware", "phases")
    }
    assert set(figures.values()) == {None}
    assert set(figures) <= set(found.absent)
    assert {name for name in found.absent if name.startswith("hardware")} == {"hardware"}
    assert all(worker.transitions_per_s is None for worker in found.workers)
    hardware = [worker.use.hardware for worker in found.workers if worker.use and worker.use.hardware]
    assert [one.instructions_per_transition for one in hardware] == [None, None]
