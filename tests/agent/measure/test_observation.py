from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.observation import named_arrays, nonfinite_rows, observation_hash

A = np.arange(6, dtype="float32").reshape(3, 2)
B = np.arange(3, dtype="int64")


class Tensor:
    """A PyTorch tensor on an accelerator, as far as it is looked at."""

    def __init__(self, array: np.ndarray, *, where: str = "cuda") -> None:
        self._array, self.where, self.shape = array, where, array.shape

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return Tensor(self._array, where="cpu")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self.where != "cpu":
            raise TypeError("can't convert a cuda tensor to numpy")
        return self._array


def names(observation: Any) -> list[str]:
    """Names of the arrays in an observation."""
    return [name for name, _ in named_arrays(observation)]


def test_arrays_are_named_by_their_place_and_mappings_are_read_in_the_order_of_their_keys() -> None:
    assert names(A) == ["obs"]
    assert names({"policy": A, "critic": {"b": B, "a": A}}) == ["obs.critic.a", "obs.critic.b", "obs.policy"]
    assert names((A, {"info": B})) == ["obs.0", "obs.1.info"]
    assert names(None) == []
    assert names([[1.0, 2.0], [3.0, 4.0]]) == ["obs"]


def test_equal_bits_have_equal_hashes_whatever_holds_them() -> None:
    plain = observation_hash(A)
    assert observation_hash(A.copy()) == plain
    assert observation_hash(np.asfortranarray(A)) == plain
    assert observation_hash(Tensor(A)) == plain
    assert observation_hash(A[::-1][::-1]) == plain
    assert observation_hash(MappingProxyType({"x": A, "y": B})) == observation_hash({"y": B, "x": A})


@pytest.mark.parametrize(
    "other",
    [A + 1, A.astype("float64"), A.reshape(2, 3), {"obs": A}, (A, B), A[:2], np.nextafter(A, np.float32(9))],
    ids=["values", "dtype", "shape", "name", "more", "rows", "last bit"],
)
def test_anything_else_has_another_hash(other: Any) -> None:
    assert observation_hash(other) != observation_hash(A)


def test_an_observation_that_is_not_there_has_no_hash() -> None:
    assert observation_hash(None) is None
    assert observation_hash({}) is None


def test_python_objects_are_hashed_by_what_they_are_not_by_where_they_are() -> None:
    """An array of objects holds addresses, which differ from run to run."""
    program = (
        "import numpy as np; from envdyno.agent.measure.observation import observation_hash;"
        "print(observation_hash((np.array(['red', 3, None], dtype=object), np.ones(3))))"
    )
    hashes = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(hashes) == 1


def test_without_numpy_lists_are_hashed_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy")
    assert observation_hash([[0.5]]) == observation_hash([[0.5]])
    assert observation_hash([[0.5]]) != observation_hash([[0.25]])
    assert nonfinite_rows([[float("nan")]]) is None, "there is nothing to look with"


shapes = st.sampled_from([(4,), (4, 3), (4, 2, 2), (4, 0)])


@settings(max_examples=40)
@given(st.lists(shapes, min_size=1, max_size=3), st.data())
def test_a_row_with_something_not_finite_in_any_array_is_counted_once(
    array_shapes: list[tuple[int, ...]], data: st.DataObject
) -> None:
    bad: set[int] = set()
    observation = {}
    for index, shape in enumerate(array_shapes):
        array = np.zeros(shape, data.draw(st.sampled_from(["float16", "float32", "float64"])))
        rows = data.draw(st.sets(st.integers(0, 3))) if array.size else set()
        for row in rows:
            array[(row, *(0,) * (array.ndim - 1))] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
        observation[f"group{index}"] = array
        bad |= rows
    assert nonfinite_rows(observation) == len(bad)


def test_integers_and_scalars_have_no_rows_that_could_be_not_finite() -> None:
    assert nonfinite_rows(B) is None
    assert nonfinite_rows({"count": B, "time": np.float64("nan")}) is None
    assert nonfinite_rows({"count": B, "state": A}) == 0
    assert nonfinite_rows(None) is None


def test_arrays_of_other_lengths_are_not_passed_over() -> None:
    """A group with another leading axis, such as one row a team: its bad rows count too."""
    teams = np.array([[np.nan], [0.0], [np.inf], [np.nan]])
    assert nonfinite_rows({"agents": A, "teams": teams}) == 3
    assert nonfinite_rows({"a": teams, "z": A}) == 3


def test_a_mapping_of_the_workloads_own_kind_is_read() -> None:
    class Groups(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return {"x": A}[key]

        def __iter__(self) -> Any:
            return iter(["x"])

        def __len__(self) -> int:
            return 1

    assert names(Groups()) == ["obs.x"]
