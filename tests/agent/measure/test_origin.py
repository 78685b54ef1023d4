"""Where modules came from, and whether what ran is what their files hold."""

from __future__ import annotations

import importlib
import json
import os
import py_compile
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.origin import Origin, code_hash, modules_loaded_from, origins

ASK = """
import importlib, json, sys
sys.path[:0] = sys.argv[2:]
for name in sys.argv[1].split(","):
    importlib.import_module(name)
tops = sorted({name.split(".")[0] for name in sys.argv[1].split(",")})
sys.path.insert(0, AGENT)
from envdyno.agent.measure.origin import modules_loaded_from, origins
print(json.dumps([one.to_json() for one in origins(tops)]))
"""
AGENT = str(Path(importlib.import_module("envdyno").__file__ or "").parents[1])


def ask(names: str, *folders: Path, environ: Mapping[str, str] | None = None) -> list[Origin]:
    command = [sys.executable, "-c", ASK.replace("AGENT", repr(AGENT)), names, *map(str, folders)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(environ or {})}, check=False
    )
    assert done.returncode == 0, done.stderr
    return [Origin.from_json(one) for one in json.loads(done.stdout)]


def lay(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_package_has_its_file_folder_and_hash(tmp_path: Path) -> None:
    root = lay(tmp_path.resolve(), {"pkg/__init__.py": "", "pkg/inner/a.py": "A = 1\n", "one.py": ""})
    package, module = sorted(ask("pkg,one", root), key=lambda one: one.module, reverse=True)
    assert package.file == str(root / "pkg" / "__init__.py")
    assert package.folders == (str(root / "pkg"),)
    assert package.sha256 == code_hash([str(root / "pkg")])
    assert module.file == str(root / "one.py")
    assert module.sha256 == code_hash([str(root / "one.py")])
    assert not package.namespace
    assert package.strays == package.stale == {}


def test_a_folder_without_init_is_a_namespace(tmp_path: Path) -> None:
    root = lay(tmp_path.resolve(), {"space/a.py": ""})
    (found,) = ask("space", root)
    assert found.namespace
    assert found.file is None
    assert found.folders == (str(root / "space"),)


def test_an_empty_folder_has_the_hash_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "left_over").mkdir()
    (found,) = ask("left_over", tmp_path)
    assert found.namespace
    assert found.sha256 == code_hash([])


def test_links_are_resolved(tmp_path: Path) -> None:
    root = lay(tmp_path.resolve(), {"real/pkg/__init__.py": ""})
    (root / "link").symlink_to("real")
    (found,) = ask("pkg", root / "link")
    assert found.file == str(root / "real" / "pkg" / "__init__.py")


def test_a_submodule_from_another_place_is_a_stray(tmp_path: Path) -> None:
    root = lay(
        tmp_path.resolve(),
        {
            "pkg/__init__.py": f"import sys\nsys.path.insert(0, {str(tmp_path / 'other')!r})\n"
            "import b\nsys.modules['pkg.b'] = b\n",
            "other/b.py": "",
        },
    )
    (found,) = ask("pkg", root)
    assert found.strays == {"pkg.b": str(root / "other" / "b.py")}


def test_a_module_that_was_not_imported_says_so_and_one_built_in_has_no_file() -> None:
    absent, built_in = origins(["surely_not_imported", "sys"])
    assert not absent.loaded
    assert built_in.loaded
    assert built_in.file is None
    assert built_in.sha256 is None


def test_nothing_is_imported_by_asking() -> None:
    before = set(sys.modules)
    origins(["xml.dom.expatbuilder", "antigravity"])
    assert set(sys.modules) == before


def test_names_come_once_and_in_order() -> None:
    assert [one.module for one in origins(["sys", "os", "sys"])] == ["sys", "os"]


def test_bytecode_without_a_source_is_stale(tmp_path: Path) -> None:
    root = lay(tmp_path, {"pkg/__init__.py": "", "pkg/gone.py": "X = 1\n"})
    py_compile.compile(str(root / "pkg" / "gone.py"), cfile=str(root / "pkg" / "gone.pyc"))
    (root / "pkg" / "gone.py").unlink()
    (found,) = ask("pkg,pkg.gone", root)
    assert "without a source" in found.stale["pkg.gone"]


def test_bytecode_that_is_never_checked_is_stale_when_it_differs(tmp_path: Path) -> None:
    root = lay(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": "X = 1\n", "pkg/same.py": "X = 1\n"})
    for name in ("a", "same"):
        py_compile.compile(
            str(root / "pkg" / f"{name}.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
    (root / "pkg" / "a.py").write_text("X = 2\n")
    (found,) = ask("pkg,pkg.a,pkg.same", root)
    assert set(found.stale) == {"pkg.a"}


def test_a_source_that_changed_after_its_import_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = lay(tmp_path, {"changing_module.py": "X = 1\n"})
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    importlib.import_module("changing_module")
    try:
        assert origins(["changing_module"])[0].stale == {}
        (root / "changing_module.py").write_text("X = 22\n")
        assert "changed after it was imported" in origins(["changing_module"])[0].stale["changing_module"]
    finally:
        del sys.modules["changing_module"]


def test_old_bytecode_that_was_not_used_is_not_stale(tmp_path: Path) -> None:
    root = lay(tmp_path, {"pkg/__init__.py": "X = 1\n"})
    py_compile.compile(str(root / "pkg" / "__init__.py"))
    (root / "pkg" / "__init__.py").write_text("X = 22\n")
    (found,) = ask("pkg", root, environ={"PYTHONDONTWRITEBYTECODE": "1"})
    assert found.stale == {}


def test_modules_below_a_folder_are_listed(tmp_path: Path) -> None:
    assert "envdyno.agent.measure.origin" in modules_loaded_from(AGENT)
    assert modules_loaded_from(str(tmp_path)) == []


def test_an_origin_survives_the_way_through_json() -> None:
    one = origins(["json"])[0]
    assert Origin.from_json(json.loads(json.dumps(one.to_json()))) == one


trees = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "sub/a.py", "sub/c.so", "z.pyd"]), st.binary(max_size=8), min_size=1
)


@given(first=trees, second=trees)
def test_equal_hashes_mean_equal_code(
    tmp_path_factory: Any, first: Mapping[str, bytes], second: Mapping[str, bytes]
) -> None:
    hashes = []
    for files in (first, second):
        root = tmp_path_factory.mktemp("tree")
        for name, content in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(content)
        hashes.append(code_hash([str(root)]))
    assert (hashes[0] == hashes[1]) == (first == second)


def test_what_is_no_code_does_not_count(tmp_path: Path) -> None:
    root = lay(tmp_path, {"a.py": ""})
    before = code_hash([str(root)])
    lay(root, {"a.pyc": "x", "__pycache__/a.py": "x", "data.json": "{}", "model.xml": ""})
    assert code_hash([str(root)]) == before
