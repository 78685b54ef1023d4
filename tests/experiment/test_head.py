"""The head of a bundle: what is fixed before the first run, and what forbids a resume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from made_sides import code, packages, side
from planned_experiment import plan_of, runs_of

from envdyno._version import __version__
from envdyno.experiment.head import check_same, make_head
from envdyno.experiment.preflight import Preflight
from envdyno.judge.from_records import key_of_machine
from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors
from envdyno.plan.usage_error import UsageError
from envdyno.record.experiment import ExperimentRecord
from envdyno.sides.comparison import Comparison, SideChecks
from envdyno.sides.packages import package_differences
from envdyno.sides.prepared import PreparedSide

MACHINE = {"cpu_model": "EPYC 7K62", "memory_bytes": 1 << 38, "affinity": "0-7"}
PLAN = plan_of()
RUNS = runs_of(PLAN)
SIDES = {name: side(name, options={"kind": name}) for name in ("a", "b")}


def floor(machine: str, case: str = "one") -> NoiseFloor:
    return NoiseFloor(
        machine=machine,
        case=case,
        pairs=6,
        sd_log_ratio=0.01,
        df=5.0,
        bias_log_ratio=0.0,
        bias_half_width=0.01,
    )


def head(sides: Mapping[str, PreparedSide] = SIDES, **changes: Any) -> ExperimentRecord:
    first, *others = sides.values()
    comparisons = tuple(
        Comparison(
            first.name,
            other.name,
            package_differences(first.identity.packages, other.identity.packages),
            (),
            ("options",),
        )
        for other in others
    )
    fields: dict[str, Any] = {"machine": MACHINE, "floors": NoiseFloors(), "command": ("envdyno", "ab")}
    return make_head(
        PLAN,
        Path(),
        ("one",),
        RUNS,
        sides,
        SideChecks(comparisons, {}, ()),
        changes.pop("preflight", Preflight()),
        **{**fields, **changes},
    )


def test_the_head_holds_all_that_a_replay_needs() -> None:
    found = head(
        preflight=Preflight(misaligned={"two": "substeps differ"}, notices=("The machine is loaded.",))
    )
    assert found.planned == tuple(run.id for run in RUNS)
    assert found.orders == {"one": "AB BA AB"}
    assert found.plan == PLAN.to_json()
    assert found.plan_digest == PLAN.digest
    assert found.differences == {"b": ("options",)}
    assert [(one.name, one.label) for one in found.sides] == [("a", "kind=a"), ("b", "kind=b")]
    assert found.misaligned == {"two": "substeps differ"}
    assert found.notices == ("The machine is loaded.",)
    assert found.machine == MACHINE
    assert (found.directory, found.working_directory) == (str(Path.cwd()), str(Path.cwd()))


def test_the_head_survives_the_disk() -> None:
    found = head()
    assert ExperimentRecord.model_validate_json(found.model_dump_json(by_alias=True)) == found


def test_packages_that_differ_are_listed() -> None:
    other = side("b", options={"kind": "b"}, packages=packages(numpy="1.26.0"))
    assert head({"a": SIDES["a"], "b": other}).package_differences == ("numpy 2.4.6 → 1.26.0",)


def test_only_the_noise_floors_of_this_machine_are_kept() -> None:
    own = floor(key_of_machine(MACHINE))
    found = head(floors=NoiseFloors((own, floor("elsewhere"))))
    assert found.noise_floors == (asdict(own),)


def test_what_processes_loaded_is_kept_by_side() -> None:
    loaded = {"a": {"distributions": {"numpy": "2.4.6"}, "origins": [{"module": "walker", "loaded": True}]}}
    found = head(preflight=Preflight(loaded=loaded))  # type: ignore[arg-type]
    assert found.sides[0].distributions == {"numpy": "2.4.6"}
    assert found.sides[0].origins == ({"module": "walker", "loaded": True},)
    assert found.sides[1].distributions is None


def changes(begun: ExperimentRecord, **now: Any) -> str:
    """What is said when an experiment is resumed under other circumstances."""
    with pytest.raises(UsageError) as refused:
        resume(begun, **now)
    return str(refused.value)


def resume(begun: ExperimentRecord, **now: Any) -> None:
    fields = {"plan": PLAN, "runs": RUNS, "sides": SIDES, "machine": MACHINE, **now}
    check_same(begun, fields["plan"], fields["runs"], fields["sides"], fields["machine"])


def test_an_experiment_is_resumed_under_the_same_circumstances() -> None:
    resume(head())


def test_a_budget_may_change_for_it_does_not_change_what_is_done() -> None:
    resume(head(), plan=plan_of(budget="1h", wait_idle="10s"))


def test_a_changed_plan_is_named_key_by_key() -> None:
    text = changes(head(), plan=plan_of(pairs=5, seed=3))
    assert 'the plan, experiment.pairs: "3" → "5"' in text
    assert "the plan, experiment.seed: 0 → 3" in text


def test_a_plan_that_stands_for_other_runs_than_it_did_is_refused() -> None:
    more = runs_of(PLAN, ("one", "new"))
    assert "the plan stands for other runs: 0 of 6 are gone, 6 are new" in changes(head(), runs=more)


def test_sides_in_another_order_are_another_experiment() -> None:
    text = changes(head(), plan=plan_of(("b", "a")))
    assert "the plan" in text


def test_another_commit_is_named_with_both() -> None:
    begun = head({"a": side("a", at=code("1" * 40)), "b": SIDES["b"]})
    text = changes(begun, sides={"a": side("a", at=code("2" * 40)), "b": SIDES["b"]})
    assert f'side a, code.commit: "{"1" * 40}" → "{"2" * 40}"' in text


def test_another_package_is_named_with_both_versions() -> None:
    other = side("b", options={"kind": "b"}, packages=packages(numpy="1.26.0"))
    text = changes(head(), sides={"a": SIDES["a"], "b": other})
    assert 'side b, packages.numpy: "2.4.6" → "1.26.0"' in text


def test_another_machine_or_other_limits_are_named() -> None:
    text = changes(head(), machine={**MACHINE, "cpu_model": "Xeon", "affinity": "0-3"})
    assert "the machine, cpu_model: EPYC 7K62 → Xeon" in text
    assert "the machine, affinity: 0-7 → 0-3" in text


def test_another_version_of_envdyno_is_named() -> None:
    begun = head().model_copy(update={"envdyno_version": "0.0.1"})
    assert f"envdyno was 0.0.1 and is {__version__}" in changes(begun)
