from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import hand_made_run
import pytest
from fake_clock import FakeClock

from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.host import disturbance, load
from envdyno.host.disturbance import Disturbance, disturbances
from envdyno.host.procfs import MachineUse
from envdyno.host.site import Site

Look = Callable[..., dict[str, Disturbance]]


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch, fake_clock: FakeClock, tmp_path: Path) -> Look:
    """Look at a site in fake time; ``busy`` and ``stolen`` are in cores of CPU 0, ``late`` in seconds."""

    def look_at(
        site: Site, *, busy: float = 0.0, stolen: float | None = 0.0, late: float = 0.0
    ) -> dict[str, Disturbance]:
        def use() -> MachineUse:
            steal = None if stolen is None else {0: stolen * fake_clock.s()}
            return MachineUse({0: busy * fake_clock.s(), 1: 0.0, 99: 7 * fake_clock.s()}, steal)

        monkeypatch.setattr(load, "machine_use", use)
        monkeypatch.setattr(disturbance, "throttled_us", lambda: 2_500_000)
        monkeypatch.setattr(time, "monotonic", fake_clock.s)
        monkeypatch.setattr(time, "sleep", lambda seconds: fake_clock.sleep(seconds + late))
        return {found.name: found for found in disturbances(site, tmp_path, sample_s=1.0)}

    return look_at


def setting(root: Path, name: str, text: str) -> None:
    """Write a setting below ``/sys/devices/system/cpu``."""
    path = root / "sys/devices/system/cpu" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_quiet_machine_needs_no_advice(look: Look) -> None:
    found = look(hand_made_run.site())
    assert [name for name, check in found.items() if check.advice] == []
    assert found["load on the chosen CPUs"].found == "0.00 of 4 cores over 1.0 s"
    assert found["CPU quota"].found == "none"
    assert found["governor"].found.startswith("not told: ")


@pytest.mark.parametrize(
    ("file", "text", "name", "bad"),
    [
        ("cpu0/cpufreq/scaling_governor", "powersave", "governor", True),
        ("cpu0/cpufreq/scaling_governor", "performance", "governor", False),
        ("cpufreq/boost", "1", "turbo", True),
        ("cpufreq/boost", "0", "turbo", False),
        ("smt/control", "on", "smt", True),
        ("smt/control", "notsupported", "smt", False),
    ],
)
def test_settings_that_move_the_clock_or_share_a_core_come_with_advice(
    file: str, text: str, name: str, bad: bool, look: Look, tmp_path: Path
) -> None:
    setting(tmp_path, file, text)
    assert bool(look(hand_made_run.site())[name].advice) is bad


def test_load_is_told_over_the_time_that_really_passed(look: Look) -> None:
    late = look(hand_made_run.site(), busy=0.5, stolen=0.25, late=9.0)
    assert late["load on the chosen CPUs"].found == "0.50 of 4 cores over 10.0 s"
    assert late["steal"].found == "0.25 cores over 10.0 s"
    assert late["load on the chosen CPUs"].advice
    assert late["steal"].advice


def test_load_on_cpus_that_were_not_chosen_is_no_disturbance_of_the_chosen(look: Look) -> None:
    assert not look(hand_made_run.site(), busy=0.05)["load on the chosen CPUs"].advice


def test_steal_that_the_kernel_does_not_tell_is_not_called_zero(look: Look) -> None:
    steal = look(hand_made_run.site(), stolen=None)["steal"]
    assert (steal.found, steal.advice) == ("not told by this kernel", "")


def test_pages_that_the_kernel_moves_matter_where_memory_is_unbound_on_several_nodes(look: Look) -> None:
    moving = hand_made_run.site(2, topology={"numa_balancing": 1})
    assert not look(moving)["NUMA balancing"].advice, "memory is bound"
    placements = tuple(part._replace(policy=MemoryPolicy.OFF) for part in moving.choice.placements)
    unbound = replace(moving, choice=replace(moving.choice, placements=placements))
    assert "--mem bind" in look(unbound)["NUMA balancing"].advice
    one_node = replace(unbound, topology=hand_made_run.site(1, topology={"numa_balancing": 1}).topology)
    assert not look(one_node)["NUMA balancing"].advice
    silent = hand_made_run.site(2, topology={"numa_balancing": None})
    assert look(silent)["NUMA balancing"].found == "not told"


@pytest.mark.parametrize(("quota", "tight"), [(1.5, True), (4.0, False), (8.0, False)])
def test_a_quota_below_the_chosen_cpus_is_named_with_its_history(
    quota: float, tight: bool, look: Look
) -> None:
    found = look(hand_made_run.site(limits={"quota_cpus": quota}))["CPU quota"]
    assert found.found == f"{quota:g} CPUs, stopped for 2.5 s so far"
    assert bool(found.advice) is tight
