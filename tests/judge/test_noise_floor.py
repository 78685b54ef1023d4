from __future__ import annotations

import math

import numpy as np
import pytest
from experiments import case_of, experiment, noisy_case

from envdyno.judge.noise_floor import NoiseFloor, NoiseFloors, measure_noise_floors, noise_floor
from envdyno.judge.reasons import ReasonCode
from envdyno.judge.resolution import as_change, detectable_log_ratio


def measured(sd: float, pairs: int = 6, seed: int = 0, ratio: float = 1.0) -> NoiseFloor:
    floor = noise_floor(noisy_case(ratio, pairs, sd, seed), "machine-1")
    assert floor is not None
    return floor


def test_an_aa_experiment_finds_the_noise_of_its_machine() -> None:
    floors = [measured(0.02, 12, seed).sd_log_ratio for seed in range(100)]
    assert float(np.sqrt(np.mean(np.square(floors)))) == pytest.approx(0.02 * math.sqrt(2), rel=0.1)


def test_the_smallest_visible_change_is_seen_in_four_of_five_experiments() -> None:
    sd = 0.02 * math.sqrt(2)
    change = detectable_log_ratio(sd, 6)
    rng = np.random.default_rng(0)
    d = rng.normal(-change, sd, (20_000, 6))
    from envdyno.judge.paired_ratio import fit_pairs, lower_tail

    seen = lower_tail(fit_pairs(d, [i % 2 == 1 for i in range(6)]), (), 0.0) < 0.05
    assert float(seen.mean()) == pytest.approx(0.80, abs=0.02)


def test_more_pairs_show_smaller_changes() -> None:
    floor = measured(0.02)
    assert floor.smallest_change(3) > floor.smallest_change(6) > floor.smallest_change(12)


@pytest.mark.parametrize(("factor", "refused"), [(0.99, True), (1.01, False)])
def test_a_gate_is_refused_below_the_smallest_visible_change_and_not_above(
    factor: float, refused: bool
) -> None:
    floor = measured(0.02)
    assert floor.refuses(1 - factor * floor.smallest_change(6), 6) is refused


def test_a_demand_for_a_small_gain_is_as_hard_to_judge_as_one_for_a_small_loss() -> None:
    floor = measured(0.02)
    assert floor.refuses(1.001, 6)
    assert not floor.refuses(1.5, 6)


def test_sides_that_are_treated_unlike_are_found_and_add_to_the_floor() -> None:
    fair, unfair = measured(0.005), measured(0.005, ratio=0.95)
    assert fair.alarm() is None
    alarm = unfair.alarm()
    assert alarm is not None
    assert alarm.code is ReasonCode.AA_BIASED
    assert alarm.magnitude == pytest.approx(-0.05, abs=0.01)
    assert unfair.smallest_change(6) > 0.045


def test_a_floor_is_known_by_machine_and_case() -> None:
    floors = measure_noise_floors(
        experiment(noisy_case(1.0, name="a"), noisy_case(1.0, name="b"), is_aa=True)
    )
    assert [floor.case for floor in floors.floors] == ["a", "b"]
    assert floors.find("machine-1", "b") is floors.floors[1]
    assert floors.find("machine-2", "b") is None
    assert floors.find(None, "b") is None


def test_two_experiments_on_one_case_are_pooled_with_what_lies_between_them() -> None:
    monday, tuesday = measured(0.001), measured(0.001, seed=1, ratio=1.05)
    (pooled,) = NoiseFloors((monday,)).merged_with([tuesday]).floors
    assert pooled.pairs == 12
    assert pooled.df == monday.df + tuesday.df + 1
    assert pooled.sd_log_ratio > 10 * max(monday.sd_log_ratio, tuesday.sd_log_ratio)
    assert pooled.bias_log_ratio == pytest.approx(math.log(1.05) / 2, abs=0.001)


def test_floors_of_other_cases_are_kept_when_new_ones_come() -> None:
    other = noise_floor(noisy_case(1.0, name="other"), "machine-1")
    assert other is not None
    assert {f.case for f in NoiseFloors((measured(0.01),)).merged_with([other]).floors} == {"case", "other"}


def test_a_floor_needs_an_aa_experiment_on_a_known_machine() -> None:
    with pytest.raises(ValueError, match="comes from an A/A experiment"):
        measure_noise_floors(experiment(noisy_case(1.0)))
    with pytest.raises(ValueError, match="no machine fingerprint"):
        measure_noise_floors(experiment(noisy_case(1.0), is_aa=True, machine=None))


def test_one_pair_gives_no_floor() -> None:
    assert noise_floor(noisy_case(1.0, pairs=1), "machine-1") is None


def test_figures_that_agree_to_the_last_digit_do_not_make_a_floor_of_zero() -> None:
    floor = noise_floor(case_of([100.0] * 6, [100.0] * 6), "machine-1")
    assert floor is not None
    assert floor.smallest_change(6) > 0


def test_a_change_is_told_as_a_loss() -> None:
    assert as_change(math.log(0.9)) == as_change(-math.log(0.9)) == pytest.approx(0.1)
