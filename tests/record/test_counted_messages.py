"""No message writes a plural behind a number itself: it would be wrong for 1."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import envdyno

ROOT = Path(envdyno.__file__).parent
PARTS = ("judge", "report", "export", "cli")
NOUNS = (
    "bundles|blocks|cases|commits|days|environments|exceptions|experiments|files|looks|nodes|packages|pairs|"
    "records|rows|runs|settings|sides|steps|threads|workers"
)
PLURAL = re.compile(
    rf" (?:(?:attribution|calm|different|disturbed|further|more|other|vector) )?(?:{NOUNS})\b"
)
MODULES = sorted(path for part in PARTS for path in (ROOT / part).rglob("*.py"))


def is_constant(node: ast.expr) -> bool:
    """Whether a number is written in capitals: it is known, and it is not 1."""
    return isinstance(node, ast.Name) and node.id.lstrip("_").isupper()


def is_count(node: ast.FormattedValue) -> bool:
    """Whether what stands there may be a whole number: no text made elsewhere, no digits after a point."""
    spec = ast.unparse(node.format_spec)[2:-1] if node.format_spec else ""
    made = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") != "len"
    return not made and not is_constant(node.value) and not re.search(r"[.%gefs]", spec)


def plurals(text: ast.JoinedStr) -> Iterator[str]:
    """Yield every noun in the plural that stands behind a number, as it is written."""
    for number, words in zip(text.values, text.values[1:], strict=False):
        if not isinstance(number, ast.FormattedValue) or not isinstance(words, ast.Constant):
            continue
        found = PLURAL.match(str(words.value))
        if found and is_count(number):
            yield f"{{{ast.unparse(number.value)}}}{found[0]}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_numbers_and_their_nouns_are_put_together_by_one_function(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [one for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for one in plurals(node)]
    assert found == [], "use envdyno.record.counted.counted"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('f"{n} pairs"', ["{n} pairs"]),
        ('f"{len(a):,} more runs"', ["{len(a)} more runs"]),
        ("f\"{counted(n, 'pair')} of cases\"", []),
        ('f"{MOST_CASES} cases"', []),
        ('f"{share:.0f} runs"', []),
        ('f"of {case} runs"', ["{case} runs"]),
    ],
)
def test_the_look_at_messages_sees_what_it_should(text: str, found: list[str]) -> None:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.JoinedStr)
    assert list(plurals(node.value)) == found
