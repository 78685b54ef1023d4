"""github-action-benchmark's ``customBiggerIsBetter``, by the rules of the action (npm does not have it)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS, experiment

from envdyno.export.github_action import github_action_text
from envdyno.record.strict_json import loads

names = st.one_of(
    st.sampled_from(["a|b", "`@everyone`", "``", "![x](https://example.org)", "a\n|-|-|", "</details>"]),
    st.text(st.sampled_from("`|@[]()<>\n ab"), min_size=1, max_size=20),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20),
)


def read_as_the_action_does(text: str) -> list[dict[str, object]]:
    """A list of entries with name, value and unit, and with range and extra as text."""
    body = loads(text)
    for entry in body:
        assert {"name", "value", "unit"} <= entry.keys() <= {"name", "value", "unit", "range", "extra"}
        assert type(entry["value"]) in (int, float)
        assert all(isinstance(entry[key], str) for key in entry.keys() - {"value"})
        # A change of unit between two commits is scaled where both are times; ours never change.
        assert entry["unit"] in ("transitions/s", "ratio")
    # Entries of two commits are matched by name: the first of a name is taken.
    assert len({entry["name"] for entry in body}) == len(body)
    return body


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_action_has_the_figures_of_every_case_and_side(scenario: str) -> None:
    material = SCENARIOS[scenario]().material()
    found = {entry["name"]: entry for entry in read_as_the_action_does(github_action_text(material))}
    assert found  # the action fails where there is nothing
    for judgement in material.judgements:
        for case in judgement.report.cases:
            if case.estimate is not None:
                assert found[f"{case.case} [head over base]"]["value"] == case.estimate.ratio


@given(case=names, side=names.filter(lambda name: name != "base"))
@settings(max_examples=40)
def test_names_stay_inside_their_cell_of_the_comment_that_the_action_writes(case: str, side: str) -> None:
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.01e4, 7.02e4])}, sides=("base", side))
    found = read_as_the_action_does(github_action_text(made.material()))
    assert len(found) == 3
    for entry in found:
        row = f"| `{entry['name']}` | `{entry['value']}` | | |"
        assert re.fullmatch(r"\| `[^`|\n]+` \| `[^`|\n]+` \| \| \|", row)
