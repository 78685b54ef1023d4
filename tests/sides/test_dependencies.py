"""A missing or older dependency is named, with who asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from envdyno.sides.dependencies import Lack, dependency_faults
from envdyno.sides.packages import PackageSet, package_set

MARKERS = {"python_version": "3.11", "python_full_version": "3.11.7", "sys_platform": "linux", "extra": ""}


def packages(versions: Mapping[str, str], requires: Mapping[str, Sequence[str]] | None = None) -> PackageSet:
    wanted = requires or {}
    items = [
        {
            "name": name,
            "version": version,
            "requires": wanted.get(name, []),
            "location": "/site",
            "direct_url": None,
        }
        for name, version in versions.items()
    ]
    return package_set(items, MARKERS)


def project(tree: Path, *dependencies: str, python: str = ">=3.10") -> Path:
    listed = ", ".join(f'"{one}"' for one in dependencies)
    (tree / "pyproject.toml").write_text(
        f'[project]\nname = "envs"\nrequires-python = "{python}"\ndependencies = [{listed}]\n'
    )
    return tree


@pytest.mark.parametrize(
    ("requirement", "installed", "lack"),
    [
        ("runtime>=0.4", {"runtime": "0.3.1"}, Lack.OLDER),
        ("runtime==0.4.*", {"runtime": "0.3.1"}, Lack.OLDER),
        ("runtime~=0.4.0", {"runtime": "0.3.1"}, Lack.OLDER),
        ("runtime", {}, Lack.MISSING),
        ("runtime<0.4", {"runtime": "0.5"}, Lack.EXCLUDED),
        ("runtime!=0.5", {"runtime": "0.5"}, Lack.EXCLUDED),
        ("runtime>=0.4", {"runtime": "0.4"}, None),
        ("runtime>=0.4", {"runtime": "0.5.dev1"}, None),
        ("runtime>=0.4; sys_platform == 'win32'", {}, None),
        ("runtime>=0.4; python_version >= '3.11'", {"runtime": "0.3"}, Lack.OLDER),
        ("Run_Time", {"run-time": "1"}, None),
        ("runtime>=0.4", {"runtime": "not a version"}, None),
    ],
)
def test_requirements_of_the_tree_are_held_against_what_is_installed(
    tmp_path: Path, requirement: str, installed: dict[str, str], lack: Lack | None
) -> None:
    faults = dependency_faults(packages(installed), project(tmp_path, requirement), "3.11.7").of_the_code
    assert [fault.lack for fault in faults] == ([] if lack is None else [lack])


def test_the_sentence_says_what_is_there_who_asks_and_for_what(tmp_path: Path) -> None:
    tree = project(tmp_path, "mujoco-uni-runtime>=0.4")
    fault = dependency_faults(packages({"mujoco-uni-runtime": "0.3.1"}), tree, "3.11.7").of_the_code[0]
    assert str(fault) == (
        "mujoco-uni-runtime 0.3.1 is installed, envs (pyproject.toml of the side) asks for >=0.4"
    )


def test_an_interpreter_that_the_tree_rules_out_is_named(tmp_path: Path) -> None:
    faults = dependency_faults(packages({}), project(tmp_path, python=">=3.12"), "3.11.7").of_the_code
    assert faults[0].lack is Lack.PYTHON


def test_requirements_of_other_packages_are_told_apart_from_the_sides_own() -> None:
    found = packages(
        {"unilab": "1.3", "other": "1", "torch": "2.13"},
        {"unilab": ["torch<2.12"], "other": ["torch<2.12", "absent"]},
    )
    faults = dependency_faults(found, None, "3.11.7", declared=["unilab"])
    assert [fault.required_by for fault in faults.of_the_code] == ["unilab 1.3"]
    assert [fault.lack for fault in faults.of_others] == [Lack.EXCLUDED, Lack.MISSING]


def test_requirements_of_extras_count_where_the_extra_is_asked_for(tmp_path: Path) -> None:
    found = packages({"engine": "1"}, {"engine": ["gpu-part>=2; extra == 'gpu'"]})
    assert dependency_faults(found, project(tmp_path, "engine"), "3.11.7").of_the_code == ()
    faults = dependency_faults(found, project(tmp_path, "engine[gpu]"), "3.11.7").of_the_code
    assert [(fault.name, fault.lack) for fault in faults] == [("gpu-part", Lack.MISSING)]


def test_extras_that_ask_for_themselves_come_to_an_end(tmp_path: Path) -> None:
    found = packages({"engine": "1"}, {"engine": ["engine[all]; extra == 'all'"]})
    assert dependency_faults(found, project(tmp_path, "engine[all]"), "3.11.7").of_the_code == ()


def test_a_lock_file_is_compared_and_told(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text(
        'version = 1\n[[package]]\nname = "runtime"\nversion = "0.4.0"\nsource = '
        '{ registry = "https://pypi.org/simple" }\n[[package]]\nname = "envs"\nversion = "1"\nsource = '
        '{ editable = "." }\n'
    )
    faults = dependency_faults(packages({"runtime": "0.3.1", "envs": "2"}), tmp_path, "3.11.7")
    assert faults.of_the_code == ()
    assert [str(fault) for fault in faults.of_others] == [
        "runtime 0.3.1 is installed, uv.lock of the side has 0.4.0"
    ]


def test_metadata_that_no_tool_can_read_is_passed_over(tmp_path: Path) -> None:
    found = packages({"old": "1"}, {"old": ["this is (not a requirement"]})
    assert dependency_faults(found, None, "3.11.7").of_others == ()
    (tmp_path / "pyproject.toml").write_text("not toml at all [")
    assert dependency_faults(found, tmp_path, "3.11.7").of_the_code == ()


def test_setup_cfg_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[metadata]\nname = envs\n[options]\ninstall_requires =\n    runtime>=2\n"
    )
    faults = dependency_faults(packages({"runtime": "1"}), tmp_path, "3.11.7").of_the_code
    assert [fault.lack for fault in faults] == [Lack.OLDER]


def test_dependencies_that_only_a_build_would_tell_are_unknown_not_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "envs"\ndynamic = ["dependencies"]\n')
    assert dependency_faults(packages({}), tmp_path, "3.11.7").of_the_code == ()
