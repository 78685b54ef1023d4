"""The page at the width of a phone and on paper: nothing is cut off, and paper is white."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vl_convert", reason="needs the extra envdyno[report]")

from browser import CHROMIUM, MISSING, SCHEMES, browse, told_by, with_script
from made_bundles import GO2, SCENARIOS, experiment

from envdyno.cli.main import run_command

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
PHONE_PX = 390
PAPER_PX = 718
"""A4 between margins of a centimetre, at CSS's 96 px an inch."""
LONG = "organisation_with_a_long_name/quadruped_on_rough_terrain_with_stairs_and_stepping_stones/mujoco_warp"
KINDS = {"fail": "dark", "sweep": "light", "long names": "light", "history": "dark"}
"""Pages of all kinds, and the reader's colour scheme."""
PROBE = """
addEventListener("load", () => {
  const width = window.innerWidth, box = (one) => one.getBoundingClientRect();
  const seen = [...document.querySelectorAll("main *")].filter((one) => box(one).width > 0);
  const holder = (one) => one.closest(".scroll");
  const scrolls = (one) => holder(one) && getComputedStyle(holder(one)).overflowX === "auto";
  const name = (one) => `${one.tagName} ${one.getAttribute("class")} ${one.textContent.slice(0, 30)}`;
  const past = (one) => !one.closest("svg") && !scrolls(one) && box(one).right > width + 1;
  const marks = [...document.querySelectorAll("svg.figure")].flatMap((svg) => {
    const frame = box(svg.closest("figure"));
    return [...svg.querySelectorAll("path, line, text, rect")].filter((one) => {
      const mark = box(one);
      const inside = mark.left > frame.left - 1 && mark.right < frame.right + 1;
      return mark.width + mark.height > 0 && !(inside && mark.bottom < frame.bottom + 1);
    }).map(name);
  });
  const body = getComputedStyle(document.body);
  parent.postMessage({
    width,
    wide: document.documentElement.scrollWidth,
    outside: seen.filter(past).map(name),
    marks,
    figures: document.querySelectorAll("svg.figure").length,
    page: body.backgroundColor,
    ink: body.color,
    folded: [...document.querySelectorAll("details")].filter((one) => box(one).height < 60).length,
  }, "*");
});
"""
FRAME = """<!doctype html><body style="margin: 0"><script>
addEventListener("message", (event) => {
  document.documentElement.dataset.found = JSON.stringify(event.data);
});
</script><iframe src="page.html" style="border: 0; width: WIDTHpx; height: 2000px"></iframe></body>"""


def looked_at(page: Path, width: int, scheme: str) -> dict[str, Any]:
    """What a page looks like in so narrow a frame; a window of Chromium cannot be made that narrow."""
    with_script(page, PROBE)
    frame = page.with_name("frame.html")
    frame.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    flags = ("--dump-dom", "--virtual-time-budget=3000", "--window-size=1200,1200", SCHEMES[scheme])
    dom, log = browse(frame, *flags, profile=page.with_name("profile"))
    found = told_by(dom)
    assert found is not None, log
    facts: dict[str, Any] = json.loads(found)
    assert facts["width"] == width
    return facts


def printed(page: Path) -> None:
    """Have the rules for paper hold on the screen too: they stand last, behind those of the dark scheme."""
    text = page.read_text(encoding="utf-8")
    assert text.count("@media print") == 1
    page.write_text(text.replace("@media print", "@media all"), encoding="utf-8")


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every page, made once."""
    folder = tmp_path_factory.mktemp("made")
    target, bundle = folder / "page.html", folder / "bundle"
    rates = ([312_512.0, 310_949.0, 313_762.0], [201_358.0, 200_251.0, 202_063.0])
    if request.param == "long names":
        experiment({LONG: rates, GO2: rates, "word " * 30: rates}, slower_ms=7.3).write(bundle, raw=True)
    elif request.param == "history":
        for day in (0, 1, 2):
            experiment({LONG: rates, GO2: rates}, day=day).write(bundle / str(day))
    else:
        SCENARIOS[request.param]().write(bundle, raw=True)
    verb = "history" if request.param == "history" else "report"
    assert run_command([verb, str(bundle), "--html", str(target)]) == 0
    return target


@pytest.fixture
def scheme(request: pytest.FixtureRequest) -> str:
    """The colour scheme that a page is looked at in."""
    return KINDS[request.node.callspec.params["made"]]


@pytest.fixture
def page(made: Path, tmp_path: Path) -> Path:
    """A copy of a page."""
    return Path(shutil.copy(made, tmp_path / "page.html"))


def test_a_phone_need_not_scroll_the_page_sideways(page: Path, scheme: str) -> None:
    facts = looked_at(page, PHONE_PX, scheme)
    assert facts["wide"] <= PHONE_PX
    assert facts["outside"] == []
    assert facts["marks"] == []
    assert facts["figures"] > 0


def test_paper_is_white_and_nothing_on_it_is_cut_off_or_folded_away(page: Path, scheme: str) -> None:
    printed(page)
    facts = looked_at(page, PAPER_PX, scheme)
    assert facts["page"] == "rgb(255, 255, 255)"
    assert facts["ink"] == "rgb(0, 0, 0)"
    assert facts["wide"] <= PAPER_PX
    assert facts["outside"] == []
    assert facts["marks"] == []
    assert facts["folded"] == 0


@pytest.mark.parametrize("made", ["fail"], indirect=True)
def test_the_page_prints(page: Path) -> None:
    paper = page.with_name("page.pdf")
    browse(page, f"--print-to-pdf={paper}", SCHEMES["dark"], profile=page.with_name("profile"))
    data = paper.read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") >= 2
