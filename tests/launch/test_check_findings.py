"""What a check finds, from hand-made sightings."""

from __future__ import annotations

from typing import Any

import pytest

from envdyno.launch.check_findings import Grade, Sighting, findings, lacking

SPEC: dict[str, Any] = {
    "num_envs": 4,
    "autoreset": "same_step",
    "substeps": 2,
    "step_dt_s": 0.02,
    "episode_limit_steps": 10,
    "observation": {"policy": {"shape": [3], "dtype": "float32"}},
    "modules_under_test": ["my_env"],
}
SEEN: dict[str, Any] = {
    "steps": 20,
    "outcomes": ["tally"],
    "transitions": 80,
    "reset_rows": 0,
    "episodes": 8,
    "reward_sum": 1.5,
    "nonfinite_rows": None,
    "counted_inside": 80,
    "work": {"episode_steps": 72, "substeps": 160},
    "late_resets": 3,
    "short_steps": 0,
    "observation": {"obs.policy": {"shape": [4, 3], "dtype": "float32"}},
    "observation_nonfinite_rows": 0,
    "observation_hash": "abc",
    "contacts": {"contacts": 9, "rows": 4},
    "children": [],
}


def sighting(
    spec: dict[str, Any] | None = None, seen: dict[str, Any] | None = None, **changes: Any
) -> Sighting:
    """A workload that does what it says, but for what is given."""
    told = {
        "spec": SPEC | (spec or {}),
        "seen": SEEN | (seen or {}),
        "audit": {"threads": [{}], "pools": [], "findings": []},
        "ledger": {"import": 0.1, "build": 0.2, "first_step": 0.3},
        "counting_assumption": None,
    } | changes.pop("told", {})
    return Sighting(
        told=told, **({"output_lines": 0, "output": (), "files": (), "left_processes": 0} | changes)
    )


def graded(first: Sighting, second: Sighting | None = None) -> dict[str, tuple[Grade, str]]:
    """Return the worst finding of every topic."""
    order = list(Grade)
    worst: dict[str, tuple[Grade, str]] = {}
    for found in findings(first, second or first):
        kept = worst.get(found.topic)
        if kept is None or order.index(found.grade) > order.index(kept[0]):
            worst[found.topic] = (found.grade, found.text)
    return worst


@pytest.mark.parametrize(
    ("threads", "pools", "text"),
    [
        (0, [], "0 threads"),
        (1, [], "1 thread"),
        (2, [], "2 threads: the main one, 1 not in a pool"),
        (3, [2], "3 threads: the main one, a pool of 2 x p0"),
        (5, [3], "5 threads: the main one, a pool of 3 x p0, 1 not in a pool"),
        (9, [2, 4], "9 threads: the main one, a pool of 2 x p0, a pool of 4 x p1, 2 not in a pool"),
    ],
)
def test_the_groups_of_threads_add_up(threads: int, pools: list[int], text: str) -> None:
    audit = {
        "threads": [{}] * threads,
        "pools": [{"name": f"p{index}", "threads": size} for index, size in enumerate(pools)],
        "findings": [],
    }
    assert graded(sighting(told={"audit": audit}))["threads"][1] == text


def test_what_a_factory_leaves_out_is_noted() -> None:
    found = graded(sighting(seen={"notes": ["the factory takes no seed"]}))
    assert found["seed"] == (Grade.NOTE, "the factory takes no seed")


def test_why_nothing_is_counted_inside_is_said_where_it_is_known() -> None:
    found = graded(sighting(seen={"counted_inside": None, "why_not_inside": "they are processes"}))
    assert found["counting"][0] is Grade.NOTE
    assert found["counting"][1].endswith("; they are processes")


def test_a_workload_that_does_what_it_says_has_nothing_but_good_findings() -> None:
    found = graded(sighting())
    assert {grade for grade, _ in found.values()} == {Grade.GOOD}
    assert set(found) == {
        "build", "counting", "episodes", "observations", "substeps", "determinism", "threads"
    }  # fmt: skip
    assert lacking(sighting()) == ()


@pytest.mark.parametrize(
    ("spec", "seen", "topic", "words"),
    [
        ({}, {"counted_inside": 76}, "counting", "but the environments counted 76"),
        ({}, {"reset_rows": 2}, "counting", "with autoreset same_step no row only resets"),
        ({"autoreset": "disabled"}, {"reset_rows": 2}, "counting", "with autoreset disabled"),
        ({"autoreset": "next_step"}, {}, "counting", "in 3 of 20 steps that was not so"),
        ({"episode_limit_steps": 5}, {}, "episodes", "beyond the limit of 5"),
        ({}, {"observation_nonfinite_rows": 1}, "observations", "1 rows hold NaN"),
        (
            {},
            {"observation": {"obs.policy": {"shape": [4, 2], "dtype": "float32"}}},
            "observations",
            "told with [3]",
        ),
        (
            {},
            {"observation": {"obs.policy": {"shape": [4, 3], "dtype": "float64"}}},
            "observations",
            "told as float32",
        ),
        (
            {},
            {"observation": {"obs.critic": {"shape": [4, 3], "dtype": "float32"}}},
            "observations",
            "policy is told and was not seen",
        ),
    ],
)
def test_what_a_workload_says_and_does_not_do_is_wrong(
    spec: dict[str, Any], seen: dict[str, Any], topic: str, words: str
) -> None:
    grade, text = graded(sighting(spec, seen))[topic]
    assert grade is Grade.WRONG
    assert words in text


def test_reset_rows_of_an_asynchronous_batch_need_not_follow_the_step_before() -> None:
    asynchronous = sighting({"autoreset": "next_step"}, {"short_steps": 20})
    assert graded(asynchronous)["counting"][0] is Grade.GOOD


@pytest.mark.parametrize(
    ("seen", "changes", "topic", "words"),
    [
        ({"counted_inside": None}, {}, "counting", "nothing inside the environments counts"),
        ({"outcomes": ["nothing"]}, {}, "counting", "tells no counts"),
        ({}, {"told": {"counting_assumption": "every row counts"}}, "counting", "assumed: every row counts"),
        ({"episodes": 0}, {}, "episodes", "give more --steps"),
        ({"work": {"substeps": 200}}, {}, "substeps", "2.50 physics steps"),
        ({"children": ["python", "python"]}, {}, "processes", "2 of its own: python"),
        ({}, {"output_lines": 7, "output": ("hello",)}, "output", "7 lines"),
        ({}, {"files": ("LOG.TXT",)}, "files", "LOG.TXT"),
    ],
)
def test_what_a_reader_of_the_figures_should_know_is_a_note(
    seen: dict[str, Any], changes: dict[str, Any], topic: str, words: str
) -> None:
    grade, text = graded(sighting(None, seen, **changes))[topic]
    assert grade is Grade.NOTE
    assert words in text


def test_processes_that_are_left_running_are_wrong() -> None:
    assert graded(sighting(left_processes=2))["processes"][0] is Grade.WRONG


def test_a_thread_outside_its_placement_is_told_beside_the_census() -> None:
    audit = {
        "threads": [{}] * 5,
        "pools": [{"name": "rayon", "threads": 4}],
        "findings": [{"kind": "mask_widened", "message": "4 threads may run outside."}],
    }
    grade, text = graded(sighting(told={"audit": audit}))["threads"]
    assert grade is Grade.NOTE
    assert text == "5 threads: the main one, a pool of 4 x rayon; 4 threads may run outside"


@pytest.mark.parametrize("key", ["transitions", "episodes", "reward_sum", "observation_hash"])
def test_two_builds_that_differ_are_told_with_what_differs(key: str) -> None:
    other = sighting(None, {key: SEEN[key] + SEEN[key]})
    grade, text = graded(sighting(), other)["determinism"]
    assert grade is Grade.NOTE
    assert key.replace("_", " ") in text


def test_without_anything_to_compare_determinism_was_not_looked_at() -> None:
    silent = sighting(None, {"observation": None, "observation_hash": None, "reward_sum": None})
    assert graded(silent)["determinism"][0] is Grade.NOTE


def test_what_is_not_told_is_named_with_the_part_of_the_contract_that_tells_it() -> None:
    silent = sighting(
        {"autoreset": None, "substeps": None, "step_dt_s": None, "observation": {}, "modules_under_test": []},
        {"episodes": None, "reward_sum": None, "observation": None, "work": {}, "contacts": None},
    )
    lacks = lacking(silent)
    assert len(lacks) == 9
    for part in ("spec.autoreset", "spec.substeps", "Tally.episodes", "observation()", "episode_steps"):
        assert any(part in words for words in lacks)


def test_physics_whose_contacts_are_not_told_lack_them_and_other_workloads_do_not() -> None:
    (words,) = lacking(sighting(None, {"contacts": None}))
    assert "contacts_now()" in words
    (words,) = lacking(sighting({"substeps": None}, {"contacts": None}))
    assert "contacts" not in words


def test_a_bare_engine_lacks_no_episodes_and_no_rewards() -> None:
    engine = sighting(
        {"autoreset": "none"}, {"episodes": None, "reward_sum": None, "work": {"substeps": 160}}
    )
    assert lacking(engine) == ()
    assert "episodes" not in graded(engine)
