from __future__ import annotations

import importlib.metadata
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from envdyno.agent.measure.loaded import loaded_distributions, module_origins


def install(site: Path, metadata: str | None, files: str, declared: str | None = None) -> None:
    """Put a distribution into a folder, as an installer would."""
    folder = site / "other_name-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "RECORD").write_text(files)
    if declared is not None:
        (folder / "top_level.txt").write_text(declared)
    if metadata is not None:
        (folder / "METADATA").write_text(metadata)


def test_only_distributions_whose_modules_are_loaded_are_told() -> None:
    found = loaded_distributions()
    assert found["pytest"] == importlib.metadata.version("pytest")
    assert "ruff" not in found
    assert list(found) == sorted(found, key=str.lower)


METADATA = "Metadata-Version: 2.1\nName: Other-Name\nVersion: 1.0\n"


@pytest.mark.parametrize(
    ("files", "declared"),
    [
        ("envdyno_test_module/__init__.py,sha256=x,10\n", None),
        ("envdyno_test_module.py,sha256=x,10\n", None),
        (f"envdyno_test_module{EXTENSION_SUFFIXES[0]},,\n", None),
        ("other_name-1.0.dist-info/RECORD,,\n", "envdyno_test_module\n"),
    ],
    ids=["package", "module", "extension", "declared"],
)
def test_a_distribution_is_told_by_its_own_name_once_one_of_its_modules_is_loaded(
    files: str, declared: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, METADATA, files, declared)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "Other-Name" not in loaded_distributions()
    monkeypatch.setitem(sys.modules, "envdyno_test_module", sys)
    assert loaded_distributions()["Other-Name"] == "1.0"


def test_of_two_distributions_of_one_name_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in (("later", "1.0"), ("first", "2.0")):
        text = METADATA.replace("1.0", version)
        install(tmp_path / folder, text, "envdyno_test_module.py,,\n")
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    monkeypatch.setitem(sys.modules, "envdyno_test_module", sys)
    assert loaded_distributions()["Other-Name"] == "2.0"


@pytest.mark.parametrize("metadata", [None, "", "Metadata-Version: 2.1\nName: Other-Name\n"])
def test_a_broken_installation_beside_it_loses_nothing(
    metadata: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted installations leave folders without a name or a version behind."""
    install(tmp_path, metadata, "envdyno_test_module.py,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "envdyno_test_module", sys)
    found = loaded_distributions()
    assert found["pytest"] == importlib.metadata.version("pytest")
    assert "Other-Name" not in found
    assert all(isinstance(name, str) and isinstance(version, str) for name, version in found.items())


def test_modules_under_test_are_told_once_each_in_order() -> None:
    origins = module_origins(["hypothesis", "pytest", "hypothesis"])
    assert [origin["module"] for origin in origins] == ["hypothesis", "pytest"]
    assert module_origins([]) == []
