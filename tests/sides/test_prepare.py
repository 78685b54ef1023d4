"""Sides made ready: right code, right interpreter, nothing of the user's touched, everything on record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from envdyno.sides.cache_home import CacheHome
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.request import GitRef, SideRequest, WorkingTree

PREPARE = """
import sys
from pathlib import Path
from envdyno.sides.cache_home import CacheHome
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.request import GitRef, SideRequest

repo = Path(sys.argv[1])
request = SideRequest("a", repo, GitRef("main", repo))
with prepared_sides([request], home=CacheHome(Path(sys.argv[2]))) as (side,):
    print(side.tree, len(list((side.tree / "src" / "envs").iterdir())))
"""


def test_two_commits_run_their_own_code_from_equally_long_paths(
    repo: Any, workshop: Any, prepare: Any, cache: Path
) -> None:
    first = repo.commit({"src/envs/__init__.py": "VALUE = 1\n"})
    second = repo.commit({"src/envs/__init__.py": "VALUE = 2\n"})
    repo.write({"src/envs/__init__.py": "VALUE = 3\n"})
    status = repo.git("status", "--porcelain")
    with prepare(workshop.side("base", repo, first[:9]), workshop.side("head", repo, "main")) as (base, head):
        assert workshop.run(base, "import envs; print(envs.VALUE)") == "1"
        assert workshop.run(head, "import envs; print(envs.VALUE)") == "2"
        assert len(str(base.tree)) == len(str(head.tree))
        assert {len(str(path)) for path in base.cache_dirs.values()} == {
            len(str(path)) for path in head.cache_dirs.values()
        }
        code = base.identity.code
        assert code is not None
        assert (code.ref_asked, code.commit) == (first[:9], first)
        assert code.tree == repo.git("rev-parse", f"{first}^{{tree}}")
        assert not code.dirty
        assert head.identity.code is not None
        assert (head.identity.code.ref_resolved, head.identity.code.commit) == ("refs/heads/main", second)
        assert base.cwd == base.tree
        assert base.tree is not None
        assert base.tree.is_relative_to(cache)
    assert repo.git("status", "--porcelain") == status


def test_the_source_folder_is_found_or_taken_as_told(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"src/envs/__init__.py": "", "lib/tools.py": "", "plain.py": ""})
    with prepare(workshop.side("a", repo), workshop.side("b", repo, pythonpath=("lib", "."))) as (a, b):
        assert a.identity.pythonpath == ("src",)
        assert set(a.modules) == {"envs"}
        assert b.identity.pythonpath == ("lib", ".")
        assert {"tools", "plain"} <= set(b.modules)
    with (
        pytest.raises(SideError, match=r"Folders there: .*lib, src") as caught,
        prepare(workshop.side("c", repo, pythonpath=("source",))),
    ):
        pass
    assert caught.value.problem is SideProblem.PATH


def test_a_checkout_is_used_again_unless_it_was_changed(
    repo: Any, workshop: Any, prepare: Any, notices: Any
) -> None:
    repo.commit({"src/envs/__init__.py": "VALUE = 1\n"})
    side = workshop.side("a", repo)
    with prepare(side) as (prepared,):
        tree = prepared.tree
        workshop.run(prepared, "open('outputs.json', 'w').write('{}')")
    with prepare(side) as (prepared,):
        assert (prepared.tree / "outputs.json").exists()
    assert notices == []
    (tree / "src" / "envs" / "__init__.py").write_text("VALUE = 9\n")
    with prepare(side) as (prepared,):
        assert workshop.run(prepared, "import envs; print(envs.VALUE)") == "1"
    assert "files in it were changed" in notices.text()


def test_bytecode_goes_to_the_sides_own_cache_and_not_into_the_tree(
    repo: Any, workshop: Any, prepare: Any
) -> None:
    repo.commit({"src/envs/__init__.py": "VALUE = 1\n"})
    with prepare(workshop.side("a", repo)) as (side,):
        place = workshop.run(side, "import envs; print(envs.__cached__)")
        assert Path(place).is_relative_to(side.cache_dirs["PYTHONPYCACHEPREFIX"])
        assert Path(place).exists()
        assert not list(side.tree.rglob("__pycache__"))


def test_a_new_commit_keeps_the_bytecode_of_the_packages_and_no_kernels(
    repo: Any, workshop: Any, prepare: Any
) -> None:
    repo.commit({"a.py": "1"})
    with prepare(workshop.side("head", repo)) as (first,):
        pass
    repo.commit({"a.py": "2"})
    with prepare(workshop.side("head", repo)) as (second,):
        same = {name for name in first.cache_dirs if first.cache_dirs[name] == second.cache_dirs[name]}
        assert same == {"PYTHONPYCACHEPREFIX"}


def test_an_edited_working_tree_has_bytecode_of_its_own(repo: Any, prepare: Any) -> None:
    repo.commit({"a.py": "1"})
    side = SideRequest("x", repo.path, WorkingTree(repo.path))
    places = []
    for text in ("2", "3"):
        repo.write({"a.py": text})
        with prepare(side) as (prepared,):
            places.append(prepared.cache_dirs["PYTHONPYCACHEPREFIX"])
    assert places[0] != places[1]


def test_without_a_ref_nothing_is_asked_of_git_and_nothing_is_built(
    workshop: Any, prepare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.environment("env")
    monkeypatch.setenv("PATH", "/nonexistent")
    with prepare(SideRequest("a", tmp_path, python="env")) as (side,):
        assert side.python == tmp_path / "env" / "bin" / "python"


def test_a_home_that_is_not_there_is_no_hindrance(
    repo: Any, workshop: Any, notices: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"envs.py": ""})
    monkeypatch.setenv("HOME", "/dev/null/home")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with prepared_sides([workshop.side("a", repo)], notify=notices) as (side,):
        assert workshop.run(side, "import envs; print(envs.__name__)") == "envs"
        assert side.tree.is_relative_to(tmp_path)
    assert "ENVDYNO_CACHE_DIR" in notices.text()


def test_equal_sides_of_an_aa_have_caches_of_their_own(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"a.py": ""})
    with prepare(workshop.side("base", repo), workshop.side("again", repo)) as (base, again):
        assert base.identity.digest == again.identity.digest
        assert set(base.cache_dirs.values()).isdisjoint(again.cache_dirs.values())


def test_a_working_tree_is_taken_as_it_is_and_its_difference_is_on_record(
    repo: Any, workshop: Any, prepare: Any
) -> None:
    sha = repo.commit({"src/envs/__init__.py": "VALUE = 1\n"})
    side = SideRequest("x", repo.path, WorkingTree(repo.path))
    with prepare(side) as (clean,):
        assert clean.identity.code.dirty is False
    repo.write({"src/envs/__init__.py": "VALUE = 5\n", "src/envs/new.py": ""})
    with prepare(side) as (dirty,):
        code = dirty.identity.code
        assert workshop.run(dirty, "import envs; print(envs.VALUE)") == "5"
        assert (code.commit, code.dirty, code.label) == (sha, True, f"{sha[:8]}-dirty")
        assert code.changed_files == ("src/envs/__init__.py", "src/envs/new.py")
        assert len(code.diff_sha256) == 64
        assert dirty.tree == repo.path
        assert dirty.identity.digest != clean.identity.digest


def test_a_working_tree_without_git_has_an_unknown_commit_and_says_so(
    tmp_path: Path, prepare: Any, notices: Any
) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "envs.py").write_text("VALUE = 1\n")
    with prepare(SideRequest("x", tmp_path, WorkingTree(tmp_path / "export"))) as (side,):
        code = side.identity.code
        assert code.commit is None
        assert "not a git repository" in code.unknown
        assert code.dirty
        assert code.diff_sha256
    assert "is not known" in notices.text()


def test_variables_and_options_of_a_side_may_name_its_tree(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"assets/robot.xml": ""})
    side = workshop.side(
        "a", repo, environ={"ASSETS": "{tree}/assets"}, options={"model": "{tree}/assets/robot.xml", "n": 3}
    )
    with prepare(side) as (prepared,):
        assert prepared.environ["ASSETS"] == f"{prepared.tree}/assets"
        assert prepared.options == {"model": f"{prepared.tree}/assets/robot.xml", "n": 3}
    with (
        pytest.raises(SideError, match="has no code"),
        prepare(SideRequest("b", repo.path, environ={"ASSETS": "{tree}"})),
    ):
        pass


def test_the_callers_python_variables_do_not_lead_a_side_elsewhere(
    repo: Any, workshop: Any, prepare: Any, notices: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"src/envs/__init__.py": "VALUE = 1\n"})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "helper.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    options = SideRequest("plain", tmp_path, options={"runtime": "direct"})
    with prepare(workshop.side("a", repo, unset=("LANG",)), options) as (side, plain):
        environ = side.child_environ({**os.environ, "LANG": "C", "VIRTUAL_ENV": "/venv"})
        assert {"PYTHONPATH", "GIT_DIR", "LANG", "VIRTUAL_ENV"}.isdisjoint(environ)
        assert plain.child_environ(os.environ)["PYTHONPATH"] == str(tmp_path / "other")
        assert "GIT_DIR" not in plain.child_environ(os.environ)
    assert "PYTHONPATH is not passed to the side a" in notices.text()


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME"])
def test_a_plan_cannot_hide_what_a_side_imports(tmp_path: Path, prepare: Any, variable: str) -> None:
    with (
        pytest.raises(SideError, match=variable),
        prepare(SideRequest("a", tmp_path, environ={variable: "/somewhere"})),
    ):
        pass


def test_the_cache_may_not_lie_in_the_users_tree(repo: Any, workshop: Any, notices: Any) -> None:
    repo.commit({"a.py": ""})
    home = CacheHome(repo.path / ".cache" / "envdyno")
    with (
        pytest.raises(SideError, match="ENVDYNO_CACHE_DIR"),
        prepared_sides([workshop.side("a", repo)], home=home, notify=notices),
    ):
        pass


def test_two_processes_may_prepare_the_same_commit_at_once(repo: Any, cache: Path) -> None:
    repo.commit({f"src/envs/m{number}.py": "x" * 1000 for number in range(50)})
    command = [sys.executable, "-c", PREPARE, str(repo.path), str(cache)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(outputs) == 1
    assert outputs.pop().endswith(" 50\n")
    assert len(repo.git("worktree", "list").splitlines()) == 2


def test_parts_of_a_commit_are_on_record(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"src/envs/__init__.py": "", "assets/robot.xml": "<mujoco/>"})
    with prepare(workshop.side("a", repo, data=("assets",))) as (side,):
        assert side.identity.code.parts == {
            "envs": repo.git("rev-parse", "HEAD:src/envs"),
            "data:assets": repo.git("rev-parse", "HEAD:assets"),
        }
    with (
        pytest.raises(SideError, match="not in the commit"),
        prepare(workshop.side("a", repo, data=("absent",))),
    ):
        pass


def test_the_identity_is_plain_json_without_secrets(repo: Any, workshop: Any, prepare: Any) -> None:
    repo.commit({"a.py": ""})
    with prepare(workshop.side("a", repo, options={"n": 1})) as (side,):
        body = json.loads(json.dumps(side.identity.to_json(), allow_nan=False))
    assert body["code"]["kind"] == "git_ref"
    assert body["code"]["committed_at"].endswith("+00:00")
    assert body["interpreter"]["version"]
    assert body["options"] == {"n": 1}


def test_a_side_of_options_alone_is_the_current_interpreter(tmp_path: Path, prepare: Any) -> None:
    with prepare(SideRequest("direct", tmp_path, options={"runtime": "direct"})) as (side,):
        assert side.python == Path(sys.executable)
        assert side.sys_path == ()
        assert side.tree is None
        assert side.origins == ()


def test_a_missing_repository_is_told_before_anything_is_built(
    tmp_path: Path, prepare: Any, cache: Path
) -> None:
    side = SideRequest("a", tmp_path, GitRef("main", tmp_path / "absent"), setup=("touch ran",))
    with pytest.raises(SideError, match="does not exist"), prepare(side):
        pass
    assert not cache.exists()
