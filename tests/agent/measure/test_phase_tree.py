from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.phase_tree import (
    ObserverEffect,
    PhaseNode,
    PhaseStatus,
    PhaseTree,
    build_tree,
)
from envdyno.agent.workloads.contract import PhaseTotal

MS = 1_000_000


def node(tree: PhaseTree, path: str) -> PhaseNode:
    found = tree.find(path)
    assert found is not None, path
    return found


def test_times_are_per_vector_step_and_every_level_shows_its_remainder() -> None:
    tree = build_tree(
        [
            PhaseTotal("env_step", 900 * MS, 10),
            PhaseTotal("env_step/physics", 600 * MS, 30),
            PhaseTotal("env_step/reset_done", 50 * MS, 1),
            PhaseTotal("replay", 40 * MS, 10),
        ],
        vector_steps=10,
        wall_ns=1000 * MS,
    )
    assert tree.step_ms == 100.0
    assert node(tree, "env_step").ms_per_step == 90.0
    physics = node(tree, "env_step/physics")
    assert (physics.ms_per_step, physics.share, physics.calls_per_step) == (60.0, 0.6, 3.0)
    assert node(tree, "env_step/reset_done").ms_per_step == 5.0, "one call in ten steps is a tenth"
    inner = node(tree, "env_step").remainder
    assert inner is not None
    assert inner.ms_per_step == pytest.approx(25.0)
    assert tree.remainder.ms_per_step == pytest.approx(6.0)
    assert tree.remainder.share == pytest.approx(0.06)
    assert physics.remainder is None, "a phase without children has nothing to split"


def test_never_ran_and_not_instrumented_are_told_apart() -> None:
    tree = build_tree(
        [PhaseTotal("env_step", 10 * MS, 1), PhaseTotal("env_step/reset_done", 0, 0)],
        vector_steps=1,
        wall_ns=10 * MS,
        declared=["env_step/physics"],
        expected=["env_step/physics", "env_step/update_state"],
    )
    for path in ("env_step/reset_done", "env_step/physics"):
        never = node(tree, path)
        assert (never.status, never.ms_per_step, never.calls_per_step) == (PhaseStatus.NEVER_RAN, 0.0, 0.0)
    missing = node(tree, "env_step/update_state")
    assert missing.status is PhaseStatus.NOT_INSTRUMENTED
    assert missing.ms_per_step is missing.share is missing.calls_per_step is missing.equivalent_cores is None


def test_a_parent_without_a_timer_is_not_instrumented_and_its_children_still_count() -> None:
    tree = build_tree([PhaseTotal("env_step/physics", 7 * MS, 1)], vector_steps=1, wall_ns=10 * MS)
    parent = node(tree, "env_step")
    assert parent.status is PhaseStatus.NOT_INSTRUMENTED
    assert parent.remainder is None
    assert node(tree, "env_step/physics").ms_per_step == 7.0
    assert tree.remainder.ms_per_step == pytest.approx(3.0)


def test_a_parent_that_comes_after_its_child_keeps_its_own_time() -> None:
    tree = build_tree(
        [PhaseTotal("env_step/physics", 7 * MS, 1), PhaseTotal("env_step", 9 * MS, 1)],
        vector_steps=1,
        wall_ns=10 * MS,
    )
    assert node(tree, "env_step").ms_per_step == 9.0


def test_timers_that_overlap_give_a_negative_remainder_and_are_shown_so() -> None:
    tree = build_tree(
        [PhaseTotal("a", 8 * MS, 1), PhaseTotal("b", 5 * MS, 1)], vector_steps=1, wall_ns=10 * MS
    )
    assert tree.remainder.ms_per_step == pytest.approx(-3.0)


def test_equivalent_cores_are_cpu_time_over_wall_time() -> None:
    tree = build_tree(
        [
            PhaseTotal("env_step", 10 * MS, 1, 25 * MS),
            PhaseTotal("env_step/physics", 8 * MS, 1, 24 * MS),
        ],
        vector_steps=1,
        wall_ns=10 * MS,
        cpu_ns=26 * MS,
        declared=["env_step/reset_done"],
    )
    assert node(tree, "env_step/physics").equivalent_cores == 3.0
    assert tree.equivalent_cores == pytest.approx(2.6)
    inner = node(tree, "env_step").remainder
    assert inner is not None
    assert inner.cpu_ms_per_step == pytest.approx(1.0)
    assert tree.remainder.cpu_ms_per_step == pytest.approx(1.0)
    assert node(tree, "env_step/reset_done").equivalent_cores is None


def test_one_child_without_cpu_time_leaves_the_remainder_without() -> None:
    tree = build_tree(
        [PhaseTotal("a", 4 * MS, 1, 4 * MS), PhaseTotal("b", 4 * MS, 1, None)],
        vector_steps=1,
        wall_ns=10 * MS,
        cpu_ns=10 * MS,
    )
    assert tree.remainder.cpu_ms_per_step is None


def test_calls_are_absent_where_the_source_does_not_count_them() -> None:
    window = [PhaseTotal("a", MS, None), PhaseTotal("b", 0, None)]
    tree = build_tree(window, vector_steps=1, wall_ns=MS)
    assert node(tree, "a").calls_per_step is None
    never = node(tree, "b")
    assert (never.status, never.calls_per_step) == (PhaseStatus.NEVER_RAN, 0.0), "that much is told"


@pytest.mark.parametrize(("steps", "wall_ns"), [(0, MS), (1, 0)])
def test_a_window_without_a_vector_step_is_refused(steps: int, wall_ns: int) -> None:
    with pytest.raises(ValueError, match="Make the window longer"):
        build_tree([], vector_steps=steps, wall_ns=wall_ns)


def test_two_totals_for_one_path_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' has two totals"):
        build_tree([PhaseTotal("a", 1, 1)] * 2, vector_steps=1, wall_ns=1)


def test_no_phase_at_all_leaves_the_whole_step_as_remainder() -> None:
    tree = build_tree([], vector_steps=2, wall_ns=10 * MS)
    assert tree.phases == ()
    assert (tree.remainder.ms_per_step, tree.remainder.share) == (5.0, 1.0)


def test_find_follows_the_path_and_not_a_name_that_begins_alike() -> None:
    tree = build_tree(
        [PhaseTotal("env", MS, 1), PhaseTotal("env_step", MS, 1), PhaseTotal("env_step/env", MS, 1)],
        vector_steps=1,
        wall_ns=3 * MS,
    )
    assert node(tree, "env_step/env").path == "env_step/env"
    assert tree.find("env/env") is None
    assert tree.find("nothing") is None


def test_the_observer_effect_is_the_attribution_step_against_the_throughput_step() -> None:
    effect = ObserverEffect(throughput_step_ms=50.0, attribution_step_ms=51.0)
    assert effect.ms_per_step == pytest.approx(1.0)
    assert effect.relative == pytest.approx(0.02)
    assert json.loads(json.dumps(effect.to_json()))["relative"] == pytest.approx(0.02)


def test_a_reference_split_of_a_step_comes_out_as_published() -> None:
    # reference case flashsac/go2/mujoco on its direct side, ms per vector step of 100 steps
    published = {"env_step": 25.8, "env_step/step_core": 22.8, "env_step/step_core/physics": 22.3}
    published |= {"env_step/update_state": 2.9}
    window = [PhaseTotal(path, round(ms * 100 * MS), 100) for path, ms in published.items()]
    tree = build_tree(window, vector_steps=100, wall_ns=round(26.2 * 100 * MS))
    for path, ms in published.items():
        assert node(tree, path).ms_per_step == pytest.approx(ms)
    core, step = node(tree, "env_step/step_core").remainder, node(tree, "env_step").remainder
    assert core is not None
    assert step is not None
    assert core.ms_per_step == pytest.approx(0.5)
    assert step.ms_per_step == pytest.approx(0.1)


paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map("/".join)
windows = st.dictionaries(
    paths,
    st.tuples(st.integers(0, 10**12), st.none() | st.integers(0, 100), st.none() | st.integers(0, 10**12)),
    max_size=10,
).map(lambda known: [PhaseTotal(path, *rest) for path, rest in known.items()])


@given(
    windows,
    st.integers(1, 10_000),
    st.integers(1, 10**13),
    st.sets(paths, max_size=4),
    st.sets(paths, max_size=4),
)
def test_at_every_level_the_parts_and_the_remainder_make_up_the_whole(
    window: list[PhaseTotal], steps: int, wall_ns: int, declared: set[str], expected: set[str]
) -> None:
    tree = build_tree(window, vector_steps=steps, wall_ns=wall_ns, declared=declared, expected=expected)
    seen: list[str] = []

    def covered(nodes: tuple[PhaseNode, ...]) -> float:
        return sum(covered(n.children) if n.ms_per_step is None else n.ms_per_step for n in nodes)

    def check(node: PhaseNode) -> None:
        seen.append(node.path)
        assert (node.ms_per_step is None) == (node.status is PhaseStatus.NOT_INSTRUMENTED)
        if node.remainder is not None and node.ms_per_step is not None:
            whole = covered(node.children) + node.remainder.ms_per_step
            assert math.isclose(whole, node.ms_per_step, rel_tol=1e-9, abs_tol=1e-6)
        for child in node.children:
            assert child.path.rpartition("/")[0] == node.path
            check(child)

    for node in tree.phases:
        check(node)
    whole = covered(tree.phases) + tree.remainder.ms_per_step
    assert math.isclose(whole, tree.step_ms, rel_tol=1e-9, abs_tol=1e-3)
    assert len(seen) == len(set(seen)), "every path once"
    assert {total.path for total in window} | declared | expected <= set(seen), "and none lost"
    timed = {total.path for total in window}
    assert all(
        found.status is not PhaseStatus.NOT_INSTRUMENTED
        for path in timed | declared
        if (found := tree.find(path))
    )
    json.dumps(tree.to_json(), allow_nan=False)
