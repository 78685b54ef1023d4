"""The tolerances of a plan."""

from __future__ import annotations

import pytest

from envdyno.plan.plan_error import PlanError
from envdyno.plan.read_plan import build_plan

TABLES = {
    "experiment": {"cases": ["synthetic"]},
    "sides": {"a": {"options": {"step_ms": 1.0}}, "b": {"options": {"step_ms": 2.0}}},
}


def test_a_plan_may_say_how_much_facts_of_the_work_may_differ() -> None:
    plan = build_plan(TABLES | {"tolerances": {"reward_mean": 0.05, "dispatches_per_step": 0}}, "plan")
    assert plan.tolerances == {"reward_mean": 0.05, "dispatches_per_step": 0.0}
    assert plan.to_json()["tolerances"]["reward_mean"] == 0.05


@pytest.mark.parametrize("share", [-0.1, float("inf"), True, "much"])
def test_a_tolerance_that_is_no_share_is_refused(share: object) -> None:
    with pytest.raises(PlanError, match="tolerance of reward_mean"):
        build_plan(TABLES | {"tolerances": {"reward_mean": share}}, "plan")
