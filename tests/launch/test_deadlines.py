from __future__ import annotations

import pytest

from envdyno.agent.stages import Stage
from envdyno.launch.deadlines import DEFAULTS_S, Deadlines


def test_every_stage_has_a_deadline() -> None:
    assert set(DEFAULTS_S) == set(Stage)
    assert all(seconds > 0 for seconds in DEFAULTS_S.values())


@pytest.mark.parametrize("stage", Stage)
def test_only_the_window_is_granted_its_own_length_on_top(stage: Stage) -> None:
    longer = Deadlines().seconds(stage, 100.0) - Deadlines().seconds(stage, 0.0)
    assert longer == (100.0 if stage is Stage.WINDOW else 0.0)


def test_what_the_user_says_replaces_the_default_of_that_stage_alone() -> None:
    deadlines = Deadlines({Stage.BUILD: 5.0, Stage.WINDOW: 1.0})
    assert deadlines.seconds(Stage.BUILD, 10.0) == 5.0
    assert deadlines.seconds(Stage.WINDOW, 10.0) == 11.0
    assert deadlines.seconds(Stage.CLOSE, 10.0) == DEFAULTS_S[Stage.CLOSE]
