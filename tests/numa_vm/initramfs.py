"""The guests' first file system: busybox, init.sh and kernel modules in a cpio archive."""

from __future__ import annotations

import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import kernel as kernels
import packages

_INIT = Path(__file__).parent / "init.sh"


class _Entry(NamedTuple):
    path: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def build(kernel: kernels.Kernel, build_folder: Path) -> Path:
    """Write the archive for this kernel and the present init.sh; return its path.

    Raises:
        packages.UnavailableError: busybox or a module cannot be had.
    """
    busybox = _obtain_busybox(build_folder)
    target = build_folder / "initramfs.cpio"
    fresh = target.with_suffix(".new")
    fresh.write_bytes(_archive(_entries(kernel, busybox)))
    fresh.replace(target)
    return target


def _obtain_busybox(build_folder: Path) -> Path:
    target = build_folder / "busybox"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=build_folder) as scratch:
            deb = packages.download("busybox-static", Path(scratch))
            subprocess.run(["dpkg-deb", "-x", str(deb), scratch], check=True)
            # Distributions that merged /bin into /usr/bin ship it there.
            found = [path for path in Path(scratch).rglob("bin/busybox") if path.is_file()]
            if not found:
                raise packages.UnavailableError(f"{deb.name} holds no busybox")
            shutil.copy2(found[0], target)
    return target


def _entries(kernel: kernels.Kernel, busybox: Path) -> Iterator[_Entry]:
    folder, program, device = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o755, stat.S_IFCHR | 0o600
    for name in ("bin", "dev", "proc", "sys", "modules", "host"):
        yield _Entry(name, folder)
    yield _Entry("dev/console", device, device=(5, 1))
    yield _Entry("dev/null", device | 0o066, device=(1, 3))
    yield _Entry("bin/busybox", program, busybox.read_bytes())
    yield _Entry("init", program, _INIT.read_bytes())
    order = kernels.load_order(kernel)
    for name in order:
        yield _Entry(f"modules/{name}.ko", stat.S_IFREG | 0o644, (kernel.modules / f"{name}.ko").read_bytes())
    yield _Entry("modules/order", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name in order).encode())


def _archive(entries: Iterator[_Entry]) -> bytes:
    """Serialise to cpio's "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst).

    A header is the magic number and thirteen fields of eight hex digits; name and content are each
    padded to four bytes; an entry named TRAILER!!! ends the archive.
    """
    archive = bytearray()

    def pad() -> None:
        archive.extend(bytes(-len(archive) % 4))

    for inode, entry in enumerate([*entries, _Entry("TRAILER!!!", 0)], start=1):
        name = entry.path.encode() + b"\0"
        owner = group = modified = check = 0
        fields = (
            *(inode, entry.mode, owner, group, 1, modified, len(entry.content)),
            *(0, 0, *entry.device, len(name), check),
        )
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name
        pad()
        archive += entry.content
        pad()
    return bytes(archive)
