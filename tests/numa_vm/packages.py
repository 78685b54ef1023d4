"""What the rig takes from Debian: QEMU is installed, the kernel and busybox are only unpacked."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

QEMU = "qemu-system-x86_64"
_QEMU_PACKAGE = "qemu-system-x86"
_LISTS = Path("/var/lib/apt/lists")


class UnavailableError(Exception):
    """The rig cannot be had on this machine; the message is one sentence that says why."""


def require_platform() -> None:
    """Refuse machines whose Python the guest could not run, for it shares the host's file system."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in {"x86_64", "AMD64"}:
        raise UnavailableError(f"the guests need Linux on x86-64, and this is {sys.platform} on {machine}")


def require_qemu() -> str:
    """Return the path of QEMU, installing its Debian package if it is missing and this user may.

    Raises:
        UnavailableError: There is no QEMU and it cannot be installed.
    """
    if found := shutil.which(QEMU):
        return found
    if not shutil.which("apt-get"):
        raise UnavailableError(f"{QEMU} is not installed, and there is no apt-get to install it with")
    if os.geteuid() != 0:
        raise UnavailableError(f"{QEMU} is not installed; run `apt-get install {_QEMU_PACKAGE}` as root")
    _refresh_lists()
    _apt("install", "-y", "--no-install-recommends", _QEMU_PACKAGE)
    if found := shutil.which(QEMU):
        return found
    raise UnavailableError(f"package {_QEMU_PACKAGE} was installed, and still there is no {QEMU}")


def dependency(package: str, pattern: str) -> str:
    """Return the first dependency of `package` that matches `pattern`: what a meta-package stands for.

    Raises:
        UnavailableError: The package lists do not have it.
    """
    _refresh_lists()
    listing = subprocess.run(["apt-cache", "depends", package], capture_output=True, text=True, check=False)
    for line in listing.stdout.splitlines():
        kind, _, name = line.strip().partition(": ")
        if kind == "Depends" and re.fullmatch(pattern, name):
            return name
    raise UnavailableError(f"apt knows no package {package} here, so there is no kernel for the guests")


def download(package: str, into: Path) -> Path:
    """Fetch one package file without installing it, which needs no root.

    Raises:
        UnavailableError: apt could not fetch it.
    """
    _refresh_lists()
    # apt would hand the download to its own user, who may not write into a folder of ours.
    _apt("-o", "APT::Sandbox::User=root", "download", package, cwd=into)
    files = sorted(into.glob(f"{package}_*.deb"))
    if not files:
        raise UnavailableError(f"apt said that it fetched {package}, but left no file")
    return files[-1]


def _refresh_lists() -> None:
    if not shutil.which("apt-get"):
        raise UnavailableError("the guests' kernel is a Debian package, and there is no apt-get here")
    if any(_LISTS.glob("*_Packages*")):
        return
    if os.geteuid() != 0:
        raise UnavailableError("apt has no package lists; run `apt-get update` as root")
    _apt("update")


def _apt(*arguments: str, cwd: Path | None = None) -> None:
    complaint = _apt_complaint(arguments, cwd)
    if complaint and os.geteuid() == 0 and not _apt_complaint(("update",), None):
        # Lists older than the mirror name files that are gone.
        complaint = _apt_complaint(arguments, cwd)
    if complaint:
        raise UnavailableError(f"`apt-get {' '.join(arguments)}` failed: {complaint}")


def _apt_complaint(arguments: Sequence[str], cwd: Path | None) -> str:
    """Run apt-get; return the last thing it complained about, or nothing if it succeeded."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-qq", *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]
