"""Entry points are asked of the interpreter that will run them, and cannot hurt the control."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from registered_package import POINTS, install_package

from envdyno.agent.workloads.registration import Naming
from envdyno.sides.entry_points import EntryPointFound, entry_point_names, entry_points_of
from envdyno.sides.problems import SideError

PYTHON = Path(sys.executable)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which the package is installed."""
    install_package(tmp_path)
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


@pytest.fixture
def found(environ: dict[str, str]) -> dict[str, EntryPointFound]:
    """What the interpreter says of each."""
    return {one.registration.name: one for one in entry_points_of(PYTHON, environ)}


def test_each_is_found_to_be_one_workload_a_family_or_broken(found: dict[str, EntryPointFound]) -> None:
    assert set(found) == set(POINTS)
    whole = {name: one.registration.naming for name, one in found.items() if not one.broken}
    assert whole == {
        "fam": Naming.PREFIX,
        "either": Naming.PREFIX,
        "one": Naming.EXACT,
        "fam_pkg": Naming.EXACT,
        "synthetic": Naming.EXACT,
    }
    assert "fam_pkg.nowhere" in found["gone"].broken
    assert "no display" in found["breaks"].broken
    assert "exit code 3" in found["exits"].broken
    assert found["one"].registration.summary == "from fam-pkg 0.3"


def test_nothing_of_theirs_is_imported_here(found: dict[str, EntryPointFound]) -> None:
    assert found
    assert "fam_pkg" not in sys.modules


def test_names_alone_are_told_without_importing_what_they_name(environ: dict[str, str]) -> None:
    assert entry_point_names(PYTHON, environ) == set(POINTS)


def test_an_interpreter_without_any_has_none(tmp_path: Path) -> None:
    assert entry_points_of(PYTHON, {**os.environ, "PYTHONPATH": str(tmp_path)}) == ()


def test_an_interpreter_that_does_not_answer_is_an_error_that_names_it(tmp_path: Path) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\necho out of order >&2\nexit 9\n")
    silent.chmod(0o755)
    with pytest.raises(
        SideError, match=r"python does not tell .*: the process ended with exit code 9: out of"
    ):
        entry_point_names(silent, os.environ)
