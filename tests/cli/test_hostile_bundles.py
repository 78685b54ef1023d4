"""Bundles that a stranger made: whatever stands in them, each verb shows it or refuses it in a sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS

from envdyno.cli.compare_verbs import compare_files
from envdyno.cli.export_verbs import export_source
from envdyno.cli.gate_verbs import judge_again
from envdyno.cli.history_verbs import show_history
from envdyno.cli.report_verbs import report_source
from envdyno.cli.show_verbs import show_source
from envdyno.export.formats import FORMATS
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import EXPERIMENT, RECORDS, BundleError
from envdyno.record.journal import JournalError

Place = tuple[str | int, ...]
BODIES = {
    name: (
        None if made.head is None else made.head.to_json(),
        [record.to_json() for record in made.records],
    )
    for name, made in ((name, SCENARIOS[name]()) for name in ("undecided", "interrupted", "sweep"))
}
GONE = object()
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 2**70, 1e300, -1e-300]),
    st.sampled_from(["", "x", "\u202e<b>`|\n", "2026-13-01T00:00:00", "../../etc/passwd", "1" * 5000]),
    st.sampled_from([[], {}, [1], {"a": 1}, [[]], {"": None}]),
    st.just(GONE),
)


def places(body: Any, above: Place = ()) -> Iterator[Place]:
    """Yield where every part of a JSON value is, but for the whole."""
    parts = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, part in parts:
        yield (*above, key)
        yield from places(part, (*above, key))


def put(body: Any, place: Place, value: Any) -> None:
    for key in place[:-1]:
        body = body[key]
    if value is GONE:
        del body[place[-1]]
    else:
        body[place[-1]] = value


@st.composite
def odd_bundles(draw: st.DrawFn) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The head and the records of a bundle of which one part or two are not what they should be."""
    head, records = copy.deepcopy(BODIES[draw(st.sampled_from(sorted(BODIES)))])
    for _ in range(draw(st.integers(1, 2))):
        in_head = head is not None and draw(st.booleans())
        body = head if in_head else records[draw(st.integers(0, len(records) - 1))]
        found = list(places(body))
        put(body, found[draw(st.integers(0, len(found) - 1))], draw(odd_values))
    return head, records


def test_a_verb_shows_or_refuses_what_a_stranger_wrote(tmp_path: Path) -> None:
    SCENARIOS["undecided"]().write(tmp_path / "ours")
    bundle, out = tmp_path / "odd", tmp_path / "out"
    bundle.mkdir()
    shown = refused = 0

    @given(odd=odd_bundles())
    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    def check(odd: tuple[dict[str, Any] | None, list[dict[str, Any]]]) -> None:
        nonlocal shown, refused
        head, records = odd
        (bundle / EXPERIMENT).unlink(missing_ok=True)
        if head is not None:
            (bundle / EXPERIMENT).write_text(json.dumps(head))
        (bundle / RECORDS).write_text("".join(json.dumps(record) + "\n" for record in records))
        verbs = [
            lambda: show_source(bundle, 80),
            lambda: judge_again(bundle, None, None, None, False),
            lambda: compare_files(tmp_path / "ours", bundle, None, 0.9, (), False),
            lambda: compare_files(bundle, bundle, None, None, (), True),
            lambda: show_history([bundle], None, (), only_ratios=False),
            lambda: report_source(bundle, html=None, wants_markdown=True, out=out, append=False),
            *(lambda name=name: export_source(bundle, name, out, None) for name in FORMATS),
        ]
        for verb in verbs:
            try:
                verb()
                shown += 1
            except (BundleError, JournalError, UsageError):
                refused += 1

    check()
    assert shown
    assert refused


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("started_at",), "x"),
        (("throughput", "transitions_per_cpu_s"), 0),
    ],
)
def test_a_run_that_cannot_have_been_is_refused_by_whoever_judges_it(
    place: Place, value: object, tmp_path: Path
) -> None:
    _, records = copy.deepcopy(BODIES["sweep"])
    put(records[0], place, value)
    path = tmp_path / RECORDS
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises((BundleError, JournalError)):
        compare_files(path, path, None, None, (), False)
