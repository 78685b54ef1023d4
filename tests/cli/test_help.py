"""What ``--help`` shows of every verb."""

from __future__ import annotations

import pytest

from envdyno.cli.main import VERBS, run_command


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_in_which_examples_keep_their_lines(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([verb, "--help"]) == 0
    text = capsys.readouterr().out
    assert "\\b" not in text
    examples = [line for line in text.splitlines() if line.strip().startswith(f"envdyno {verb} ")]
    assert all(line.count("envdyno ") == 1 for line in examples)


def test_the_list_of_verbs_names_the_three_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in ("run", "ab", "sweep"))
