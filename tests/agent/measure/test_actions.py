from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.actions import RING_BATCHES, UNBOUNDED_LIMIT, ActionSource, action_ring
from envdyno.agent.workloads.contract import ArraySpec

NUM_ENVS = 6
float_bounds = st.tuples(st.floats(-100, 100, width=32), st.floats(0, 100, width=32)).map(
    lambda pair: (pair[0], float(np.float32(pair[0]) + np.float32(pair[1])))
)
integer_bounds = st.tuples(st.integers(-100, 100), st.integers(0, 27)).map(lambda pair: (pair[0], sum(pair)))


@st.composite
def specs(draw: st.DrawFn) -> ArraySpec:
    """Actions of all sorts: scalars and rows, floats and integers, bounds on both sides, one, or none."""
    dtype = draw(st.sampled_from(["float32", "float64", "int8", "int64"]))
    shape = draw(st.sampled_from([(), (3,), (2, 2)]))
    pairs = integer_bounds if dtype.startswith("int") else float_bounds
    if draw(st.booleans()):
        low, high = draw(pairs)
    else:
        count = int(np.prod(shape))
        drawn = np.array([draw(pairs) for _ in range(count)]).reshape(*shape, 2)
        low, high = drawn[..., 0].tolist(), drawn[..., 1].tolist()
    return ArraySpec(shape, dtype, draw(st.sampled_from([low, None])), draw(st.sampled_from([high, None])))


def check_inside(batch: Any, spec: ArraySpec) -> None:
    """Every action is within the bounds that there are, and not far from zero where there are none."""
    values = np.asarray(batch)
    assert values.shape == (NUM_ENVS, *spec.shape)
    if spec.low is not None:
        assert (values >= np.asarray(spec.low)).all()
    if spec.high is not None:
        assert (values <= np.asarray(spec.high)).all()
    if spec.low is None and spec.high is None:
        assert (abs(values) <= UNBOUNDED_LIMIT).all()


@given(specs(), st.sampled_from(ActionSource), st.integers(0, 2**70))
def test_actions_lie_within_the_bounds_and_have_the_shape_and_dtype(
    spec: ArraySpec, source: ActionSource, seed: int
) -> None:
    ring = action_ring(spec, NUM_ENVS, source, seed)
    assert len(ring) == (RING_BATCHES if source is ActionSource.RANDOM else 1)
    for batch in ring:
        assert batch.dtype == spec.dtype
        assert batch.flags.c_contiguous
        check_inside(batch, spec)


@given(specs(), st.sampled_from(ActionSource), st.integers(0, 2**70))
def test_without_numpy_actions_are_nested_lists_within_the_same_bounds(
    spec: ArraySpec, source: ActionSource, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        ring = action_ring(spec, NUM_ENVS, source, seed)
        assert "numpy" not in sys.modules, "nothing imports what the workload does not use"
    for batch in ring:
        assert isinstance(batch, list)
        check_inside(batch, spec)
        assert np.asarray(batch).dtype.kind == np.dtype(spec.dtype).kind


@settings(max_examples=40)
@given(specs(), st.integers(0, 1000))
def test_equal_seeds_give_equal_rings(spec: ArraySpec, seed: int) -> None:
    first, second = (action_ring(spec, NUM_ENVS, ActionSource.RANDOM, seed) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_no_two_batches_and_no_two_seeds_are_alike() -> None:
    spec = ArraySpec((3,), "float32", -1.0, 1.0)
    rings = [action_ring(spec, NUM_ENVS, ActionSource.RANDOM, seed) for seed in (0, 1, 1_000_003)]
    assert len({batch.tobytes() for ring in rings for batch in ring}) == 3 * RING_BATCHES


def test_zero_is_the_value_nearest_to_zero_where_zero_is_not_allowed() -> None:
    spec = ArraySpec((3,), "float32", [-1.0, 0.5, -3.0], [1.0, 2.0, -2.0])
    (batch,) = action_ring(spec, NUM_ENVS, ActionSource.ZERO, 0)
    np.testing.assert_array_equal(batch, [[0.0, 0.5, -2.0]] * NUM_ENVS)


def test_fixed_is_one_random_batch() -> None:
    spec = ArraySpec((3,), "float32", -1.0, 1.0)
    (batch,) = action_ring(spec, NUM_ENVS, ActionSource.FIXED, 4)
    np.testing.assert_array_equal(batch, action_ring(spec, NUM_ENVS, ActionSource.RANDOM, 4)[0])


@pytest.mark.parametrize(
    ("dtype", "low", "high", "lowest", "highest"),
    [
        ("float32", None, None, -1, 1),
        ("float32", -float("inf"), float("inf"), -1, 1),
        ("float32", float(np.finfo("float32").min), float(np.finfo("float32").max), -1, 1),
        ("float64", float(np.finfo("float64").min), float(np.finfo("float64").max), -1, 1),
        ("float32", 2.0, None, 2, 3),
        ("float32", None, -5.0, -6, -5),
        ("float32", -4.0, None, -4, 1),
        ("int64", -(2**63), 2**63 - 1, -1, 1),
        ("int64", float(-(2**63)), float(2**63), -1, 1),
        ("uint8", 0.0, 255.0, 0, 255),
        ("uint8", None, None, 0, 1),
        ("bool", None, None, 0, 1),
        ("int64", 0.5, 3.5, 1, 3),
    ],
)
def test_a_side_without_bound_is_near_zero_or_near_the_other_bound(
    dtype: str, low: float | None, high: float | None, lowest: float, highest: float
) -> None:
    ring = action_ring(ArraySpec((50,), dtype, low, high), 50, ActionSource.RANDOM, 0)
    values = np.stack(ring).astype("float64")
    assert lowest <= values.min()
    assert values.max() <= highest
    assert values.max() - values.min() > 0.9 * (highest - lowest), "the whole range is used"


def test_a_workload_without_actions_gets_none() -> None:
    assert action_ring(None, NUM_ENVS, ActionSource.RANDOM, 0) == [None]


def test_a_workloads_own_maker_is_asked_by_value() -> None:
    asked: dict[str, Any] = {}

    def make(**wanted: Any) -> tuple[str, ...]:
        asked.update(wanted)
        return ("a", "b")

    assert action_ring(None, NUM_ENVS, ActionSource.RANDOM, 7, make) == ["a", "b"]
    assert asked == {"source": "random", "seed": 7, "batches": RING_BATCHES}


def test_a_maker_that_makes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=f"none of the {RING_BATCHES} batches"):
        action_ring(None, NUM_ENVS, ActionSource.RANDOM, 7, lambda **wanted: [])
