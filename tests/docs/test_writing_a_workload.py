"""The example of the page about workloads: checked as written, and found out when it counts wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "writing_a_workload.md"


@pytest.fixture(scope="module")
def example() -> str:
    """The block that begins with the name of its file."""
    (found,) = re.findall(
        r"^```python\n(# balls\.py\n.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return str(found)


def checked(program: str, folder: Path) -> dict[str, list[Any]]:
    """Return what ``envdyno check`` says of the example, by grade."""
    (folder / "balls.py").write_text(program, "utf-8")
    command = [sys.executable, "-m", "envdyno", "check", "balls:build", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    by_grade: dict[str, list[Any]] = {}
    for found in json.loads(done.stdout)["findings"]:
        by_grade.setdefault(found["grade"], []).append(found)
    return by_grade


def test_the_example_counts_right_by_a_count_of_its_own(example: str, tmp_path: Path) -> None:
    found = checked(example, tmp_path)
    assert set(found) == {"good"}, found
    (counting,) = (one["text"] for one in found["good"] if one["topic"] == "counting")
    assert re.search(r"^([\d,]+) transitions and \d+ reset rows .* counted \1 themselves", counting)


def test_a_count_of_every_row_in_every_step_is_found_out_by_it(example: str, tmp_path: Path) -> None:
    honest = "Tally(self.spec.num_envs - reset_rows, reset_rows, "
    assert honest in example
    found = checked(example.replace(honest, "Tally(self.spec.num_envs, 0, "), tmp_path)
    shown = re.findall(r"^  WRONG  counting +(.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    without_figures = [re.sub(r"[\d,]+", "#", text) for text in shown]
    assert [re.sub(r"[\d,]+", "#", one["text"]) for one in found["wrong"]] == without_figures
    assert "but the environments counted" in shown[0]
