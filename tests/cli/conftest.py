"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from ab_process import Ab
from walker_repository import Repository, walker_repository


@pytest.fixture(scope="session")
def envdyno_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of worktrees and compiled code for all tests: a cold one costs seconds a side."""
    return tmp_path_factory.mktemp("envdyno-cache")


@pytest.fixture
def ab(envdyno_cache: Path, tmp_path: Path) -> Ab:
    """The command ``envdyno ab``, working in the test's own folder."""
    return Ab(envdyno_cache, tmp_path)


@pytest.fixture(scope="session")
def walker(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository of an environment; tests that write into it copy it."""
    return walker_repository(tmp_path_factory.mktemp("walker") / "repository")
