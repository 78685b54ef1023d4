"""Requirement files become one text that stands for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.sides.problems import SideError
from envdyno.sides.request import Requirements
from envdyno.sides.requirement_text import RequirementText, logical_lines, read_requirements


def read(directory: Path, *lines: str, files: tuple[str, ...] = ()) -> RequirementText:
    return read_requirements(Requirements(lines, tuple(map(Path, files))), directory)


def test_lines_and_files_are_put_together_and_names_are_found(tmp_path: Path) -> None:
    (tmp_path / "base.txt").write_text(
        "# pinned\nmujoco==3.3.0  # engine\n\nnumpy>=1.26 ; python_version > '3.8'\n"
    )
    found = read(tmp_path, "Unisim_Core[fast]==1.4.0", files=("base.txt",))
    assert found.lines == (
        "mujoco==3.3.0",
        "numpy>=1.26 ; python_version > '3.8'",
        "Unisim_Core[fast]==1.4.0",
    )
    assert found.names == ("mujoco", "numpy", "unisim-core")


def test_included_files_are_put_in_place_from_their_own_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.txt").write_text("-r b.txt\n--requirement=../c.txt\na==1\n")
    (tmp_path / "deep" / "b.txt").write_text("b==1\n")
    (tmp_path / "c.txt").write_text("-c limits.txt\nc==1\n")
    (tmp_path / "limits.txt").write_text("d<2\n")
    found = read(tmp_path, files=("deep/a.txt",))
    assert found.lines == ("b==1", "c==1", "a==1")
    assert found.constraints == ("d<2",)


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("-r b.txt\n")
    (tmp_path / "b.txt").write_text("-r a.txt\n")
    with pytest.raises(SideError, match=r"a\.txt → .*b\.txt → .*a\.txt"):
        read(tmp_path, files=("a.txt",))


def test_an_editable_install_is_refused(tmp_path: Path) -> None:
    for line in ("-e .", "--editable=./project"):
        with pytest.raises(SideError, match="editable"):
            read(tmp_path, line)


def test_a_line_that_is_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SideError, match="neither a requirement"):
        read(tmp_path, "mujoco = 3")
    with pytest.raises(SideError, match="cannot be read"):
        read(tmp_path, files=("absent.txt",))


def test_options_for_the_installer_are_kept(tmp_path: Path) -> None:
    lines = ("--no-index", "--pre", "--extra-index-url https://example.org/simple", "a==1 --hash=sha256:00")
    assert read(tmp_path, *lines).lines == lines


def test_credentials_are_kept_for_the_installer_and_not_for_the_record(tmp_path: Path) -> None:
    found = read(tmp_path, "--index-url https://user:token@example.org/simple")
    assert "token" in found.lines[0]
    assert found.text == "--index-url https://example.org/simple"


def test_a_local_wheel_counts_by_content(workshop: Any, tmp_path: Path) -> None:
    wheel = workshop.wheel("some-package", "1.0")
    first = read(tmp_path, f"./wheels/{wheel.name}")
    assert first.lines == (str(wheel),)
    assert first.names == ("some-package",)
    workshop.wheel("some-package", "1.0", source="CHANGED = True\n")
    second = read(tmp_path, f"./wheels/{wheel.name}")
    assert first.lines == second.lines
    assert first.digest != second.digest


def test_a_local_project_counts_by_content_and_has_its_name(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "My_Project"\n')
    first = read(tmp_path, "./project[extra]")
    (project / "__pycache__").mkdir()
    (project / "__pycache__" / "a.pyc").write_text("")
    assert read(tmp_path, "./project[extra]").digest == first.digest
    (project / "a.py").write_text("")
    assert read(tmp_path, "./project[extra]").digest != first.digest
    assert first.names == ("my-project",)
    assert first.lines == (f"{project}[extra]",)


def test_a_local_url_counts_by_content(workshop: Any, tmp_path: Path) -> None:
    wheel = workshop.wheel("some-package", "1.0")
    found = read(tmp_path, f"some-package @ file://{wheel}")
    assert found.local[0][0] == str(wheel)
    with pytest.raises(SideError, match="not there"):
        read(tmp_path, "some-package @ file:///nonexistent/a.whl")


def test_a_folder_of_wheels_counts_by_its_list(workshop: Any, tmp_path: Path) -> None:
    workshop.wheel("a", "1.0")
    first = read(tmp_path, "--find-links ./wheels")
    assert first.lines == (f"--find-links {tmp_path / 'wheels'}",)
    workshop.wheel("b", "1.0")
    assert read(tmp_path, "-f wheels").digest != first.digest


def test_another_text_has_another_digest(tmp_path: Path) -> None:
    assert read(tmp_path, "a==1").digest != read(tmp_path, "a==2").digest
    assert read(tmp_path, "a==1  # now").digest == read(tmp_path, "a==1").digest


def test_continued_lines_are_one() -> None:
    assert list(logical_lines("a==1 \\\n    --hash=sha256:0\nb")) == ["a==1     --hash=sha256:0", "b"]


plain = st.text(st.characters(exclude_characters="#\\", exclude_categories=("C", "Z")), min_size=1)


@given(st.lists(plain))
def test_plain_lines_are_taken_as_they_are(lines: list[str]) -> None:
    assert list(logical_lines("\n".join(lines))) == lines


@given(st.lists(plain), st.data())
def test_comments_and_blank_lines_change_nothing(lines: list[str], data: st.DataObject) -> None:
    noisy = []
    for line in lines:
        noisy += data.draw(st.lists(st.sampled_from(["", "# x", "   ", "  # y \\"])))
        noisy.append(line + data.draw(st.sampled_from(["", " # why", "  "])))
    assert list(logical_lines("\n".join(noisy))) == lines
