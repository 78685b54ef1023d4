"""The guests' kernel: the boot image and the few modules, out of Debian's kernel package."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import packages

# The cloud flavour of the package is smaller, but built without 9P.
_META_PACKAGE = "linux-image-amd64"
_REAL_PACKAGE = r"linux-image-\d.*-amd64"
# What init.sh mounts with, and the folders of the package that hold these modules and all they depend on.
WANTED_MODULES = ("virtio_pci", "9pnet_virtio", "9p")
_MODULE_FOLDERS = ("drivers/virtio/", "net/9p/", "fs/9p/", "fs/netfs/", "fs/fscache/")


@dataclass(frozen=True)
class Kernel:
    """A kernel that QEMU can start, and the unpacked modules that its guests may load."""

    package: str
    image: Path
    modules: Path
    """A folder of `.ko` files."""
    builtin: frozenset[str]
    """Names of the modules that are part of the image."""


def obtain(build: Path) -> Kernel:
    """Return the kernel from the build folder, fetching and unpacking the package the first time.

    Raises:
        packages.UnavailableError: The package cannot be fetched.
    """
    home = build / "kernel"
    if not (home / "manifest.json").exists():
        package = packages.dependency(_META_PACKAGE, _REAL_PACKAGE)
        with tempfile.TemporaryDirectory(dir=build) as scratch:
            deb = packages.download(package, Path(scratch))
            fresh = Path(scratch) / "kernel"
            (fresh / "modules").mkdir(parents=True)
            builtin = _unpack(deb, fresh)
            (fresh / "manifest.json").write_text(json.dumps({"package": deb.stem, "builtin": builtin}))
            shutil.rmtree(home, ignore_errors=True)
            fresh.rename(home)
    manifest = json.loads((home / "manifest.json").read_text())
    return Kernel(manifest["package"], home / "vmlinux", home / "modules", frozenset(manifest["builtin"]))


def load_order(kernel: Kernel, wanted: tuple[str, ...] = WANTED_MODULES) -> list[str]:
    """Return the modules to load, each after those that it depends on; built-in ones are left out.

    Raises:
        packages.UnavailableError: A module is in neither the image nor the package.
    """
    order: list[str] = []

    def visit(name: str) -> None:
        if name in order or name in kernel.builtin:
            return
        file = kernel.modules / f"{name}.ko"
        if not file.exists():
            raise packages.UnavailableError(f"{kernel.package} has no module {name}, which the guests need")
        for needed in _dependencies(file.read_bytes()):
            visit(needed)
        order.append(name)

    for name in wanted:
        visit(name)
    return order


def _dependencies(module: bytes) -> list[str]:
    """The names in the `depends=` entry of a module's .modinfo section."""
    entry = re.search(rb"\0depends=([^\0]*)\0", module)
    names = entry.group(1).decode() if entry else ""
    return [_canonical(name) for name in names.split(",") if name]


def _canonical(file_name: str) -> str:
    """Modules are named with underscores, whatever their file is called."""
    return file_name.partition(".ko")[0].replace("-", "_")


def _unpack(deb: Path, into: Path) -> list[str]:
    """Write vmlinux and modules from the package, reading its archive once; return the built-in names."""
    builtin: list[str] = []
    reader = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE)
    assert reader.stdout is not None
    with reader, tarfile.open(fileobj=reader.stdout, mode="r|") as archive:
        for member in archive:
            path = Path(member.name)
            if not member.isfile():
                continue
            if path.name.startswith("vmlinuz-"):
                (into / "vmlinux").write_bytes(boot_image(_content(archive, member)))
            elif path.name == "modules.builtin":
                builtin = [_canonical(Path(line).name) for line in _content(archive, member).decode().split()]
            elif any(f"/kernel/{folder}" in member.name for folder in _MODULE_FOLDERS):
                name = _canonical(path.name)
                (into / "modules" / f"{name}.ko").write_bytes(_decompressed(_content(archive, member)))
    if not (into / "vmlinux").exists():
        raise packages.UnavailableError(f"{deb.name} holds no kernel image")
    return sorted(builtin)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file: IO[bytes] | None = archive.extractfile(member)
    assert file is not None
    return file.read()


def boot_image(bz_image: bytes) -> bytes:
    """Return the ELF kernel inside a bzImage: to unpack it under emulation would take every guest seconds.

    The place of the payload is in the header of the Linux/x86 boot protocol 2.08 and later
    (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length). The last four bytes
    of the payload are the unpacked size. A payload that cannot be unpacked here is booted as it came.
    """
    setup_sectors = bz_image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", bz_image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = bz_image[start : start + length]
    (size,) = struct.unpack("<I", payload[-4:])
    try:
        elf = _decompressed(payload[:-4])
    except packages.UnavailableError:
        return bz_image
    return elf if len(elf) == size and elf.startswith(b"\x7fELF") else bz_image


def _decompressed(data: bytes) -> bytes:
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        if not shutil.which("zstd"):
            raise packages.UnavailableError("the kernel is packed with zstd; install the package zstd")
        return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data
