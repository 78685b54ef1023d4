"""A bundle as one file: a zip archive with a manifest of SHA-256 hashes, and its safe extraction.

A packed bundle comes from somebody else. Opening one writes only plain files that its manifest names, inside
one new folder, and stops at limits of number and size that are counted while reading, not believed.
"""

from __future__ import annotations

import hashlib
import json
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from envdyno.record.bundle import EXPERIMENT, RECORDS, Bundle, BundleError
from envdyno.record.redaction import Redaction
from envdyno.record.strict_json import NotStrictJson, loads

MANIFEST = "manifest.json"
PACK_SCHEMA = "envdyno.pack/1"
MAX_FILES = 100_000
MAX_BYTES = 4 << 30
"""Of all files together, unpacked."""
MAX_MANIFEST_BYTES = 64 << 20
CHUNK = 1 << 20
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip archive can hold: equal bundles make equal archives."""


def is_pack(path: Path) -> bool:
    """Return whether a file is a zip archive."""
    return path.is_file() and zipfile.is_zipfile(path)


def pack(bundle: Bundle, target: Path, redaction: Redaction | None = None) -> int:
    """Write a bundle to one file; return the number of files in it.

    Links and special files are left out: they would mean something else on another machine.

    Args:
        bundle: what to pack.
        target: the file, replaced whole or not at all.
        redaction: names that are replaced in records and logs.

    Raises:
        BundleError: it is no bundle, is too large to be opened again, or the file cannot be written.
    """
    if not (bundle.has_experiment() or bundle.has_records()):
        raise BundleError(f"{bundle.folder} is no bundle: it holds neither an experiment nor records.")
    partial = target.with_name(f"{target.name}.partial")
    try:
        files = list(_files(bundle.folder, (target, partial)))
        _refuse_excess(str(bundle.folder), len(files), sum(path.stat().st_size for path in files))
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            _write(archive, bundle.folder, files, redaction)
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BundleError(f"{target} cannot be written: {error.strerror}. Choose another --out.") from error
    return len(files)


def _files(folder: Path, left_out: tuple[Path, ...]) -> Iterator[Path]:
    skipped = {path.resolve() for path in left_out}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode) and path.resolve() not in skipped and path.name != MANIFEST:
            yield path


def _write(archive: zipfile.ZipFile, folder: Path, files: list[Path], redaction: Redaction | None) -> None:
    hashes: dict[str, dict[str, Any]] = {}
    for path in files:
        name = path.relative_to(folder).as_posix()
        data = path.read_bytes() if redaction is None else redaction.of_file(name, path.read_bytes())
        archive.writestr(_entry(name), data)
        hashes[name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    manifest = {"schema": PACK_SCHEMA, "redacted": redaction is not None, "files": hashes}
    archive.writestr(_entry(MANIFEST), json.dumps(manifest, indent=1) + "\n")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


@contextmanager
def bundle_at(path: Path) -> Iterator[Bundle | None]:
    """Yield the bundle at a path, be it a folder or packed; ``None`` for any other file.

    A packed bundle is unpacked for as long as it is looked at.

    Raises:
        BundleError: there is nothing, or a packed bundle that :func:`unpack` refuses.
    """
    if is_pack(path):
        with unpacked(path) as folder:
            yield Bundle(folder)
    elif path.is_dir():
        yield Bundle(path)
    elif path.exists():
        yield None
    else:
        raise BundleError(
            f"There is no {path}. Name the folder that `envdyno ab` or `envdyno run --out` wrote, "
            "a packed bundle, or a file of records."
        )


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Unpack into a temporary folder, which goes again afterwards.

    Raises:
        BundleError: see :func:`unpack`.
    """
    with tempfile.TemporaryDirectory(prefix="envdyno-pack-") as folder:
        unpack(path, Path(folder))
        yield Path(folder)


def unpack(path: Path, folder: Path) -> None:
    """Unpack a packed bundle into an empty folder.

    Raises:
        BundleError: it is no packed bundle, was changed, names a file outside itself, or is too large.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            hashes = _manifest(archive, path)
            entries = [entry for entry in archive.infolist() if entry.filename != MANIFEST]
            _check(entries, hashes, path)
            left = MAX_BYTES
            for entry in entries:
                left -= _extract(archive, entry, hashes[entry.filename], folder, path, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise BundleError(f"{path} is no packed bundle: {error}.") from error
    except OSError as error:
        raise BundleError(f"{path} cannot be unpacked: {error.strerror or error}.") from error
    if not ((folder / EXPERIMENT).exists() or (folder / RECORDS).exists()):
        raise BundleError(f"{path} is no packed bundle: it holds neither an experiment nor records.")


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    """Return the hash of every file by name."""
    try:
        with archive.open(MANIFEST) as file:
            body = loads(file.read(MAX_MANIFEST_BYTES).decode("utf-8"))
        if body["schema"] != PACK_SCHEMA:
            raise BundleError(f"{path} is packed as {body['schema']}; this envdyno reads {PACK_SCHEMA}.")
        return {str(name): str(facts["sha256"]) for name, facts in body["files"].items()}
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, NotStrictJson) as error:
        raise BundleError(f"{path} is no packed bundle: its {MANIFEST} cannot be read.") from error


def _check(entries: list[zipfile.ZipInfo], hashes: dict[str, str], path: Path) -> None:
    """Refuse an archive before anything of it is written."""
    names = [entry.filename for entry in entries]
    if len(names) != len(set(names)) or set(names) != set(hashes):
        raise BundleError(f"{path} does not hold exactly the files that its {MANIFEST} names.")
    _refuse_excess(str(path), len(entries), sum(entry.file_size for entry in entries))
    for entry in entries:
        pure = PurePosixPath(entry.filename)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        is_plain = not entry.is_dir() and kind in (0, stat.S_IFREG)
        # A name that is not its own normal form holds "..", an empty part, a backslash or a drive.
        is_inside = str(pure) == entry.filename and not pure.is_absolute() and ".." not in pure.parts
        if not is_plain or not is_inside or "\\" in entry.filename or "\0" in entry.filename:
            raise BundleError(f"{path} holds {entry.filename!r}, which is no plain file inside a bundle.")


def _refuse_excess(name: str, files: int, size: int) -> None:
    if files > MAX_FILES or size > MAX_BYTES:
        raise BundleError(
            f"{name} holds {files:,} files of {size / (1 << 30):.1f} GiB; a packed bundle may hold "
            f"{MAX_FILES:,} files of {MAX_BYTES / (1 << 30):.0f} GiB together."
        )


def _extract(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, wanted: str, folder: Path, path: Path, left: int
) -> int:
    """Write one file; return its size. Sizes in an archive may lie, so that bytes are counted."""
    target = folder / entry.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with archive.open(entry) as source, target.open("xb") as file:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > left:
                raise BundleError(f"{path} is larger than it says, and is not unpacked further.")
            digest.update(chunk)
            file.write(chunk)
    if digest.hexdigest() != wanted:
        raise BundleError(f"{entry.filename} in {path} is not what was packed: its hash differs.")
    return size
