"""How often the judge errs, by a smaller run of ``benchmarks/judge.py`` with fixed seeds.

The bounds are those of the design plus three standard errors of the simulation, so that they hold for the
method as it is and not for one that is broken.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from experiments import TODAY, case_of, experiment

from envdyno.judge.gate import gate
from envdyno.judge.gate_rule import GateRule
from envdyno.judge.looks import LookSchedule
from envdyno.judge.verdicts import Verdict

EXPERIMENTS = 4_000
EDGE_LIMIT = 0.05 + 3 * math.sqrt(0.05 * 0.95 / EXPERIMENTS)
AA_LIMIT = 0.01 + 3 * math.sqrt(0.01 * 0.99 / EXPERIMENTS)


def _load() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "judge.py"
    spec = importlib.util.spec_from_file_location("judge_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))  # as a script has it
    spec.loader.exec_module(module)
    return module


judge: Any = _load()
NOISES = {noise.name: noise for noise in (*judge.NOISES, judge.HARSH)}
SCHEDULES = {
    "3 pairs": LookSchedule.once(3),
    "6 pairs": LookSchedule.once(6),
    "12 pairs": LookSchedule.once(12),
    "adaptive": judge.ADAPTIVE,
}


def simulate(noise: str, ratio: float, schedule: LookSchedule, plans: Sequence[Any] | None = None) -> Any:
    plans = plans or judge.both_starts(schedule.maximum)
    return judge.simulate(NOISES[noise], ratio, plans, schedule.looks, EXPERIMENTS)


@pytest.mark.parametrize("schedule", list(SCHEDULES))
@pytest.mark.parametrize("noise", list(NOISES))
def test_at_the_gates_edge_each_wrong_verdict_stays_within_five_per_cent(noise: str, schedule: str) -> None:
    rates = simulate(noise, 0.90, SCHEDULES[schedule])
    assert rates.fail <= EDGE_LIMIT
    assert rates.passed <= EDGE_LIMIT


@pytest.mark.parametrize("schedule", list(SCHEDULES))
@pytest.mark.parametrize("noise", [noise.name for noise in judge.NOISES])
def test_equal_sides_fail_in_at_most_one_per_cent(noise: str, schedule: str) -> None:
    assert simulate(noise, 1.0, SCHEDULES[schedule]).fail <= AA_LIMIT


@pytest.mark.parametrize("schedule", ["6 pairs", "adaptive"])
def test_with_two_per_cent_noise_six_pairs_tell_0_85_and_1_00_from_0_90(schedule: str) -> None:
    loss = simulate("Gaussian 2 %", 0.85, SCHEDULES[schedule])
    equal = simulate("Gaussian 2 %", 1.00, SCHEDULES[schedule])
    assert min(loss.decided_by_six, equal.decided_by_six) >= 0.95
    assert max(loss.passed, equal.fail) == 0.0


@pytest.mark.parametrize("noise", ["Gaussian 0.5 %", "Gaussian 2 %", "drift 1 % a run", "batch shift 5 %"])
def test_a_plain_loss_is_shown_by_three_pairs(noise: str) -> None:
    assert simulate(noise, 0.64, SCHEDULES["3 pairs"]).fail >= 0.99


def test_plain_cases_need_about_three_pairs_and_edge_cases_nearly_all() -> None:
    assert simulate("Gaussian 0.5 %", 0.64, judge.ADAPTIVE).pairs < 3.1
    assert simulate("Gaussian 2 %", 0.90, judge.ADAPTIVE).pairs > 11


@pytest.mark.parametrize("noise", ["batch shift 5 %", "batch shift 30 %", "drift 1 % a run"])
def test_blocked_order_takes_the_machine_for_the_code_where_pairs_do_not(noise: str) -> None:
    pairs = simulate(noise, 0.90, SCHEDULES["6 pairs"])
    blocks = simulate(noise, 0.90, SCHEDULES["6 pairs"], [judge.blocked(6)])
    assert blocks.fail > 0.5
    assert pairs.fail <= EDGE_LIMIT


def test_a_noise_floor_guards_three_pairs_against_a_machine_with_two_speeds() -> None:
    plain, floored = judge.with_floor(judge.HARSH, 1.0, 3, 20_000)
    assert floored < 0.75 * plain


@pytest.mark.parametrize("noise", ["Gaussian 2 %", "heavy tails", "batch shift 30 %", "bimodal 10 %"])
@pytest.mark.parametrize("schedule", ["3 pairs", "6 pairs", "adaptive"])
def test_the_simulation_judges_as_the_gate_does(noise: str, schedule: str) -> None:
    looks = SCHEDULES[schedule]
    plan = judge.paired(looks.maximum, start_with_head=False)
    speed = NOISES[noise].draw(np.random.default_rng(3), 40, plan)
    d = speed[..., 1] - speed[..., 0] + math.log(0.86)
    for log_rates, row in zip(speed, d, strict=True):
        rates = judge.verdicts(row[None], plan, looks.looks, judge.only_pairs)
        head = np.exp(log_rates[:, 1]) * 0.86
        case = case_of(np.exp(log_rates[:, 0]).tolist(), head.tolist())
        found = gate(experiment(case), GateRule(), today=TODAY, schedule=looks).cases[0].verdict
        assert (found is Verdict.FAIL, found is Verdict.PASS) == (rates.fail == 1.0, rates.passed == 1.0)
