"""The page in a real browser: no console error, no request, every figure drawn, tables that sort."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("vl_convert", reason="needs the extra envdyno[report]")

import browser
from browser import CHROMIUM, MISSING, SCHEMES, told_by, with_script
from made_bundles import SCENARIOS

from envdyno.cli.main import run_command

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
Browse = Callable[..., tuple[str, str]]
PROBE = """
const heads = [...document.querySelectorAll("#cases-0 th")];
const rows = () => [...document.querySelectorAll("#cases-0 tbody tr")];
const ratios = () => rows().map((row) => Number(row.cells[2].dataset.value));
const before = ratios();
heads[2].click(); const up = ratios(); heads[2].click(); const down = ratios();
const boxes = [...document.querySelectorAll("svg.figure")].map((one) => {
  const box = one.getBBox(); return [box.width, box.height, one.querySelectorAll("path, line, text").length];
});
document.documentElement.dataset.found = JSON.stringify({ before, up, down, boxes });
"""


@pytest.fixture
def browse(tmp_path: Path) -> Browse:
    """Open a file in a fresh profile; return the DOM afterwards and what the browser logged."""
    return partial(browser.browse, profile=tmp_path / "profile")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The page of an experiment that failed, raw samples included."""
    SCENARIOS["fail"]().write(tmp_path / "bundle", raw=True)
    target = tmp_path / "page.html"
    assert run_command(["report", str(tmp_path / "bundle"), "--html", str(target)]) == 0
    return target


def test_the_console_stays_empty_and_nothing_is_asked_for(page: Path, browse: Browse) -> None:
    dom, log = browse(page, "--dump-dom")
    assert "CONSOLE" not in log
    assert "Refused" not in log
    assert dom.count('<svg class="figure"') == dom.count("<figure")


def test_a_request_would_have_been_seen(page: Path, browse: Browse) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(
        text.replace("</main>", '<img src="https://envdyno.invalid/x.png"></main>'), encoding="utf-8"
    )
    _, log = browse(page, "--dump-dom")
    assert "CONSOLE" in log


def test_every_figure_is_drawn_and_tables_sort(page: Path, browse: Browse) -> None:
    with_script(page, PROBE)
    dom, log = browse(page, "--dump-dom")
    found = told_by(dom)
    assert found is not None, log
    facts = json.loads(found)
    assert len(facts["boxes"]) == 11
    assert all(width > 100 and height > 30 and marks > 10 for width, height, marks in facts["boxes"])
    assert facts["up"] == sorted(facts["before"])
    assert facts["down"] == sorted(facts["before"], reverse=True)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_follows_the_colour_scheme(scheme: str, page: Path, browse: Browse, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    browse(page, f"--screenshot={picture}", "--window-size=800,600", SCHEMES[scheme])
    corner = first_pixel(picture.read_bytes())
    assert (max(corner) < 60) is (scheme == "dark")
    assert (min(corner) > 200) is (scheme == "light")


def first_pixel(png: bytes) -> tuple[int, int, int]:
    """Red, green and blue of the upper left pixel: every filter leaves the first one as it is."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += 12 + length
    row = zlib.decompress(data)
    return row[1], row[2], row[3]
