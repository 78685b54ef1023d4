"""Plan files and flags lead to one shape, and what is wrong is said in full."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.stages import Stage
from envdyno.plan.experiment import ExperimentPlan, changed_keys
from envdyno.plan.flags import PlanFlags
from envdyno.plan.plan_error import PlanError
from envdyno.plan.read_plan import build_plan, load_plan, plan_from_flags, plan_from_tables
from envdyno.sides.request import GitRef, LfsPolicy, SubmodulePolicy

SAMPLE = """\
[experiment]
cases = ["flashsac/go2_joystick_flat/mujoco", "sac/g1_walk_flat/*"]
num_envs = 8192
pairs = "3..12"

[sides.direct]
ref = "60c2ce7c"
pythonpath = ["src"]

[sides.manager]
ref = "2a3bcea7"
pythonpath = ["src"]

[gate]
min_ratio = 0.90

[[gate.exceptions]]
case = "sac/g1_motion_tracking/motrix"
min_ratio = 0.80
reason = "command lookup not yet vectorised"
owner = "envs team"
expires = 2027-03-01
"""
MINIMAL = '[experiment]\ncases = "a"\n[sides.base]\nref = "x"\n[sides.head]\nref = "y"\n'


def plan_of(text: str, tmp_path: Path) -> ExperimentPlan:
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    return load_plan(tmp_path / "plan.toml").plan


def refusal(text: str, tmp_path: Path) -> str:
    with pytest.raises(PlanError) as caught:
        plan_of(text, tmp_path)
    return str(caught.value)


def test_the_sample_is_read(tmp_path: Path) -> None:
    plan = plan_of(SAMPLE, tmp_path)
    assert plan.experiment.cases == ("flashsac/go2_joystick_flat/mujoco", "sac/g1_walk_flat/*")
    assert plan.experiment.num_envs == (8192,)
    assert plan.experiment.pairs == (3, 12)
    assert list(plan.sides) == ["direct", "manager"]
    assert plan.gate is not None
    assert plan.gate.exceptions[0].expires == date(2027, 3, 1)
    direct, _ = plan.side_requests(tmp_path)
    assert direct.code == GitRef("60c2ce7c", tmp_path)
    assert direct.pythonpath == ("src",)


def test_everything_may_be_combined_in_a_side(tmp_path: Path) -> None:
    text = MINIMAL + (
        'repo = "elsewhere"\npython = "3.12"\nrequirements = ["mujoco==3.3"]\nrequirements_file = '
        '"r.txt"\nno_deps = true\nenv = { OMP_NUM_THREADS = 8, MODE = "fast" }\nunset = "DEBUG"\noptions '
        '= { runtime = "direct", n = 3, on = true }\npythonpath = "lib"\nsetup = ["make", "make '
        'more"]\nsetup_deadline = "10m"\ncwd = "run"\norigins = "../dev"\ndata = ["assets"]\nmodules = '
        '["envs"]\nsubmodules = "skip"\nlfs = "skip"\n'
    )
    side = plan_of(text, tmp_path).side_requests(tmp_path)[1]
    assert side.code == GitRef("y", tmp_path / "elsewhere", SubmodulePolicy.SKIP, LfsPolicy.SKIP)
    assert side.requirements is not None
    assert side.requirements.files == (Path("r.txt"),)
    assert not side.requirements.dependencies
    assert side.environ == {"OMP_NUM_THREADS": "8", "MODE": "fast"}
    assert side.options == {"runtime": "direct", "n": 3, "on": True}
    assert side.setup == ("make", "make more")
    assert side.setup_deadline_s == 600.0
    assert side.origins == ((tmp_path / ".." / "dev").resolve(),)


def test_the_other_tables_are_read(tmp_path: Path) -> None:
    plan = plan_of(
        MINIMAL
        + '[options]\nseed_offset = 1\n[axes]\nruntime = ["direct", "manager"]\n[measure]\nwindow = "5s"\n'
        'actions = "zero"\n[placement]\nnuma = "0,1"\ncpus = "0-3"\n[deadlines]\nbuild = "10m"\n',
        tmp_path,
    )
    assert plan.axes == {"runtime": ("direct", "manager")}
    assert plan.measure.window == 5.0
    assert plan.measure.actions is ActionSource.ZERO
    assert plan.deadlines == {Stage.BUILD: 600.0}


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            MINIMAL.replace("[sides.base]", "pears = 5\n[sides.base]"),
            ["`pears` is not a key of [experiment]", "`pairs`"],
        ),
        (MINIMAL + "\n[messure]\n", ["`messure` is not a key of a plan", "Did you mean `measure`?"]),
        (MINIMAL + "python_path = 1\n", ["[sides.head]", "Did you mean `pythonpath`?"]),
        (MINIMAL + "[deadlines]\nbild = 5\n", ["`bild` is not a stage", "Did you mean `build`?"]),
        (MINIMAL + '[measure]\nactions = "rnd"\n', ["'rnd' is not known; use one of random, zero, fixed"]),
        (MINIMAL + '[measure]\nwindow = "soon"\n', ["'soon' is no length of time"]),
        (MINIMAL + '[placement]\nnuma = "left"\n', ["'left' is not known"]),
        ('[sides.a]\nref = "x"\n[sides.b]\nref = "y"\n', ["`experiment` is missing"]),
        ("[experiment]\ncases = []\n[sides.a]\n[sides.b]\n", ["`experiment.cases`"]),
        ('[experiment]\ncases = "a"\n[sides.only]\nref = "x"\n', ["at least two sides, and has only"]),
        (MINIMAL + "working_tree = true\n", ["not both"]),
        (MINIMAL + "no_deps = true\n", ["`no_deps` needs"]),
        ('[experiment]\ncases = "a"\n[sides.a]\nsetup = "make"\n[sides.b]\n', ["`setup` needs code"]),
        ('[experiment]\ncases = "a"\n[sides."a b"]\n[sides.b]\n', ["'a b' is no name for a side"]),
        ('[experiment]\ncases = "a"\n[sides.a]\n[sides.A]\n', ["upper and lower case"]),
        ('[experiment]\ncases = "a"\nnum_envs = [8, 8]\n[sides.a]\n[sides.b]\n', ["twice"]),
        ('[experiment]\ncases = "a"\nnum_envs = 0\n[sides.a]\n[sides.b]\n', ["a batch has at least 1"]),
        (
            '[experiment]\ncases = "a"\nnum_envs = "many"\n[sides.a]\n[sides.b]\n',
            ["`experiment.num_envs`", "'many'"],
        ),
        ('[experiment]\ncases = "a"\npairs = 2\n[sides.a]\n[sides.b]\n', ["2 pairs are too few"]),
        (
            '[experiment]\ncases = "a"\npairs = "3..6"\norder = "blocked"\n[sides.a]\n[sides.b]\n',
            ["blocked order needs a fixed number of pairs"],
        ),
        (MINIMAL + "options = { x = 1 }\n[axes]\nx = [1, 2]\n", ["the option x is an axis", "head"]),
        (MINIMAL + "[axes]\nx = []\n", ["no values"]),
        (MINIMAL + "[axes]\nnum_envs = [1, 2]\n", ["experiment.num_envs"]),
        (MINIMAL + 'unset = "A"\nenv = { A = "1" }\n', ["both set and unset"]),
        (MINIMAL + "[gate]\nmin_ratio = 0\n", ["`gate.min_ratio`"]),
    ],
)
def test_what_is_wrong_is_named(text: str, sentences: list[str], tmp_path: Path) -> None:
    said = refusal(text, tmp_path)
    for sentence in sentences:
        assert sentence in said
    assert str(tmp_path / "plan.toml") in said


EXCEPTION = """\
[gate]
min_ratio = 0.9
[[gate.exceptions]]
case = "{case}"
min_ratio = {bound}
reason = "{reason}"
owner = "o"
expires = {day}
"""


@pytest.mark.parametrize(
    ("case", "bound", "reason", "day", "sentence"),
    [
        ("sac/*", 0.8, "r", "2027-03-01", "names exactly one case"),
        ("sac", 0.95, "r", "2027-03-01", "can only lower the bound"),
        ("sac", 0.8, "", "2027-03-01", "`gate.exceptions.0.reason`"),
        ("sac", 0.8, "r", '"someday"', "'someday' is no day"),
    ],
)
def test_an_exception_is_for_one_case_lowers_the_bound_and_has_a_reason_and_an_end(
    case: str, bound: float, reason: str, day: str, sentence: str, tmp_path: Path
) -> None:
    said = refusal(MINIMAL + EXCEPTION.format(case=case, bound=bound, reason=reason, day=day), tmp_path)
    assert sentence in said


def test_an_exceptions_day_may_stand_in_quotes(tmp_path: Path) -> None:
    plan = plan_of(MINIMAL + EXCEPTION.format(case="a", bound=0.8, reason="r", day='"2027-03-01"'), tmp_path)
    assert plan.gate is not None
    assert plan.gate.exceptions[0].expires == date(2027, 3, 1)


def test_all_problems_are_named_at_once_with_their_lines(tmp_path: Path) -> None:
    text = MINIMAL + "reff = 1\n\n[measure]\nwindow = true\n[gate]\nmin_ration = 1\n"
    said = refusal(text, tmp_path)
    assert "3 problems" in said
    lines = text.splitlines()
    for key in ("reff", "window", "min_ration"):
        number = next(number for number, line in enumerate(lines, 1) if line.startswith(f"{key} "))
        assert f"line {number}: " in said
        assert key in said


def test_a_file_that_is_absent_or_no_toml_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read"):
        load_plan(tmp_path / "absent.toml")
    assert "not TOML" in refusal("[experiment\n", tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'[experiment]\ncases = "\xe4"\n')
    with pytest.raises(PlanError, match="cannot be read"):
        load_plan(tmp_path / "latin.toml")


def test_flags_make_the_same_plan_as_a_file(tmp_path: Path) -> None:
    flags = PlanFlags(
        cases=("flashsac/go2_joystick_flat/mujoco", "sac/g1_walk_flat/*"),
        sides=("direct=60c2ce7c", "direct=pythonpath:src", "manager=ref:2a3bcea7", "manager=pythonpath:src"),
        settings={
            "experiment.num_envs": 8192,
            "experiment.pairs": "3..12",
            "gate.min_ratio": 0.9,
            "gate.rule": None,
        },
    )
    loaded = plan_from_flags(flags, tmp_path)
    of_file = plan_of(SAMPLE[: SAMPLE.index("[[gate")], tmp_path)
    assert loaded.plan == of_file
    assert loaded.plan.digest == of_file.digest


def test_flags_lie_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(SAMPLE)
    flags = PlanFlags(sides=("manager=dev",), settings={"experiment.pairs": 4})
    plan = load_plan(tmp_path / "plan.toml", flags).plan
    assert plan.sides["manager"].ref == "dev"
    assert plan.sides["manager"].pythonpath == ("src",)
    assert plan.experiment.pairs == (4, 4)
    assert plan.experiment.num_envs == (8192,)


TWO_SIDES: dict[str, Any] = {"cases": ("synthetic",), "options": ("a:x=1", "b:x=2")}


def test_allowing_uncommitted_changes_makes_no_gate(tmp_path: Path) -> None:
    allowed = {"gate.allow_dirty": True}
    assert plan_from_flags(PlanFlags(**TWO_SIDES, settings=allowed), tmp_path).plan.gate is None
    (tmp_path / "plan.toml").write_text(MINIMAL)
    assert load_plan(tmp_path / "plan.toml", PlanFlags(settings=allowed)).plan.gate is None
    ungated = plan_of(MINIMAL, tmp_path).to_json()
    resumed = plan_from_tables(ungated, PlanFlags(settings=allowed), tmp_path, "bundle")
    assert resumed.plan.gate is None


@pytest.mark.parametrize("allowed", [None, True])
def test_a_rule_without_a_gate_is_refused_and_no_bound_is_made_up(
    tmp_path: Path, allowed: bool | None
) -> None:
    settings = {"gate.rule": "point", "gate.allow_dirty": allowed}
    (tmp_path / "plan.toml").write_text(MINIMAL)
    with pytest.raises(PlanError, match="--rule point says how a gate judges, and there is no gate"):
        plan_from_flags(PlanFlags(**TWO_SIDES, settings=settings), tmp_path)
    with pytest.raises(PlanError, match="there is no gate"):
        load_plan(tmp_path / "plan.toml", PlanFlags(settings=settings))


def test_flags_refine_the_gate_that_a_file_or_a_bound_makes(tmp_path: Path) -> None:
    settings = {"gate.rule": "point", "gate.allow_dirty": True}
    (tmp_path / "plan.toml").write_text(MINIMAL + "[gate]\nmin_ratio = 0.7\n")
    of_file = load_plan(tmp_path / "plan.toml", PlanFlags(settings=settings)).plan.gate
    bounded = PlanFlags(**TWO_SIDES, settings={**settings, "gate.min_ratio": 0.7})
    for gate in (of_file, plan_from_flags(bounded, tmp_path).plan.gate):
        assert gate is not None
        assert (gate.min_ratio, gate.rule.value, gate.allow_dirty) == (0.7, "point", True)


def test_relative_paths_start_at_the_plan_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "plan.toml").write_text(MINIMAL)
    assert load_plan(tmp_path / "deep" / "plan.toml").directory == tmp_path / "deep"


def test_a_plan_survives_the_way_through_json(tmp_path: Path) -> None:
    plan = plan_of(SAMPLE + "[deadlines]\nbuild = 60\n[axes]\nn = [1, 2]\n", tmp_path)
    again = ExperimentPlan.model_validate_json(json.dumps(plan.to_json()))
    assert again == plan
    assert again.digest == plan.digest


def test_the_digest_follows_what_is_run_and_not_how_long_it_goes_on(tmp_path: Path) -> None:
    digest = plan_of(MINIMAL, tmp_path).digest
    longer = MINIMAL.replace('cases = "a"', 'cases = "a"\nbudget = "1h"\nwait_idle = "5m"')
    swapped = '[experiment]\ncases = "a"\n[sides.head]\nref = "y"\n[sides.base]\nref = "x"\n'
    assert plan_of(longer, tmp_path).digest == digest
    assert plan_of(MINIMAL.replace('"y"', '"z"'), tmp_path).digest != digest
    assert plan_of(swapped, tmp_path).digest != digest


def test_what_changed_between_two_plans_is_listed(tmp_path: Path) -> None:
    old = plan_of(MINIMAL, tmp_path).to_json()
    new = plan_of(MINIMAL.replace('"y"', '"z"') + "[gate]\nmin_ratio = 0.95\n", tmp_path).to_json()
    found = changed_keys(old, new)
    assert 'sides.head.ref: "y" → "z"' in found
    assert any(line.startswith("gate: null → ") for line in found)
    assert changed_keys(old, old) == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_any_tables_are_a_plan_or_a_refusal(value: object) -> None:
    tables = {"experiment": value, "sides": value, "axes": value, "gate": value, "deadlines": value}
    with pytest.raises(PlanError):
        build_plan(tables, "a test")
