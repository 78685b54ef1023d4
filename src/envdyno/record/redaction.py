"""Names that say whose machine it was, replaced before a bundle is given away: host names and home folders.

A name is replaced by the start of its hash, so that two runs of one host still show as one. Only text that
may hold such a name is looked at: a host called ``mujoco`` renames no workload.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from envdyno.record.bundle import EXPERIMENT, RECORDS
from envdyno.record.run_record import RunRecord
from envdyno.record.strict_json import loads

FREE_TEXT = frozenset(
    {
        "message",
        "remedy",
        "traceback",
        "log_tail",
        "command",
        "command_line",
        "directory",
        "working_directory",
        "executable",
        "notices",
        "path",
        "repository",
        "worktree",
        "python",
        "pythonpath",
        "cannot_run",
        "misaligned",
        "limits_raw",
    }
)
"""Fields whose text is searched. All others are names and figures that the judge compares."""
_HOME = re.compile(r"(/home/|/Users/)([^/\s\"':]+)")


class Redaction:
    """Replaces host names and the names of home folders."""

    def __init__(self, hosts: Iterable[str]) -> None:
        """Replace ``hosts``, as fingerprints have them."""
        self._hosts = {host: alias(host) for host in hosts if host}
        longest_first = sorted(self._hosts, key=len, reverse=True)
        self._pattern = (
            re.compile("|".join(rf"(?<![\w-]){re.escape(host)}(?![\w-])" for host in longest_first))
            if longest_first
            else None
        )

    def of_file(self, name: str, data: bytes) -> bytes:
        """Return the content of a file of a bundle with the names replaced; raw samples stay as they are."""
        if name == EXPERIMENT:
            return _dump(self._of_value(loads(data.decode("utf-8")))) + b"\n"
        if name == RECORDS:
            lines = [line for line in data.split(b"\n") if line.strip()]
            return b"".join(_dump(self._of_value(loads(line.decode("utf-8")))) + b"\n" for line in lines)
        if name.endswith(".log"):
            return self.of_text(data.decode("utf-8", "replace")).encode()
        return data

    def of_text(self, text: str) -> str:
        """Return free text with the names replaced."""
        if self._pattern is not None:
            text = self._pattern.sub(lambda match: self._hosts[match.group()], text)
        return _HOME.sub(lambda match: f"{match.group(1)}{alias(match.group(2))}", text)

    def _of_value(self, value: Any, *, free: bool = False, key: str = "") -> Any:
        if isinstance(value, dict):
            return {
                name: self._of_value(one, free=free or name in FREE_TEXT, key=name)
                for name, one in value.items()
            }
        if isinstance(value, list):
            return [self._of_value(one, free=free, key=key) for one in value]
        if not isinstance(value, str):
            return value
        if key == "host":
            return self._hosts.get(value, alias(value))
        return self.of_text(value) if free else value


def alias(name: str) -> str:
    """Return what stands for a name: always the same for the same name."""
    return f"redacted-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def hosts_of(records: Iterable[RunRecord]) -> set[str]:
    """Return the host names that fingerprints name."""
    found = (record.fingerprint.context.get("host") for record in records if record.fingerprint)
    return {host for host in found if isinstance(host, str) and host}
