from __future__ import annotations

import csv
import errno
import io
from pathlib import Path
from typing import Any

import hand_made_run
import pytest
from hand_made_run import measured, outcome

from envdyno.export.csv_table import COLUMNS, CsvTable, rows
from envdyno.launch.run_record import make_record
from envdyno.record.journal import JournalError
from envdyno.record.run_record import RunRecord


def record_of(*arguments: Any, **changes: Any) -> RunRecord:
    """The record of a hand-made run."""
    return make_record(outcome(*arguments, **changes), ("envdyno", "run"))


def read(path: Path) -> list[dict[str, str]]:
    """Read a table as a spreadsheet does."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, *records: RunRecord) -> None:
    """Append records as a session does."""
    table = CsvTable(path)
    for record in records:
        table.append(record)
    table.close()


def test_a_run_is_a_line_for_the_whole_and_one_for_each_worker(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", record_of())
    whole, first, second = read(tmp_path / "runs.csv")
    assert [line["worker"] for line in (whole, first, second)] == ["all", "0", "1"]
    assert (whole["transitions_per_s"], first["transitions_per_s"]) == ("8000.0", "4000.0")
    assert (whole["transitions"], first["transitions"]) == ("8000", "4000")
    assert (whole["num_envs"], second["num_envs"], second["node"]) == ("8", "4", "1")
    assert first["step_p50_ms"] == "1.0"
    assert whole["status"] == "ok"
    assert whole["window_s"] == "1.0"


def test_every_line_has_every_column() -> None:
    for line in rows(record_of()):
        assert set(line) <= set(COLUMNS)


def test_the_header_is_written_once_whoever_appends(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", record_of())
    write(tmp_path / "runs.csv", record_of(), record_of())
    lines = (tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 1 + 3 * 3
    assert not any("transitions_per_s" in line for line in lines[1:])


def test_what_was_not_measured_is_an_empty_cell_not_a_zero(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", make_record(hand_made_run.failed_outcome(), ("envdyno",)))
    whole, *workers = read(tmp_path / "runs.csv")
    assert whole["status"] == "killed"
    for line in (whole, *workers):
        for name in ("transitions_per_s", "transitions", "elapsed_s", "cpu_s", "step_p50_ms"):
            assert line[name] == ""


def test_rates_of_an_invalid_run_are_not_given(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", record_of([measured({"nonfinite_rows": 1}), measured()]))
    assert {line["transitions_per_s"] for line in read(tmp_path / "runs.csv")} == {""}


def test_doubts_are_named_by_their_codes(tmp_path: Path) -> None:
    use = hand_made_run.use(2, foreign_cores_chosen=1.0, steal_s=0.5)
    write(tmp_path / "runs.csv", record_of(use=use))
    assert read(tmp_path / "runs.csv")[0]["warnings"] == "foreign_load steal"


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@cmd"])
def test_text_that_a_spreadsheet_would_run_is_quoted(value: str) -> None:
    (whole, *_) = rows(record_of(request={"workload": f"{value}:build"}))
    assert whole["workload"] == f"'{value}:build"


def test_commas_and_quotes_stay_in_their_cell(tmp_path: Path) -> None:
    options = {"name": 'a "b", c', "other": "é"}
    write(tmp_path / "runs.csv", record_of(request={"options": options}))
    assert read(tmp_path / "runs.csv")[0]["options"] == 'name=a "b", c other=é'


def test_a_table_of_other_columns_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("name,speed\na,1\n")
    with pytest.raises(JournalError, match=r"runs\.csv has other columns.*Choose another file"):
        CsvTable(path)
    assert path.read_text() == "name,speed\na,1\n"


def test_a_line_that_a_killed_process_left_half_written_is_ended_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    write(path, record_of())
    torn = path.read_bytes()[:-25]
    path.write_bytes(torn)
    write(path, record_of())
    assert path.read_bytes().startswith(torn + b"\n")
    assert [line["worker"] for line in read(path)] == ["all", "0", "1", "all", "0", "1"]


@pytest.mark.parametrize("place", ["", "none/runs.csv"], ids=["a folder", "in no folder"])
def test_a_place_that_cannot_be_written_is_known_at_once(place: str, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"cannot be written to .*Choose another"):
        CsvTable(tmp_path / place)


class NearlyFullDisk(io.FileIO):
    """A file on a disk with room for a hundred bytes more."""

    room = 100

    def write(self, data: Any) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = super().write(bytes(data)[: self.room])
        self.room -= written
        return written


def test_a_disk_that_fills_up_in_a_record_leaves_the_earlier_lines_whole(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    write(path, record_of())
    before = path.read_bytes()
    table = CsvTable(path)
    table._file.close()
    table._file = NearlyFullDisk(path, "ab")
    with pytest.raises(JournalError, match=r"runs\.csv: No space left on device"):
        table.append(record_of())
    table.close()
    assert path.read_bytes() == before


def test_a_device_that_is_always_full_is_a_sentence() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(JournalError, match="No space left on device"):
        CsvTable(full)
