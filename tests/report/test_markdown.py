"""Markdown of a bundle, by scenario, under hostile names, and within GitHub's limit."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import SCENARIOS, experiment, failing
from markdown_it import MarkdownIt

from envdyno.cli.main import run_command
from envdyno.record.printable import printable
from envdyno.report.markdown import LIMIT, MARKER, markdown_text

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "a|b\\|c",
    "`code` ``more``",
    "@everyone see #1",
    "[link](https://evil.example)",
    "</details><h1>",
    "line\n### FAIL",
    "\u202eevil",
    "https://evil.example",
    "**bold** $x$ ~~gone~~",
]
names = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=25)
)


def rendered(text: str) -> MarkdownIt:
    """HTML as a renderer of GitHub's Markdown makes it."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_markdown_is_the_golden_one(scenario: str) -> None:
    """Set ENVDYNO_RENEW_GOLDEN=1 to write the files anew; then read the difference."""
    text = markdown_text(SCENARIOS[scenario]().material())
    path = GOLDEN / f"{scenario}.md"
    if os.environ.get("ENVDYNO_RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@given(case=names)
@settings(max_examples=20)
def test_a_name_shows_as_it_is_and_makes_no_element(case: str) -> None:
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.1e4, 7e4])})
    html = rendered(markdown_text(made.material()))
    tags = set(re.findall(r"<(/?[a-z][a-z0-9]*)[ >/]", html))
    assert {tag.strip("/") for tag in tags} <= {
        *("h3", "table", "thead", "tbody", "tr", "th", "td", "code", "ul", "li", "p", "pre"),
        *("details", "summary"),
    }
    first = re.search(r"<tbody>\s*<tr>\s*<td><code>(.*?)</code></td>", html, re.DOTALL)
    assert first is not None
    expected = printable(case).replace("\t", " ").replace("\\|", "\\x5c|")
    shown = first.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    assert shown.replace("&amp;", "&") == (expected.strip() or " ")


@given(case=names)
@settings(max_examples=20)
def test_nothing_outside_code_can_be_a_mention_a_link_or_a_formula(case: str) -> None:
    made = experiment({case: ([1e5, 1.01e5, 0.99e5], [7e4, 7.1e4, 7e4])})
    text = markdown_text(made.material())
    bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    assert "@" not in bare
    assert "://" not in bare
    assert "$" not in bare


def test_a_large_experiment_fits_and_says_what_was_left_out() -> None:
    case = "a/case/with/a/rather/long/name/as/people/give/them"
    rates = {f"{case}/{n}": ([1e5, 1.01e5, 0.99e5], [7e4, 7.1e4, 7e4]) for n in range(400)}
    text = markdown_text(experiment(rates).material())
    assert len(text) <= LIMIT
    assert "does not fit" in text
    assert text.count("<details>") == text.count("</details>")


def test_the_gravest_cases_come_first() -> None:
    text = markdown_text(failing().material())
    assert text.startswith(f"{MARKER}\n### ❌ FAIL")
    assert text.index("❌ FAIL (gate") < text.index("✅ PASS (gate")


def test_a_step_summary_is_appended_to(tmp_path: Path) -> None:
    failing().write(tmp_path / "bundle")
    target = tmp_path / "summary.md"
    target.write_text("before\n")
    command = ["report", str(tmp_path / "bundle"), "--md", "--append", "--out", str(target)]
    assert run_command(command) == 0
    assert target.read_text(encoding="utf-8").startswith(f"before\n{MARKER}")


def test_a_report_that_names_no_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing().write(tmp_path / "bundle")
    assert run_command(["report", str(tmp_path / "bundle")]) == 2
    assert "Say what to write" in capsys.readouterr().err
