from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from envdyno.agent.workloads import contract
from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec, is_count


@pytest.mark.parametrize("value", [0, 5, -1, 2**70, np.int32(5), np.uint8(0)])
def test_integers_of_every_kind_are_counts(value: Any) -> None:
    assert is_count(value)


@pytest.mark.parametrize("value", [True, np.bool_(True), 1.0, "1", None, Tally(1), [1], np.array([1])])
def test_truth_values_and_everything_else_are_not(value: Any) -> None:
    assert not is_count(value)


def test_what_a_workload_does_not_tell_is_absent_not_zero() -> None:
    assert Tally(3) == Tally(3, 0, None, None, None)
    spec = WorkloadSpec(4)
    assert (spec.autoreset, spec.substeps, spec.step_dt_s, spec.threads) == (None, None, None, None)


def test_the_modes_are_named_as_gymnasium_names_them() -> None:
    assert [mode.name for mode in Autoreset][:3] == ["SAME_STEP", "NEXT_STEP", "DISABLED"]


def test_the_contract_can_be_imported_where_there_is_nothing_but_the_standard_library() -> None:
    program = f"import runpy; runpy.run_path({contract.__file__!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)
