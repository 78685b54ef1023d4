"""How long each stage of a run may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from envdyno.agent.stages import Stage

DEFAULTS_S: Mapping[Stage, float] = {
    Stage.START: 60.0,
    Stage.BIND: 20.0,
    Stage.IMPORT: 600.0,
    Stage.BUILD: 1800.0,  # just-in-time compilation takes minutes
    Stage.FIRST_STEP: 1800.0,
    Stage.WARMUP: 900.0,
    Stage.WINDOW: 120.0,  # beyond the window itself
    Stage.AUDIT: 60.0,
    Stage.CLOSE: 30.0,
}


@dataclass(frozen=True)
class Deadlines:
    """Seconds for each stage; the window's is what is granted beyond the measured span."""

    overrides: Mapping[Stage, float] = field(default_factory=dict)

    def seconds(self, stage: Stage, window_s: float) -> float:
        """Return how long ``stage`` may take in a run with a window of ``window_s`` seconds."""
        granted = self.overrides.get(stage, DEFAULTS_S[stage])
        return granted + window_s if stage is Stage.WINDOW else granted
