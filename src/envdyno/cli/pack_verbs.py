"""What ``envdyno pack`` does."""

from __future__ import annotations

import shutil
from pathlib import Path

from envdyno.cli.console import stdout_line
from envdyno.cli.exit_code import ExitCode
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import Bundle
from envdyno.record.counted import counted
from envdyno.record.pack import is_pack, pack, unpack
from envdyno.record.redaction import Redaction, hosts_of


def pack_bundle(source: Path, out: Path | None, *, redact: bool) -> int:
    """Pack; return the exit code.

    Raises:
        UsageError: the source is no folder, or the file is there already.
    """
    if not source.is_dir():
        raise UsageError(f"{source} is no folder of a bundle. Use --open to open a packed one.")
    target = out or source.resolve().with_name(f"{source.resolve().name}.zip")
    if target.exists():
        raise UsageError(f"{target} is there already. Choose another --out, or move it away.")
    bundle = Bundle(source)
    redaction = Redaction(hosts_of(bundle.records() if bundle.has_records() else ())) if redact else None
    count = pack(bundle, target, redaction)
    size = target.stat().st_size
    stdout_line(
        f"{target}: {counted(count, 'file')}, {size / (1 << 20):.1f} MiB" + (", redacted" if redact else "")
    )
    return ExitCode.DONE


def open_pack(source: Path, out: Path | None) -> int:
    """Unpack; return the exit code. A folder that could not be filled goes again.

    Raises:
        UsageError: the source is no packed bundle, or the folder holds something.
    """
    if not is_pack(source):
        raise UsageError(f"{source} is no packed bundle.")
    folder = out or source.with_suffix("")
    if folder == source or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(f"{folder} holds something already. Choose another --out.")
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    try:
        unpack(source, folder)
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    stdout_line(f"{folder}: opened; every hash is right")
    return ExitCode.DONE
