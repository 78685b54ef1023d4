"""What a side ran is proven by what its processes report; each way to run other code is caught."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import envdyno
from envdyno.agent.measure.origin import Origin
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.proof import (
    OriginFaultKind,
    origin_faults,
    require_distinct,
    require_proof,
    require_unchanged,
)
from envdyno.sides.request import SideRequest, WorkingTree

PACKAGE = str(Path(envdyno.__file__).parents[1])
WORKER = f"""
import importlib, json, sys
folders, names, asked = json.loads(sys.argv[1])
sys.path[:] = folders + [entry for entry in sys.path if entry]
for name in names:
    importlib.import_module(name)
sys.path.append({PACKAGE!r})
from envdyno.agent.measure.origin import origins
print(json.dumps([one.to_json() for one in origins(asked)]))
"""


def report(side: PreparedSide, *imports: str, before: Sequence[Path] = ()) -> list[Origin]:
    """Let a process of the side import modules and report what they are."""
    asked = [*side.modules, *imports]
    job = json.dumps([[*map(str, before), *map(str, side.sys_path)], imports, list(dict.fromkeys(asked))])
    done = subprocess.run(
        [side.python, "-c", WORKER, job],
        env=side.child_environ(os.environ),
        cwd=side.cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Origin.from_json(one) for one in json.loads(done.stdout)]


def kinds(side: PreparedSide, origins: Sequence[Origin], *named: str) -> list[OriginFaultKind]:
    return [fault.kind for fault in origin_faults(side, origins, named)]


@pytest.fixture
def project(repo: Any) -> Any:
    """A repository with the package ``envs``."""
    repo.commit({"src/envs/__init__.py": "VALUE = 1\n", "src/envs/task.py": "", "src/other/__init__.py": ""})
    return repo


def test_a_side_that_ran_its_own_code_is_proven(project: Any, workshop: Any, prepare: Any) -> None:
    with prepare(workshop.side("a", project)) as (side,):
        require_proof(side, report(side, "envs", "envs.task"), ["envs"])


def test_modules_of_the_tree_that_nobody_imported_are_no_fault(
    project: Any, workshop: Any, prepare: Any
) -> None:
    with prepare(workshop.side("a", project)) as (side,):
        assert kinds(side, report(side, "envs")) == []


def test_a_side_whose_code_was_never_imported_is_a_fault(project: Any, workshop: Any, prepare: Any) -> None:
    with prepare(workshop.side("a", project, modules=("absent_module",))) as (side,):
        origins = report(side, "json")
        assert kinds(replace(side, named_modules=()), origins) == [OriginFaultKind.NOTHING_LOADED]
        assert kinds(side, [*origins, Origin("absent_module")]) == [OriginFaultKind.NOT_LOADED]
        assert kinds(side, origins, "envs") == [OriginFaultKind.NOT_LOADED]


def test_an_editable_install_that_comes_first_is_named_with_both_paths(
    project: Any, workshop: Any, prepare: Any
) -> None:
    python = workshop.environment("env")
    site = workshop.install(python, "envs-project", "1.0")
    info = {"url": f"file://{project.path}", "dir_info": {"editable": True}}
    (site / "envs_project-1.0.dist-info" / "direct_url.json").write_text(json.dumps(info))
    # As the finders of some build tools do, before the import path is looked at.
    (site / "editable.pth").write_text(f"import sys; sys.path.insert(0, {str(project.path / 'src')!r})\n")
    (site / "finder.py").write_text(
        "import importlib.util, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        root = {str(project.path / 'src' / 'envs')!r}\n"
        "        if name == 'envs':\n"
        "            return importlib.util.spec_from_file_location(\n"
        "                name, root + '/__init__.py', submodule_search_locations=[root])\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    (site / "finder.pth").write_text("import finder\n")
    with prepare(workshop.side("a", project, python=str(python))) as (side,):
        origins = report(side, "envs")
        assert kinds(side, origins) == [OriginFaultKind.ELSEWHERE]
        with pytest.raises(SideError) as caught:
            require_proof(side, origins)
    text = str(caught.value)
    assert caught.value.problem is SideProblem.ORIGIN
    assert str(side.tree / "src" / "envs" / "__init__.py") in text
    assert str(project.path / "src" / "envs" / "__init__.py") in text
    assert "envs-project is installed there as editable" in text


def test_an_editable_install_that_comes_later_does_no_harm(project: Any, workshop: Any, prepare: Any) -> None:
    python = workshop.environment("env")
    site = workshop.install(python, "something", "1.0")
    (site / "editable.pth").write_text(f"{project.path / 'src'}\n")
    with prepare(workshop.side("a", project, python=str(python))) as (side,):
        assert kinds(side, report(side, "envs")) == []


def test_in_two_environments_a_module_from_a_pth_folder_is_a_fault(
    project: Any, workshop: Any, prepare: Any, tmp_path: Path
) -> None:
    python = workshop.environment("env")
    site = workshop.install(python, "engine", "1.0")
    (site / "dev.pth").write_text(f"{project.path / 'src'}\n")
    with prepare(SideRequest("a", tmp_path, python="env")) as (side,):
        origins = report(side, "engine", "envs")
        faults = origin_faults(side, origins, ["engine", "envs"])
        assert [(fault.kind, fault.module) for fault in faults] == [(OriginFaultKind.ELSEWHERE, "envs")]
        assert ".pth" in faults[0].sentence
    allowed = SideRequest("a", tmp_path, python="env", origins=(project.path.resolve(),))
    with prepare(allowed) as (side,):
        assert kinds(side, report(side, "engine", "envs")) == []


def test_a_module_of_the_working_directory_is_a_fault(
    project: Any, workshop: Any, prepare: Any, tmp_path: Path
) -> None:
    (tmp_path / "here" / "envs").mkdir(parents=True)
    (tmp_path / "here" / "envs" / "__init__.py").write_text("")
    with prepare(workshop.side("a", project, cwd=str(tmp_path / "here"))) as (side,):
        faults = origin_faults(side, report(side, "envs", before=[tmp_path / "here"]))
    assert [fault.kind for fault in faults] == [OriginFaultKind.ELSEWHERE]
    assert "working directory" in faults[0].sentence


def test_a_copy_inside_the_same_tree_is_a_fault(project: Any, workshop: Any, prepare: Any) -> None:
    project.commit({"build/lib/envs/__init__.py": "VALUE = 0\n"})
    with prepare(workshop.side("a", project)) as (side,):
        origins = report(side, "envs", before=[side.tree / "build" / "lib"])
        assert kinds(side, origins) == [OriginFaultKind.ELSEWHERE]


def test_an_empty_folder_in_the_place_of_a_package_is_a_fault(
    workshop: Any, prepare: Any, tmp_path: Path
) -> None:
    workshop.environment("env")
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "envs").mkdir()
    with prepare(SideRequest("a", tmp_path, python="env", pythonpath=("left",))) as (side,):
        faults = origin_faults(side, report(side, "envs"), ["envs"])
    assert [fault.kind for fault in faults] == [OriginFaultKind.NAMESPACE]
    assert "no __init__.py" in faults[0].sentence
    assert str(tmp_path / "left" / "envs") in faults[0].sentence


def test_a_folder_that_hides_a_package_of_the_tree_is_a_fault(
    project: Any, workshop: Any, prepare: Any, tmp_path: Path
) -> None:
    with prepare(workshop.side("a", project)) as (side,):
        origins = report(side, "envs")
        hidden = [replace(one, file=None, namespace=True) if one.module == "envs" else one for one in origins]
        assert kinds(side, hidden) == [OriginFaultKind.NAMESPACE]


def test_a_namespace_package_of_the_tree_is_fine(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"src/space/inner.py": "VALUE = 1\n"})
    with prepare(workshop.side("a", repo)) as (side,):
        assert kinds(side, report(side, "space.inner")) == []


def test_bytecode_that_is_not_of_its_source_is_a_fault(project: Any, workshop: Any, prepare: Any) -> None:
    project.commit(
        {"src/envs/old.pyc": b"", "src/envs/__init__.py": "import importlib.util, os, py_compile\n"}
    )
    with prepare(workshop.side("a", project)) as (side,):
        place = side.tree / "src" / "envs" / "old"
        place.with_suffix(".py").write_text("")
        subprocess.run(
            [
                side.python,
                "-c",
                f"import py_compile as p; p.compile({str(place)!r} + '.py', {str(place)!r} + '.pyc')",
            ],
            check=True,
        )
        place.with_suffix(".py").unlink()
        assert set(kinds(side, report(side, "envs", "envs.old"))) == {OriginFaultKind.STALE}


def test_files_that_changed_since_they_were_loaded_are_a_fault(repo: Any, prepare: Any) -> None:
    repo.commit({"src/envs/__init__.py": "VALUE = 1\n"})
    with prepare(SideRequest("x", repo.path, WorkingTree(repo.path))) as (side,):
        origins = report(side, "envs")
        require_unchanged(side)
        repo.write({"src/envs/__init__.py": "VALUE = 22\n"})
        assert kinds(side, origins) == [OriginFaultKind.CHANGED]
        with pytest.raises(SideError, match="were changed since") as caught:
            require_unchanged(side)
    assert caught.value.problem is SideProblem.CHANGED


def test_a_checkout_of_another_commit_during_the_experiment_is_a_fault(repo: Any, prepare: Any) -> None:
    repo.commit({"envs.py": "1"})
    with prepare(SideRequest("x", repo.path, WorkingTree(repo.path))) as (side,):
        repo.commit({"envs.py": "2"})
        with pytest.raises(SideError, match="stands at"):
            require_unchanged(side)


def test_what_a_run_leaves_behind_is_no_change(project: Any, workshop: Any, prepare: Any) -> None:
    with prepare(workshop.side("a", project)) as (side,):
        (side.tree / "outputs.json").write_text("{}")
        require_unchanged(side)
        (side.tree / "src" / "envs" / "shadow.py").write_text("")
        with pytest.raises(SideError, match=r"shadow\.py"):
            require_unchanged(side)


def test_commits_whose_loaded_code_is_equal_stop(project: Any, workshop: Any, prepare: Any) -> None:
    old = project.git("rev-parse", "HEAD")
    project.commit({"src/other/__init__.py": "CHANGED = 1\n"})
    sides = (workshop.side("base", project, old), workshop.side("head", project))
    with prepare(*sides) as (base, head):
        with pytest.raises(SideError, match="loaded the same code: envs") as caught:
            require_distinct(base, report(base, "envs"), head, report(head, "envs"))
        assert caught.value.problem is SideProblem.SAME_CODE
        require_distinct(base, report(base, "envs", "other"), head, report(head, "envs", "other"))


def test_equal_code_is_fine_where_options_or_data_differ(repo: Any, workshop: Any, prepare: Any) -> None:
    old = repo.commit({"src/envs/__init__.py": "", "assets/a.xml": "1"})
    repo.commit({"assets/a.xml": "2"})
    data = {"data": ("assets",)}
    with prepare(workshop.side("a", repo, old, **data), workshop.side("b", repo, **data)) as (a, b):
        require_distinct(a, report(a, "envs"), b, report(b, "envs"))
    with prepare(workshop.side("a", repo, old), workshop.side("b", repo, options={"x": 1})) as (a, b):
        require_distinct(a, report(a, "envs"), b, report(b, "envs"))


def test_a_side_of_options_alone_may_load_from_anywhere(project: Any, prepare: Any, tmp_path: Path) -> None:
    with prepare(SideRequest("direct", tmp_path, options={"runtime": "direct"})) as (side,):
        origins = report(side, "envs", before=[project.path / "src"])
        assert kinds(side, origins, "envs") == []
