"""The output of an experiment: on any terminal, in any encoding, and when nobody reads it any more."""

from __future__ import annotations

import io
import os
import sys

import pytest
from planned_experiment import plan_of, record_of, runs_of
from rich.console import Console

from envdyno.cli.ab_output import USUAL_WIDTH, AbOutput
from envdyno.cli.console import stdout_line


class Gone(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


def output(file: io.StringIO, **more: bool) -> AbOutput:
    settings = {"quiet": False, "as_json": False, **more}
    return AbOutput(console=Console(file=file, soft_wrap=True, markup=False, highlight=False), **settings)


def test_an_experiment_goes_on_when_nobody_reads_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Gone())
    told = AbOutput(quiet=False, as_json=False)
    told.tell("first")
    told.tell("second")


def test_a_text_of_several_lines_is_written_line_by_line_without_commands_for_the_terminal() -> None:
    file = io.StringIO()
    output(file).tell("one\n\x1b[2Jtwo")
    assert file.getvalue() == "one\ntwo\n"


def test_progress_is_left_out_when_quiet_and_results_are_not() -> None:
    file = io.StringIO()
    quiet = output(file, quiet=True)
    quiet.tell_progress("progress")
    quiet.tell("result")
    assert file.getvalue() == "result\n"


def test_the_width_is_that_of_the_terminal_or_what_is_asked_for_or_the_usual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert output(io.StringIO()).width == USUAL_WIDTH
    monkeypatch.setenv("COLUMNS", "72")
    assert output(io.StringIO()).width == 72
    monkeypatch.setenv("COLUMNS", "wide")
    assert output(io.StringIO()).width == USUAL_WIDTH


def test_records_go_to_stdout_as_they_come_until_nobody_reads_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    read, write = os.pipe()
    pipe = os.fdopen(write, "w")
    monkeypatch.setattr(sys, "stdout", pipe)
    file = io.StringIO()
    told = output(file, as_json=True)
    record = record_of(runs_of(plan_of())[0])
    told.keep(record)
    assert os.read(read, 1 << 20).decode() == f"{record.to_line()}\n"
    os.close(read)
    told.keep(record)
    told.keep(record)
    assert file.getvalue().count("Nobody reads the records on stdout any more") == 1
    pipe.close()


def test_without_json_no_record_goes_to_stdout(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output(io.StringIO()).keep(record_of(runs_of(plan_of())[0]))
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_line_is_written_in_any_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    stdout_line("0.9 ± 0.1 → 日本")
    sys.stdout.flush()
    line = raw.getvalue().decode(encoding)
    assert line == ("0.9 ± 0.1 → 日本\n" if encoding == "utf-8" else "0.9 +/- 0.1 -> \\u65e5\\u672c\n")
