from __future__ import annotations

from dataclasses import replace

import hand_made_run
import pytest

from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.request import Request
from envdyno.host import site
from envdyno.host.site import placement_in_words, survey
from envdyno.plan.usage_error import UsageError


def test_the_chosen_cpus_are_those_of_all_placements() -> None:
    assert hand_made_run.site(2, cpus_each=3).chosen_cpus == (0, 1, 2, 3, 4, 5)


def test_unbound_workers_may_use_what_the_process_may() -> None:
    whole = hand_made_run.site(2)
    unbound = tuple(placement._replace(cpus=()) for placement in whole.choice.placements)
    narrow = replace(
        whole,
        choice=replace(whole.choice, placements=unbound),
        limits=replace(whole.limits, affinity=(1, 3)),
    )
    assert narrow.chosen_cpus == (1, 3)
    without_masks = replace(narrow, limits=replace(narrow.limits, affinity=None))
    assert without_masks.chosen_cpus == whole.topology.cpus


def test_a_wish_that_cannot_be_met_is_the_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    known = hand_made_run.site(2)
    monkeypatch.setattr(site, "read_topology", lambda: known.topology)
    monkeypatch.setattr(site, "read_limits", lambda: known.limits)
    assert len(survey(Request()).choice.placements) == 2
    with pytest.raises(UsageError, match="7"):
        survey(Request(numa="7"))


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        (Placement(0, 1, (0, 1, 2, 8), (1,), MemoryPolicy.BIND, 4), "CPUs 0-2,8, memory bind 1"),
        (Placement(0, 0, (5,), (0, 1), MemoryPolicy.INTERLEAVE, 1), "CPUs 5, memory interleave 0-1"),
        (Placement(0, 0, (5,), (0,), MemoryPolicy.PREFERRED, 1), "CPUs 5, memory preferred 0"),
        (Placement(0, None, (), (), MemoryPolicy.OFF, 2), "CPUs unbound, memory unbound"),
    ],
)
def test_a_placement_is_one_line(placement: Placement, words: str) -> None:
    assert placement_in_words(placement) == words
