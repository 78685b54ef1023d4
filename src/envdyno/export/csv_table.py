"""Runs as CSV: one line a worker, and one for the whole run."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name
from envdyno.record.journal import JournalError
from envdyno.record.run_record import RunRecord

COLUMNS = (
    "run_id",
    "started_at",
    "status",
    "timing",
    "case",
    "side",
    "pair",
    "position",
    "attempt",
    "final",
    "disturbed",
    "workload",
    "options",
    "num_envs",
    "worker",
    "node",
    "window_s",
    "steps",
    "elapsed_s",
    "transitions_per_s",
    "transitions_per_cpu_s",
    "substeps_per_s",
    "real_time_factor",
    "vector_steps",
    "transitions",
    "reset_rows",
    "episodes",
    "nonfinite_rows",
    "reward_mean",
    "cpu_s",
    "foreign_cores_chosen",
    "rss_bytes",
    "step_p50_ms",
    "step_p90_ms",
    "step_p99_ms",
    "warnings",
    "config_hash",
)
TOTAL = "all"


class CsvTable:
    """A CSV file that is appended to; the header is written where the file is new.

    Raises:
        JournalError: the file cannot be opened for appending, or is a table of other columns.
    """

    def __init__(self, path: Path) -> None:
        """Open the file. A line that a killed process left half written is ended, so that it stands alone."""
        self._path = path
        try:
            written = path.read_bytes() if path.is_file() else b""
            if written and written.partition(b"\n")[0] != HEADER.rstrip(b"\n"):
                raise JournalError(
                    f"{path} has other columns than this table. Choose another file, or move that one away."
                )
            # Without a buffer, nothing that a full disk refused is left to be written later.
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise JournalError(
                f"The table cannot be written to {path}: {error.strerror}. Choose another file or folder."
            ) from error
        try:
            if not written.endswith(b"\n"):
                self._write(b"\n" if written else HEADER)
        except JournalError:
            self._file.close()
            raise

    def append(self, record: RunRecord) -> None:
        """Write the lines of one run; absent figures are empty cells.

        Raises:
            JournalError: the disk is full or gone. Earlier lines are not touched.
        """
        self._write(_lines(rows(record)))

    def _write(self, data: bytes) -> None:
        left = data
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            if self._file.seekable():
                with contextlib.suppress(OSError):
                    self._file.truncate(self._file.tell() - (len(data) - len(left)))
            raise JournalError(
                f"A line cannot be written to {self._path}: {error.strerror}. Earlier lines are safe."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _lines(table: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n").writerows(table)
    return text.getvalue().encode()


HEADER = (",".join(COLUMNS) + "\n").encode()


def csv_text(material: Material) -> str:
    """Return the lines of all runs as one table, the header first."""
    return (HEADER + b"".join(_lines(rows(record)) for record in material.records)).decode()


def rows(record: RunRecord) -> list[dict[str, Any]]:
    """Return the lines of one run by column: the whole run first, then each worker."""
    case, found = record.case, record.throughput
    common = {
        "run_id": record.run_id,
        "started_at": record.started_at,
        "status": record.status.value,
        "timing": case.timing,
        **_place(record),
        "workload": _cell(case.workload),
        "options": _cell(" ".join(f"{key}={value}" for key, value in sorted(case.options.items()))),
        "window_s": case.window_s,
        "steps": case.steps,
        "elapsed_s": found.elapsed_s if found else None,
        "config_hash": record.config_hash,
    }
    whole = {
        **common,
        "worker": TOTAL,
        "num_envs": case.num_envs,
        **(found.model_dump(include=set(COLUMNS)) if found else {}),
        **(record.totals.model_dump(include=set(COLUMNS)) if record.totals else {}),
        "reward_mean": record.reward_mean,
        "cpu_s": record.machine.cpu_s if record.machine else None,
        "foreign_cores_chosen": record.machine.foreign_cores_chosen if record.machine else None,
        "warnings": " ".join(warning.code.value for warning in record.warnings),
    }
    workers = [
        {
            **common,
            "worker": worker.worker,
            "node": worker.placement["node"],
            "num_envs": worker.num_envs,
            "transitions_per_s": worker.transitions_per_s,
            **(worker.totals.model_dump(include=set(COLUMNS)) if worker.totals else {}),
            "cpu_s": worker.use.cpu_s if worker.use else None,
            "rss_bytes": worker.use.rss_bytes if worker.use else None,
            **(
                {f"step_{name}": getattr(worker.step_time, name) for name in ("p50_ms", "p90_ms", "p99_ms")}
                if worker.step_time
                else {}
            ),
        }
        for worker in record.workers
    ]
    return [whole, *workers]


def _place(record: RunRecord) -> dict[str, Any]:
    """Return the run's place in its experiment."""
    entry = record.experiment
    if entry is None:
        return {}
    facts = entry.model_dump(include=set(COLUMNS))
    return {**facts, "case": _cell(entry.case), "side": _cell(entry.side)}


def _cell(text: str) -> str:
    """Return text on one line that a spreadsheet does not take for a formula (OWASP, "CSV Injection")."""
    text = plain_name(text) if text else ""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
