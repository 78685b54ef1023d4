"""The HTML page: what is on it, that it asks for nothing, and that no name gets out of its place."""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("vl_convert", reason="needs the extra envdyno[report]")
pytest.importorskip("jinja2", reason="needs the extra envdyno[report]")

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import G1, GO2, SCENARIOS, experiment, failing

from envdyno.cli.main import run_command
from envdyno.experiment.material import opened
from envdyno.record.printable import printable
from envdyno.report.html.page import html_page
from envdyno.report.step_samples import step_quantiles
from envdyno.report.sweeps import sweeps_of

LARGEST = 2_000_000
LOADS = ("src", "href", "xlink:href", "srcset", "data", "action", "poster", "background")
FIGURES = {
    "fail": {
        "ratios-0",
        *(f"c0-{case}-{kind}" for case in (0, 1) for kind in ("time", "runs", "phases", "series")),
    },
    "sweep": {"sweep-0"},
    "one_run": set(),
}


class Page(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_page_is_small_and_refers_to_nothing_outside(scenario: str) -> None:
    text = html_page(SCENARIOS[scenario]().material())
    page = Page(text)
    assert len(text.encode()) < LARGEST
    assert [(tag, name) for tag, found in page.elements for name in found if name in LOADS] == []
    assert not re.search(r"url\(|@import|https?://", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("scenario", FIGURES)
def test_every_figure_is_there_with_words_for_who_cannot_see_it(scenario: str) -> None:
    page = Page(html_page(SCENARIOS[scenario]().material()))
    found = {facts["id"] for tag, facts in page.elements if tag == "figure"}
    assert found == FIGURES[scenario]
    labels = [facts.get("aria-label") for tag, facts in page.elements if tag == "svg"]
    assert len(labels) == len(found)
    assert all(labels)


def test_verdicts_come_first_and_are_words_not_only_colours() -> None:
    text = html_page(failing().material())
    assert text.index("✗ FAIL") < text.index("<table") < text.index("<figure")
    assert "✓ PASS" in text


hostile_names = st.one_of(
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "</svg><img src=x onerror=alert(1)>",
            "\"><a href='javascript:1'>",
            "{{ 7 * 7 }}{% raw %}",
            "\u202egnp\nnext",
            "🤖/مرحبا",
            "&lt;b&gt;",
        ]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20),
)


@cache
def plain_page() -> Page:
    """The same page of a case whose name is harmless."""
    return Page(html_page(experiment({"plain": ([1e5, 1.01e5, 0.99e5], [7e4, 7.1e4, 7e4])}).material()))


@given(case=hostile_names)
@settings(max_examples=8)
def test_a_hostile_name_is_text_and_nothing_else(case: str) -> None:
    plain = plain_page()
    page = Page(html_page(experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.1e4, 7e4])}).material()))
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements}
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not any(name.startswith("on") for _, found in page.elements for name in found)
    assert printable(case).replace("\t", " ") in page.text


def test_step_times_are_read_from_raw_samples_as_data(tmp_path: Path) -> None:
    bundle = failing().write(tmp_path / "bundle", raw=True)
    records = list(bundle.records())
    found = step_quantiles(bundle, records[:1])
    assert found is not None
    assert found.steps == 2 * 399
    shares, times = zip(*found.points, strict=True)
    assert list(times) == sorted(times)
    assert shares[0] == 0.0
    assert 'id="c0-0-steps"' in html_page(next_material(tmp_path / "bundle"))


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00garbage", b"\x80\x04pickle"])
def test_a_broken_sample_file_is_passed_over(tmp_path: Path, content: bytes) -> None:
    bundle = failing().write(tmp_path / "bundle", raw=True)
    for path in bundle.folder.rglob("*.npy"):
        path.write_bytes(content)
    assert step_quantiles(bundle, bundle.records()) is None
    assert 'id="c0-0-steps"' not in html_page(next_material(tmp_path / "bundle"))


def test_samples_that_would_have_to_be_unpickled_are_passed_over(tmp_path: Path) -> None:
    bundle = failing().write(tmp_path / "bundle", raw=True)
    for path in bundle.folder.rglob("*.npy"):
        np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert step_quantiles(bundle, bundle.records()) is None


def next_material(path: Path):
    """The material of a bundle on disk."""
    with opened(path) as material:
        return material


def test_the_knee_is_the_smallest_batch_near_the_best() -> None:
    (sweep,) = sweeps_of(SCENARIOS["sweep"]().records)
    (curve,) = sweep.curves
    assert [point.num_envs for point in curve.points] == [512, 1024, 2048, 4096, 8192]
    assert curve.knee.num_envs == 4096
    assert "at 4,096" in sweep.caption


def test_many_cases_keep_the_page_below_its_limit_and_name_what_is_left_out() -> None:
    rates = {f"case/{n}": ([1e5 + n, 1.01e5, 0.99e5] * 20, [7e4, 7.1e4, 7e4] * 20) for n in range(14)}
    text = html_page(experiment(rates).material())
    assert len(text.encode()) < LARGEST
    assert "further case" in text
    assert "more runs are in the bundle" in text


def test_without_the_extra_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing().write(tmp_path / "bundle")
    for name in ("vl_convert", "jinja2", "markupsafe"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "envdyno.report.html.details", raising=False)
    target = tmp_path / "page.html"
    assert run_command(["report", str(tmp_path / "bundle"), "--html", str(target)]) == 2
    assert "pip install 'envdyno[report]'" in capsys.readouterr().err
    assert not target.exists()


def test_the_placement_map_shows_every_cpu_with_its_worker() -> None:
    page = Page(html_page(failing().material()))
    cells = [
        facts for tag, facts in page.elements if tag == "span" and facts.get("class", "").startswith("cpu")
    ]
    assert len(cells) == 96
    assert sum("odd" in (facts["class"] or "") for facts in cells) == 48
    assert GO2 in page.text
    assert G1 in page.text
