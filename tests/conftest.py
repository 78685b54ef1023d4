"""What all tests share: builders on the import path, a clock that moves when told, and patient properties."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent / "builders"))  # pytest's importlib mode puts no folder there

from fake_clock import FakeClock

# How long an example takes says something about the machine, not about the code.
settings.register_profile("envdyno", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("envdyno")


@pytest.fixture
def fake_clock() -> FakeClock:
    """A monotonic clock that moves only when told, at 1 s."""
    return FakeClock()
