from __future__ import annotations

import tempfile
from array import array
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.measure.raw_samples import write_npy


@settings(max_examples=40)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=200))
def test_samples_are_read_back_by_numpy_without_pickle(values: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "worker-0.npy")
        write_npy(path, array("q", values))
        read = np.load(path, allow_pickle=False)
        data_at = path.stat().st_size - 8 * len(values)
    assert read.dtype == np.int64
    assert read.shape == (len(values),)
    assert read.tolist() == values
    assert data_at % 64 == 0, "the data are aligned, so that they can be mapped"


def test_a_file_is_the_one_that_numpy_would_write(tmp_path: Path) -> None:
    write_npy(tmp_path / "ours.npy", array("q", [1, 2, 3]))
    np.save(tmp_path / "theirs.npy", np.array([1, 2, 3], dtype=np.int64))
    ours, theirs = ((tmp_path / name).read_bytes() for name in ("ours.npy", "theirs.npy"))
    assert ours[:6] == theirs[:6]
    assert ours[-24:] == theirs[-24:]


def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_npy(tmp_path / "gone" / "worker-0.npy", array("q"))
