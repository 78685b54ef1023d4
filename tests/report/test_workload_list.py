from __future__ import annotations

from typing import Any

import pytest

from envdyno.agent.workloads.registration import Naming, Reach, Registration, Tells, Told
from envdyno.agent.workloads.registry import built_in
from envdyno.agent.workloads.requirement import Requirement
from envdyno.report.workload_list import installed_in, list_entry, list_lines, verbose_lines


def entry(name: str, group: str, **changes: Any) -> Any:
    """A line of the list."""
    return list_entry(Registration(name, "module:build", "a summary", group=group, **changes))


def test_what_is_needed_is_told_with_its_version_or_with_what_to_type() -> None:
    found = entry(
        "robot",
        "suite",
        requires=(Requirement("pytest"), Requirement("no-such-engine")),
        install="pip install engine",
    )
    assert list(found.found) == ["pytest"]
    assert found.missing == ("no-such-engine",)
    assert found.state == "missing no-such-engine: pip install engine"


def test_a_workload_that_can_run_says_what_it_will_run_on() -> None:
    assert entry("robot", "suite").state == "ready"
    assert entry("robot", "suite", requires=(Requirement("pytest"),)).state.startswith("pytest ")
    assert entry("robot", "suite", reach=Reach.STAND_IN).state == "ready (not run on the real thing)"


def test_a_family_is_listed_as_one() -> None:
    assert entry("gym", "adapters", naming=Naming.PREFIX).name == "gym:TARGET"


def test_every_group_has_one_heading_wherever_its_members_stand() -> None:
    lines = list_lines([entry("a", "suite"), entry("b", ""), entry("c", "adapters"), entry("d", "suite")])
    assert lines == [
        "suite:",
        "  a  ready",
        "    a summary",
        "  d  ready",
        "    a summary",
        "",
        "adapters:",
        "  c  ready",
        "    a summary",
        "",
        "other:",
        "  b  ready",
        "    a summary",
        "",
        "Your own: envdyno run module:attribute, a factory called with num_envs and seed.",
    ]


def test_an_entry_travels_as_plain_values() -> None:
    assert entry("robot", "suite", requires=(Requirement("no-such-engine"),)).to_json() == {
        "name": "robot",
        "group": "suite",
        "summary": "a summary",
        "found": {},
        "missing": ("no-such-engine",),
        "too_old": {},
        "install": "",
        "reach": "tested",
        "broken": "",
        "tells": {},
        "not_told": (),
        "limits": (),
        "example": "",
    }


def test_everything_that_is_known_of_a_workload_is_shown_when_asked_for() -> None:
    known = entry(
        "gym",
        "adapters",
        naming=Naming.PREFIX,
        requires=(Requirement("pytest"), Requirement("no-such-engine")),
        install="pip install engine",
        reach=Reach.STAND_IN,
        tells=tuple(
            Told(one, "some" if one is Tells.SUBSTEPS else "") for one in Tells if one is not Tells.CONTACTS
        ),
        limits=("Slow on a CPU.", "No rendering."),
        example="gym:Ant",
    )
    lines = verbose_lines([known, entry("robot", "suite")])
    assert lines[:4] == [
        "gym:TARGET",
        "  what           a summary",
        "  missing        no-such-engine",
        "  install        pip install engine",
    ]
    assert lines[4].startswith("  found          pytest ")
    facts = " ".join(" ".join(lines[5 : lines.index("  does not tell  contacts")]).split())
    assert facts.startswith(
        "proven against a stand-in with the same interface; not run on the real thing tells "
    )
    assert "tells resets, episode lengths, rewards, substeps (some), " in facts
    assert lines[lines.index("  does not tell  contacts") :] == [
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
    registration = Registration(
        "robot", "module:build", "a summary", requires=(Requirement("My_Engine"), Requirement("pytest"))
    )
    found = list_entry(registration, installed_in({"my-engine": "7.1"}))
    assert found.found == {"My_Engine": "7.1"}
    assert found.missing == ("pytest",)


def test_a_framework_that_a_run_would_refuse_is_shown_as_too_old_with_what_to_type() -> None:
    registration = Registration(
        "gym",
        "module:build",
        "a summary",
        requires=(Requirement("Gym", "1.1"), Requirement("torch")),
        install="pip install 'gym>=1.1'",
    )
    old = list_entry(registration, installed_in({"gym": "0.29.1"}))
    assert old.state == "missing torch, Gym 0.29.1 is too old: pip install 'gym>=1.1'"
    assert "  too old  Gym 0.29.1; 1.1 or newer is needed" in verbose_lines([old])
    assert "  install  pip install 'gym>=1.1'" in verbose_lines([old])
    new = list_entry(registration, installed_in({"gym": "1.10", "torch": "2.9"}))
    assert new.state == "Gym 1.10, torch 2.9"


def test_what_was_never_run_on_the_real_thing_says_so_also_where_it_is_missing() -> None:
    missing = entry(
        "lab", "", reach=Reach.STAND_IN, requires=(Requirement("no-such-lab"),), install="see there"
    )
    assert missing.state == "missing no-such-lab (not run on the real thing): see there"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("lines_of", [list_lines, verbose_lines])
@pytest.mark.parametrize("versions", [{}, {"gymnasium": "0.29.1", "envpool": "0.8.4"}])
def test_what_is_listed_fits_the_screen_but_for_what_is_typed(
    width: int, lines_of: Any, versions: dict[str, str]
) -> None:
    entries = [list_entry(known, installed_in(versions)) for known in built_in()]
    assert len(entries) > 20
    wide = [line for line in lines_of(entries, width) if len(line) > width]
    if width >= 80:
        assert not wide
    typed = [one.install for one in entries] + [f"envdyno run {one.example}" for one in entries]
    assert all(line.strip() in typed for line in wide)


def test_a_line_to_be_typed_is_never_folded() -> None:
    for known in built_in():
        found = list_entry(known, installed_in({}))
        if found.install:
            for lines in (list_lines([found], 60), verbose_lines([found], 60)):
                assert any(line.endswith(found.install) for line in lines)
