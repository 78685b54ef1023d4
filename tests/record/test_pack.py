"""Packing a bundle, giving it away, and opening what somebody else packed."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import failing

from envdyno.cli.main import run_command
from envdyno.record import pack as packing
from envdyno.record.bundle import Bundle, BundleError
from envdyno.record.pack import MANIFEST, is_pack, pack, unpack, unpacked
from envdyno.record.redaction import Redaction, hosts_of


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A packed bundle."""
    bundle = failing().write(tmp_path / "bundle", raw=True)
    (bundle.folder / "runs" / "worker.log").write_text("on lab-03: /home/alice/x\n")
    pack(bundle, tmp_path / "packed.zip")
    return tmp_path / "packed.zip"


def forged(path: Path, target: Path, name: str, data: bytes = b"x", mode: int = stat.S_IFREG | 0o644) -> Path:
    """A copy of a packed bundle with one more entry, which its manifest names with the right hash."""
    import hashlib

    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        manifest = json.loads(source.read(MANIFEST))
        for entry in source.infolist():
            if entry.filename != MANIFEST:
                copy.writestr(entry, source.read(entry))
        info = zipfile.ZipInfo(name)
        info.filename = name
        info.external_attr = mode << 16
        copy.writestr(info, data)
        manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        copy.writestr(MANIFEST, json.dumps(manifest))
    return target


def test_what_is_packed_comes_out_the_same(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    with unpacked(packed) as opened:
        names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        assert names == {path.relative_to(opened) for path in opened.rglob("*") if path.is_file()}
        assert all((folder / name).read_bytes() == (opened / name).read_bytes() for name in names)
    assert not opened.exists()


def test_equal_bundles_make_equal_archives(packed: Path, tmp_path: Path) -> None:
    pack(Bundle(tmp_path / "bundle"), tmp_path / "again.zip")
    assert packed.read_bytes() == (tmp_path / "again.zip").read_bytes()


@pytest.mark.parametrize(
    "name", ["../out", "/etc/x", "runs/../../out", "a\\..\\b", "C:/x", "./x", "runs//x", "runs/"]
)
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(
    name: str, packed: Path, tmp_path: Path
) -> None:
    bad = forged(packed, tmp_path / "bad.zip", name)
    target = tmp_path / "target"
    target.mkdir()
    if name == "C:/x":  # an ordinary folder here, and nothing else
        unpack(bad, target)
        assert (target / "C:" / "x").is_file()
        return
    with pytest.raises(BundleError, match="no plain file inside"):
        unpack(bad, target)
    assert list(target.iterdir()) == []


def test_a_link_is_refused(packed: Path, tmp_path: Path) -> None:
    bad = forged(packed, tmp_path / "bad.zip", "link", b"/etc/passwd", stat.S_IFLNK | 0o777)
    with pytest.raises(BundleError, match="no plain file"), unpacked(bad):
        pass


def test_a_changed_byte_is_found(packed: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(changed, "w") as copy:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename == "records.jsonl":
                data = data.replace(b"312512", b"312513")
            copy.writestr(entry, data)
    with pytest.raises(BundleError, match=r"records\.jsonl in .* is not what was packed"), unpacked(changed):
        pass


def test_a_file_that_the_manifest_does_not_name_is_refused(packed: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra.zip"
    extra.write_bytes(packed.read_bytes())
    with zipfile.ZipFile(extra, "a") as archive:
        archive.writestr("more", "x")
    with pytest.raises(BundleError, match="exactly the files"), unpacked(extra):
        pass


def test_an_archive_larger_than_allowed_stops(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = forged(packed, tmp_path / "bomb.zip", "zeros", b"\0" * 3_000_000)
    monkeypatch.setattr(packing, "MAX_BYTES", 1_000_000)
    with pytest.raises(BundleError, match="may hold"), unpacked(bomb):
        pass


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_any_bytes_are_opened_or_refused_in_a_sentence(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zip"
        path.write_bytes(b"PK\x03\x04" + data)
        target = Path(folder) / "target"
        target.mkdir()
        with pytest.raises(BundleError, match="no packed bundle"):
            unpack(path, target)


def test_links_of_a_bundle_are_not_packed(tmp_path: Path) -> None:
    bundle = failing().write(tmp_path / "bundle")
    (bundle.folder / "runs" / "secret").symlink_to("/etc/passwd")
    pack(bundle, tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert "runs/secret" not in archive.namelist()


def test_redaction_hides_the_host_and_the_home_folder_everywhere(tmp_path: Path) -> None:
    bundle = failing().write(tmp_path / "bundle")
    (bundle.folder / "runs" / "worker.log").write_text("on lab-03: /home/alice/x\n")
    pack(bundle, tmp_path / "x.zip", Redaction(hosts_of(bundle.records())))
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"lab-03" not in text
    assert b"alice" not in text
    with unpacked(tmp_path / "x.zip") as folder:
        opened = Bundle(folder)
        assert [one.throughput for one in opened.records()] == [one.throughput for one in bundle.records()]
        assert opened.experiment().cases == bundle.experiment().cases
        assert len(hosts_of(opened.records())) == 1


def test_a_host_named_like_a_workload_renames_no_workload() -> None:
    redaction = Redaction(["mujoco"])
    line = b'{"case":{"workload":"g1/mujoco"},"failure":{"message":"mujoco: lost"},"host":"mujoco"}'
    found = json.loads(redaction.of_file("records.jsonl", line))
    assert found["case"]["workload"] == "g1/mujoco"
    assert found["failure"]["message"].startswith("redacted-")
    assert found["host"].startswith("redacted-")


def test_the_verb_packs_and_opens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing().write(tmp_path / "bundle")
    assert run_command(["pack", str(tmp_path / "bundle"), "--redact"]) == 0
    packed = tmp_path / "bundle.zip"
    assert is_pack(packed)
    assert run_command(["show", str(packed)]) == 0
    assert "FAIL" in capsys.readouterr().out
    assert run_command(["pack", str(packed), "--open", "--out", str(tmp_path / "opened")]) == 0
    assert (tmp_path / "opened" / "experiment.json").is_file()
    assert run_command(["pack", str(packed), "--open", "--out", str(tmp_path / "opened")]) == 2
    assert "holds something already" in capsys.readouterr().err
