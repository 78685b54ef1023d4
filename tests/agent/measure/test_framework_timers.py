from __future__ import annotations

from typing import NamedTuple

import pytest

from envdyno.agent.measure.framework_timers import UNILAB_TIMERS, StepTimers, TimerKey, scope_totals
from envdyno.agent.measure.phase_tree import PhaseStatus, build_tree
from envdyno.agent.workloads.contract import PhaseTotal


class PerfNode(NamedTuple):
    """The shape of MotrixLab's node."""

    name: str
    count: int
    total_ns: int
    self_ns: int
    min_ns: int
    max_ns: int
    children: tuple[PerfNode, ...] = ()


def test_a_flat_dictionary_is_added_up_over_steps() -> None:
    timers = StepTimers(
        [TimerKey("env_step", "total_ms"), TimerKey("env_step/physics", "physics_ms", "cpu_ms")]
    )
    timers.add({"total_ms": 2.0, "physics_ms": 1.5, "cpu_ms": 3.0, "unknown_ms": 9.0})
    timers.add({"total_ms": 4.0, "physics_ms": 2.5, "cpu_ms": 5.0})
    assert timers.totals() == (
        PhaseTotal("env_step", 6_000_000, None, None),
        PhaseTotal("env_step/physics", 4_000_000, None, 8_000_000),
    )


def test_a_key_that_is_absent_has_no_total_and_a_key_that_is_zero_never_ran() -> None:
    timers = StepTimers([TimerKey("physics", "physics_ms"), TimerKey("reset_done", "reset_ms")])
    timers.add({"physics_ms": 0.0})
    assert timers.totals() == (PhaseTotal("physics", 0, None, None),)


def test_unilab_timers_nest_physics_inside_step_core_inside_env_step() -> None:
    timers = StepTimers(UNILAB_TIMERS)
    step = {
        "env_step_total_ms": 80.0,
        "apply_action_ms": 1.0,
        "step_core_ms": 60.0,
        "step_core_cpu_ms": 110.0,
        "backend_physics_ms": 57.0,
        "update_state_ms": 11.0,
        "reset_done_ms": 0.0,
        "reset_done_count": 3.0,
    }
    for _ in range(4):
        timers.add(step)
    tree = build_tree(
        timers.totals(),
        vector_steps=4,
        wall_ns=4 * 81_000_000,
        expected=[timer.path for timer in UNILAB_TIMERS],
    )
    physics = tree.find("env_step/step_core/physics")
    core = tree.find("env_step/step_core")
    assert physics is not None
    assert core is not None
    assert core.remainder is not None
    assert physics.ms_per_step == pytest.approx(57.0)
    assert physics.calls_per_step is None, "how often the engine was called is not told"
    assert core.remainder.ms_per_step == pytest.approx(3.0)
    assert core.equivalent_cores == pytest.approx(110 / 60)
    statuses = {path: tree.find(path) for path in ("env_step/reset_done", "env_step/action_validate")}
    assert {path: found.status for path, found in statuses.items() if found} == {
        "env_step/reset_done": PhaseStatus.NEVER_RAN,
        "env_step/action_validate": PhaseStatus.NOT_INSTRUMENTED,
    }


def test_scopes_become_paths_and_stay_totals() -> None:
    seldom = PerfNode("reset_envs", 3, 12, 12, 4, 4)
    reset = PerfNode("reset", 10, 13, 1, 1, 5, (seldom,))
    root = PerfNode("step", 10, 100, 7, 9, 11, (PerfNode("physics", 10, 80, 80, 7, 9), reset))
    assert scope_totals([root], {"step": "env_step"}) == (
        PhaseTotal("env_step", 100, 10),
        PhaseTotal("env_step/physics", 80, 10),
        PhaseTotal("env_step/reset", 13, 10),
        PhaseTotal("env_step/reset/reset_envs", 12, 3),
    )


def test_a_scope_that_seldom_runs_is_told_per_vector_step_and_not_per_entry() -> None:
    root = PerfNode("step", 10, 100_000_000, 0, 0, 0, (PerfNode("reset_envs", 3, 12_600_000, 0, 0, 0),))
    tree = build_tree(scope_totals([root]), vector_steps=10, wall_ns=100_000_000)
    found = tree.find("step/reset_envs")
    assert found is not None
    assert found.ms_per_step == pytest.approx(1.26)
    assert found.calls_per_step == pytest.approx(0.3)


def test_scopes_of_equal_path_are_one_and_a_slash_in_a_name_is_no_level() -> None:
    twice = [PerfNode("step", 1, 5, 5, 5, 5), PerfNode("step", 2, 7, 7, 3, 4)]
    assert scope_totals(twice) == (PhaseTotal("step", 12, 3),)
    assert scope_totals([PerfNode("a/b", 1, 5, 5, 5, 5)]) == (PhaseTotal("a_b", 5, 1),)
