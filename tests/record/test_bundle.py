"""A bundle is data: made or refused at once, written whole, read without following a path out of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bundles import GO2, experiment

from envdyno.record.bundle import Bundle, BundleError
from envdyno.record.journal import JournalError

MADE = experiment({GO2: ((100.0, 101.0, 102.0), (90.0, 91.0, 92.0))}, slower_ms=1.0)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    bundle = MADE.write(tmp_path / "out")
    again = Bundle(tmp_path / "out")
    assert again.has_experiment()
    assert again.has_records()
    assert again.experiment() == MADE.head
    assert tuple(again.records()) == MADE.records
    assert sorted(path.name for path in bundle.folder.iterdir()) == [
        "experiment.json",
        "records.jsonl",
        "runs",
    ]


def test_a_new_bundle_has_neither_an_experiment_nor_records(tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path / "a" / "b")
    assert not bundle.has_experiment()
    assert not bundle.has_records()
    bundle.journal().close()
    assert not bundle.has_records()


def test_a_bundle_in_a_checkout_is_nothing_to_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    MADE.write(tmp_path / "out").hide_from_git()
    done = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain"], capture_output=True, check=True
    )
    assert done.stdout == b""


def test_an_existing_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("kept")
    Bundle.create(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "kept"


def test_a_folder_below_a_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BundleError, match=r"cannot be written: Not a directory\. Choose another --out\."):
        Bundle.create(tmp_path / "file" / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "out" / "runs").mkdir(parents=True)
    (tmp_path / "out" / "runs").chmod(0o500)
    with pytest.raises(BundleError, match="Permission denied"):
        Bundle.create(tmp_path / "out")


def test_a_head_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = MADE.write(tmp_path / "out")
    before = (bundle.folder / "experiment.json").read_bytes()

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert MADE.head is not None
    changed = MADE.head.model_copy(update={"experiment_id": "0" * 32})
    with pytest.raises(JournalError, match="No space left on device"):
        bundle.write_experiment(changed)
    assert (bundle.folder / "experiment.json").read_bytes() == before


def test_a_folder_without_an_experiment_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="Name the folder that `envdyno ab` wrote to"):
        Bundle(tmp_path).experiment()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "This is not JSON"),
        ("{", "This is not JSON"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1, "a": 2}', "names the key 'a' twice"),
        ('{"a": 1}', "experiment_id: Field required"),
        ("[" * 100_000, "This is not JSON"),
        ("9" * 10_000, "is no experiment"),
    ],
)
def test_what_is_no_experiment_is_refused_with_the_first_fault(
    text: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(BundleError, match="is no experiment") as refused:
        Bundle(tmp_path).experiment()
    assert sentence in str(refused.value)


def test_a_head_of_a_later_schema_or_with_unknown_fields_is_refused(tmp_path: Path) -> None:
    bundle = MADE.write(tmp_path / "out")
    path = bundle.folder / "experiment.json"
    body = json.loads(path.read_text())
    for change in ({"schema": "envdyno.experiment/2"}, {"run_on_reading": "rm -rf"}):
        path.write_text(json.dumps({**body, **change}))
        with pytest.raises(BundleError):
            bundle.experiment()


def test_a_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(BundleError, match="is no experiment"):
        Bundle(tmp_path).experiment()


def test_a_path_inside_the_bundle_is_followed(tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path / "out")
    assert bundle.path_of("runs/x/worker-0.npy") == (tmp_path / "out/runs/x/worker-0.npy").resolve()
    assert bundle.path_of("runs/../experiment.json") == (tmp_path / "out/experiment.json").resolve()


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret", "runs/../../secret", "runs/x/../../../secret", "nul\0byte", "loop/x"]
)
def test_a_path_that_leads_out_of_the_bundle_is_not_followed(name: str, tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path / "out")
    (bundle.folder / "loop").symlink_to("loop")
    with pytest.raises(BundleError):
        bundle.path_of(name)


def test_a_link_that_leads_out_of_the_bundle_is_not_followed(tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path / "out")
    (bundle.folder / "runs" / "link").symlink_to(tmp_path)
    with pytest.raises(BundleError, match="names a file outside itself"):
        bundle.path_of("runs/link/secret")


@given(st.text(st.sampled_from("ab./\\ \0é"), max_size=12))
def test_whatever_a_record_names_is_inside_the_bundle_or_refused(name: str) -> None:
    bundle = Bundle(Path("/nonexistent/bundle"))
    try:
        found = bundle.path_of(name)
    except BundleError:
        return
    assert found.is_relative_to("/nonexistent/bundle")
