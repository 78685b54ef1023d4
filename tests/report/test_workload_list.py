from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.registration import Naming, Reach, Registration, Tells
from envdyno.report.workload_list import installed_in, list_entry, list_lines, verbose_lines


def entry(name: str, group: str, **changes: Any) -> Any:
    """A line of the list."""
    return list_entry(Registration(name, "module:build", "a summary", group=group, **changes))


def test_what_is_needed_is_told_with_its_version_or_with_what_to_type() -> None:
    found = entry("robot", "suite", requires=("pytest", "no-such-engine"), install="pip install engine")
    assert list(found.found) == ["pytest"]
    assert found.missing == ("no-such-engine",)
    assert found.state == "missing no-such-engine: pip install engine"


def test_a_workload_that_can_run_says_what_it_will_run_on() -> None:
    assert entry("robot", "suite").state == "ready"
    assert entry("robot", "suite", requires=("pytest",)).state.startswith("pytest ")
    assert entry("robot", "suite", reach=Reach.STAND_IN).state == "ready (not run on the real thing)"


def test_a_family_is_listed_as_one() -> None:
    assert entry("gym", "adapters", naming=Naming.PREFIX).name == "gym:TARGET"


def test_every_group_has_one_heading_wherever_its_members_stand() -> None:
    lines = list_lines([entry("a", "suite"), entry("b", ""), entry("c", "adapters"), entry("d", "suite")])
    assert lines == [
        "suite:",
        "  a  a summary  ready",
        "  d  a summary  ready",
        "",
        "adapters:",
        "  c  a summary  ready",
        "",
        "other:",
        "  b  a summary  ready",
        "",
        "Your own: envdyno run module:attribute, a factory called with num_envs and seed.",
    ]


def test_an_entry_travels_as_plain_values() -> None:
    assert entry("robot", "suite", requires=("no-such-engine",)).to_json() == {
        "name": "robot",
        "group": "suite",
        "summary": "a summary",
        "found": {},
        "missing": ("no-such-engine",),
        "install": "",
        "reach": "tested",
        "tells": (),
        "not_told": (),
        "limits": (),
        "example": "",
    }


def test_everything_that_is_known_of_a_workload_is_shown_when_asked_for() -> None:
    known = entry(
        "gym",
        "adapters",
        naming=Naming.PREFIX,
        requires=("pytest", "no-such-engine"),
        install="pip install engine",
        reach=Reach.STAND_IN,
        tells=tuple(one for one in Tells if one is not Tells.CONTACTS),
        limits=("Slow on a CPU.", "No rendering."),
        example="gym:Ant",
    )
    lines = verbose_lines([known, entry("robot", "suite")])
    assert lines[0] == "gym:TARGET"
    assert lines[1] == "  what           a summary"
    assert lines[2] == "  missing        no-such-engine: pip install engine"
    assert lines[3].startswith("  found          pytest ")
    assert "not run on the real thing" in lines[4]
    assert lines[5].startswith("  tells          resets, ")
    assert lines[6:] == [
        "  does not tell  contacts",
        "  limits         Slow on a CPU.",
        "                 No rendering.",
        "  try            envdyno run gym:Ant",
        "",
        "robot",
        "  what   a summary",
        "  found  nothing else is needed",
    ]


def test_what_is_needed_is_looked_up_in_the_interpreter_that_will_run_it() -> None:
    registration = Registration("robot", "module:build", "a summary", requires=("My_Engine", "pytest"))
    found = list_entry(registration, installed_in({"my-engine": "7.1"}))
    assert found.found == {"My_Engine": "7.1"}
    assert found.missing == ("pytest",)
