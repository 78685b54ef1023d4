"""A packed bundle is taken wherever a bundle is, and one that was tampered with nowhere."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from made_bundles import failing, one_run, passing

from envdyno.cli.main import run_command
from envdyno.record.bundle import Bundle
from envdyno.record.pack import MANIFEST, pack

VERBS: dict[str, list[str]] = {
    "show": ["show", "SOURCE"],
    "gate": ["gate", "SOURCE"],
    "compare earlier": ["compare", "SOURCE", "OTHER"],
    "compare later": ["compare", "OTHER", "SOURCE"],
    "history": ["history", "SOURCE"],
    "report --md": ["report", "SOURCE", "--md"],
    "report --html": ["report", "SOURCE", "--html", "PAGE"],
    "export": ["export", "SOURCE", "-f", "jsonl"],
    "replay": ["replay", "SOURCE", "--out", "NEW"],
}
Run = Callable[[str, Path], tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle whose gate fails."""
    return failing().write(tmp_path / "bundle").folder


@pytest.fixture
def packed(folder: Path) -> Path:
    """The same bundle, packed."""
    target = folder.with_name("packed.zip")
    pack(Bundle(folder), target)
    return target


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a verb on a source; return exit code, stdout without the source's name, and stderr."""
    passing().write(tmp_path / "other")

    def call(verb: str, source: Path) -> tuple[int, str, str]:
        places = {"SOURCE": source, "OTHER": tmp_path / "other"}
        places |= {"PAGE": tmp_path / "page.html", "NEW": tmp_path / "new"}
        code = run_command([str(places.get(part, part)) for part in VERBS[verb]])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out.replace(str(source), "SOURCE"), captured.err

    return call


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_the_same_of_a_packed_bundle_as_of_its_folder(
    verb: str, folder: Path, packed: Path, run: Run
) -> None:
    code, out, _ = run(verb, folder)
    found, packed_out, _ = run(verb, packed)
    assert found == code
    assert packed_out == out
    assert code == (1 if verb == "gate" else 2 if verb == "replay" else 0)  # a replay asks first


def changed(packed: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of a packed bundle whose files were changed."""
    target = packed.with_name("changed.zip")
    with zipfile.ZipFile(packed) as source:
        files = {entry.filename: source.read(entry) for entry in source.infolist()}
    change(files)
    with zipfile.ZipFile(target, "w") as copy:
        for name, data in files.items():
            copy.writestr(name, data)
    return target


def outside(files: dict[str, bytes]) -> None:
    files["../outside"] = b"x"


def flipped(files: dict[str, bytes]) -> None:
    files["records.jsonl"] = files["records.jsonl"].replace(b'"ok"', b'"OK"', 1)


def unnamed(files: dict[str, bytes]) -> None:
    del files[MANIFEST]


def other_kind(files: dict[str, bytes]) -> None:
    files[MANIFEST] = json.dumps({**json.loads(files[MANIFEST]), "schema": "envdyno.pack/9"}).encode()


@pytest.mark.parametrize("change", [outside, flipped, unnamed, other_kind], ids=lambda one: one.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_refuses_a_packed_bundle_that_was_tampered_with(
    verb: str, change: Callable[[dict[str, bytes]], None], packed: Path, run: Run
) -> None:
    before = {path.name for path in packed.parent.iterdir()} | {"changed.zip"}
    code, out, err = run(verb, changed(packed, change))
    # A history passes over what was only found, and says so; here it was named.
    assert code == 2
    assert not out
    assert "changed.zip" in err
    assert {path.name for path in packed.parent.iterdir()} == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_refuses_a_link_in_a_packed_bundle(verb: str, packed: Path, run: Run) -> None:
    target = packed.with_name("link.zip")
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            if entry.filename == "records.jsonl":
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
                copy.writestr(entry, "/etc/hostname")
            else:
                copy.writestr(entry, source.read(entry))
    code, _, err = run(verb, target)
    assert code == 2
    assert "no plain file" in err


@pytest.mark.parametrize("verb", ["gate", "compare earlier"])
@pytest.mark.parametrize(
    "change", [{"placement": {}}, {"placement": {"node": 0, "cpus": 7}}, {"outcome": {"cpu": 3}}]
)
def test_a_record_whose_open_parts_do_not_fit_is_judged_or_refused_in_a_sentence(
    verb: str, change: dict[str, object], tmp_path: Path, run: Run
) -> None:
    made = failing()
    workers = tuple(worker.model_copy(update=change) for worker in made.records[0].workers)
    first = made.records[0].model_copy(update={"workers": workers})
    made._replace(records=(first, *made.records[1:])).write(tmp_path / "odd")
    code, _, err = run(verb, tmp_path / "odd")
    assert code in (0, 1, 3, 4, 5) or (code == 2 and "does not fit together" in err)


@pytest.mark.parametrize("name", ["records.jsonl", "records.zip"])
def test_a_gate_wants_an_experiment(name: str, tmp_path: Path, run: Run) -> None:
    bundle = one_run().write(tmp_path / "runs")
    if name.endswith(".zip"):
        pack(bundle, bundle.folder / name)
    code, _, err = run("gate", bundle.folder / name)
    assert code == 2
    assert "experiment" in err
