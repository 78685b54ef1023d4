"""``envdyno gate``: the exit code is the verdict, whoever made the bundle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_bundles import GO2, SCENARIOS, Made, experiment, failing, passing

from envdyno.cli.main import run_command

Gate = Callable[..., tuple[int, str]]


@pytest.fixture
def gate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Gate:
    """Write a bundle and judge it; return exit code and report."""

    def run(made: Made, *arguments: str) -> tuple[int, str]:
        made.write(tmp_path / "bundle")
        code = run_command(["gate", str(tmp_path / "bundle"), *arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out or captured.err

    return run


@pytest.mark.parametrize(
    ("scenario", "code"),
    [("pass", 0), ("fail", 1), ("undecided", 3), ("missing_case", 5), ("interrupted", 5)],
)
def test_the_exit_code_is_the_verdict(scenario: str, code: int, gate: Gate) -> None:
    assert gate(SCENARIOS[scenario]())[0] == code


def test_different_work_is_exit_code_4(gate: Gate) -> None:
    made = passing()
    assert made.head is not None
    head = made.head.model_copy(update={"misaligned": {GO2: "substeps is 3 on base and 1 on head"}})
    code, out = gate(made._replace(head=head))
    assert code == 4
    assert "substeps is 3 on base and 1 on head" in out


@pytest.mark.parametrize(("bound", "code"), [("0.9", 1), ("0.5", 0)])
def test_another_bound_than_the_plans_may_be_asked_for(bound: str, code: int, gate: Gate) -> None:
    assert gate(failing(), "--min-ratio", bound)[0] == code


def test_the_plain_rule_is_labelled(gate: Gate) -> None:
    code, out = gate(SCENARIOS["undecided"](), "--rule", "point")
    assert code in (0, 1)
    assert "POINT_RULE" in out


def test_a_gate_may_come_from_another_plan_file_with_its_exceptions(gate: Gate, tmp_path: Path) -> None:
    plan = tmp_path / "gate.toml"
    plan.write_text(
        f'[experiment]\ncases = ["{GO2}"]\n[sides.base]\nref = "a"\n[sides.head]\nref = "b"\n'
        f'[gate]\nmin_ratio = 0.9\n[[gate.exceptions]]\ncase = "{GO2}"\nmin_ratio = 0.6\n'
        'reason = "lookup not vectorised"\nowner = "envs team"\nexpires = 2999-01-01\n'
    )
    code, out = gate(failing(), "--plan", str(plan))
    assert code == 0
    assert "lookup not vectorised (envs team, until 2999-01-01)" in " ".join(out.split())


def test_an_expired_exception_fails_and_one_that_matches_nothing_warns(gate: Gate, tmp_path: Path) -> None:
    plan = tmp_path / "gate.toml"
    entry = '[[gate.exceptions]]\ncase = "{}"\nmin_ratio = 0.6\nreason = "r"\nowner = "o"\nexpires = {}\n'
    plan.write_text(
        f'[experiment]\ncases = ["{GO2}"]\n[sides.base]\nref = "a"\n[sides.head]\nref = "b"\n[gate]\n'
        + entry.format(GO2, "2001-01-01")
        + entry.format("nothing", "2999-01-01")
    )
    code, out = gate(failing(), "--plan", str(plan))
    assert code == 1
    assert "EXCEPTION_EXPIRED" in out
    assert "EXCEPTION_UNMATCHED" in out


def test_a_plan_without_a_gate_is_refused(gate: Gate, tmp_path: Path) -> None:
    plan = tmp_path / "gate.toml"
    plan.write_text('[experiment]\ncases = ["x"]\n[sides.a]\nref = "a"\n[sides.b]\nref = "b"\n')
    code, out = gate(passing(), "--plan", str(plan))
    assert code == 2
    assert "has no [gate]" in out


def test_a_bound_that_is_none_is_a_sentence(gate: Gate) -> None:
    code, out = gate(passing(), "--min-ratio", "-1")
    assert code == 2
    assert "does not fit together" in out


def test_an_experiment_that_was_planned_without_a_gate_is_judged_by_the_usual_one(gate: Gate) -> None:
    made = failing()
    assert made.head is not None
    plan = {name: part for name, part in made.head.plan.items() if name != "gate"}
    code, out = gate(made._replace(head=made.head.model_copy(update={"plan": plan})))
    assert code == 1
    assert "is below 0.9" in out


def test_names_of_a_strangers_bundle_do_not_steer_the_terminal(gate: Gate) -> None:
    _, out = gate(experiment({"case\x1b[2J\x07": ((1e5, 1.01e5, 1e5), (1e5, 1e5, 1.01e5))}))
    assert "\x1b" not in out
    assert "\x07" not in out
