"""Flags say the same as a plan file, in fewer words."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdyno.plan.flags import PlanFlags, parse_literal
from envdyno.plan.plan_error import PlanError
from envdyno.plan.read_plan import plan_from_flags
from envdyno.sides.request import WorkingTree


def test_base_and_head_are_sides(tmp_path: Path) -> None:
    plan = plan_from_flags(PlanFlags(cases=("a",), base="main", head="dev"), tmp_path).plan
    assert {name: side.ref for name, side in plan.sides.items()} == {"base": "main", "head": "dev"}


def test_a_base_alone_is_compared_with_the_working_tree(tmp_path: Path) -> None:
    plan = plan_from_flags(PlanFlags(cases=("a",), base="main"), tmp_path).plan
    assert plan.sides["head"].working_tree
    assert plan.side_requests(tmp_path)[1].code == WorkingTree(tmp_path)


def test_an_aa_of_one_side_is_that_side_twice(tmp_path: Path) -> None:
    flags = PlanFlags(cases=("a",), base="main", settings={"experiment.aa": True})
    plan = plan_from_flags(flags, tmp_path).plan
    assert {name: side.ref for name, side in plan.sides.items()} == {"base": "main", "again": "main"}
    assert plan.allowances.same


def test_options_alone_make_sides(tmp_path: Path) -> None:
    flags = PlanFlags(
        cases=("suite",),
        options=("direct:runtime=direct", "manager:runtime=manager", "seed=3"),
        axes=("n=1,2",),
    )
    plan = plan_from_flags(flags, tmp_path).plan
    assert plan.sides["direct"].options == {"runtime": "direct"}
    assert plan.options == {"seed": 3}
    assert plan.axes == {"n": (1, 2)}
    assert plan.sides["direct"].ref is None


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("working-tree", "working_tree", True),
        ("main", "ref", "main"),
        ("feature/x", "ref", "feature/x"),
        ("ref:python:odd", "ref", "python:odd"),
        ("/opt/env", "python", "/opt/env"),
        ("./env/bin/python", "python", "./env/bin/python"),
        ("~/env", "python", "~/env"),
        ("python:3.12", "python", "3.12"),
        ("requirement:mujoco==3.3", "requirements", ("mujoco==3.3",)),
        ("requirements:r.txt", "requirements_file", ("r.txt",)),
    ],
)
def test_parts_of_sides(part: str, key: str, value: object, tmp_path: Path) -> None:
    plan = plan_from_flags(PlanFlags(cases=("a",), sides=(f"x={part}", "y=current")), tmp_path).plan
    assert getattr(plan.sides["x"], key) == value


def test_parts_of_one_side_add_up(tmp_path: Path) -> None:
    flags = PlanFlags(
        cases=("a",),
        base="main",
        sides=("base=python:3.12", "base=requirement:a", "base=requirement:b", "head=dev"),
        env=("head:OMP_NUM_THREADS=4",),
    )
    plan = plan_from_flags(flags, tmp_path).plan
    assert plan.sides["base"].requirements == ("a", "b")
    assert plan.sides["base"].ref == "main"
    assert plan.sides["head"].env == {"OMP_NUM_THREADS": "4"}


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (PlanFlags(sides=("main",)), "--side main is not NAME=PART"),
        (PlanFlags(sides=("x=main", "x=dev")), "second ref"),
        (PlanFlags(options=("runtime",)), "--option runtime is not key=value"),
        (PlanFlags(options=("a:x=1", "a:x=2")), "second time"),
        (PlanFlags(options=("a:=1",)), "names no option"),
        (PlanFlags(env=("A=1",)), "--env A=1 is not NAME:VARIABLE=value"),
        (PlanFlags(axes=("n",)), "--axis n is not key=value,value"),
    ],
)
def test_flags_that_cannot_be_read_are_named(flags: PlanFlags, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"The command line") as caught:
        plan_from_flags(flags, tmp_path)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ('"3"', "3"),
        ("NaN", "NaN"),
        ("[1]", [1]),
        ("direct", "direct"),
    ],
)
def test_values_of_options_are_what_they_look_like(text: str, value: object) -> None:
    assert parse_literal(text) == value
