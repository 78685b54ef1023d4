from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import pytest

from envdyno.host import machine
from envdyno.host.machine import REGISTRY, Absent, Fact, FactClass, read_facts

READERS = {fact.name: fact.read for fact in REGISTRY}


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files below a root, by path."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def fact(name: str, root: Path, files: dict[str, str] | None = None) -> Any:
    """Read one fact from a tree of files."""
    return READERS[name](write(root, files or {}))


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        (
            "processor : 0\nmodel name\t: AMD EPYC 7K62\n\nprocessor : 1\nmodel name\t: other\n",
            "AMD EPYC 7K62",
        ),
        ("processor : 0\nCPU part : 0xd0c\nHardware : x\nModel : Raspberry Pi 5\n", "Raspberry Pi 5"),
        ("processor : 0\nCPU implementer : 0x41\nCPU part\t: 0xd0c\n", "0xd0c"),
    ],
)
def test_the_cpu_is_named_as_each_architecture_names_it(cpuinfo: str, model: str, tmp_path: Path) -> None:
    assert fact("cpu_model", tmp_path, {"proc/cpuinfo": cpuinfo}) == model


def test_a_cpu_without_a_name_is_absent_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "processor", lambda: "")
    with pytest.raises(Absent, match="cannot be read"):
        fact("cpu_model", tmp_path)
    with pytest.raises(Absent, match="names no model"):
        fact("cpu_model", tmp_path, {"proc/cpuinfo": "processor : 0\n"})
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    assert fact("cpu_model", tmp_path / "none") == "arm"


def test_governors_of_all_cpus_are_told_once_each(tmp_path: Path) -> None:
    folder = "sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    files = {
        folder.format(cpu): governor for cpu, governor in enumerate(("powersave\n", "performance\n") * 3)
    }
    assert fact("governor", tmp_path, files) == "performance,powersave"
    with pytest.raises(Absent, match="no frequency scaling"):
        fact("governor", tmp_path / "none")


@pytest.mark.parametrize(
    ("path", "text", "turbo"),
    [
        ("intel_pstate/no_turbo", "1\n", "off"),
        ("intel_pstate/no_turbo", "0\n", "on"),
        ("cpufreq/boost", "1\n", "on"),
        ("cpufreq/boost", "0\n", "off"),
    ],
)
def test_turbo_is_read_the_right_way_round(path: str, text: str, turbo: str, tmp_path: Path) -> None:
    assert fact("turbo", tmp_path, {f"sys/devices/system/cpu/{path}": text}) == turbo


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({".dockerenv": "", "proc/cpuinfo": "flags : fpu hypervisor\n"}, "container"),
        ({"run/.containerenv": "", "proc/cpuinfo": ""}, "container"),
        ({"proc/cpuinfo": "flags : fpu hypervisor vme\n"}, "virtual machine"),
        ({"proc/cpuinfo": "flags : fpu vme\n"}, "none seen"),
    ],
)
def test_what_a_machine_runs_inside_is_seen(
    files: dict[str, str], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "release", lambda: "6.1.0")
    assert fact("virtualization", tmp_path, files) == found


def test_only_the_kernels_major_version_is_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "release", lambda: "6.8.0-45-generic")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert READERS["kernel_major"](Path("/")) == "Linux 6.8"


def test_the_chosen_page_size_is_the_one_in_brackets(tmp_path: Path) -> None:
    files = {"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n"}
    assert fact("transparent_hugepages", tmp_path, files) == "madvise"


def test_clocks_are_told_as_lowest_and_highest(tmp_path: Path) -> None:
    text = "cpu MHz\t\t: 2400.5\ncpu MHz\t\t: 1200.0\ncpu MHz\t\t: 3100.0\n"
    assert fact("clock_mhz", tmp_path, {"proc/cpuinfo": text}) == [1200.0, 3100.0]
    with pytest.raises(Absent, match="tells no clock"):
        fact("clock_mhz", tmp_path, {"proc/cpuinfo": "flags : fpu\n"})


def test_every_fact_that_is_absent_is_null_with_its_reason(tmp_path: Path) -> None:
    values, absent = read_facts(tmp_path)
    assert {name for kind in FactClass for name in values[kind]} == {fact.name for fact in REGISTRY}
    nulls = {
        f"fingerprint.{kind.value}.{name}"
        for kind in FactClass
        for name, value in values[kind].items()
        if value is None
    }
    assert nulls == set(absent)
    assert "fingerprint.context.governor" in nulls
    assert all(absent.values())


@pytest.mark.parametrize("error", [OSError(16, "Device or resource busy"), ValueError("bad float")])
def test_a_file_that_cannot_be_understood_loses_that_fact_alone(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the governor of a CPU that is just going offline ends in EBUSY."""

    def fail(root: Path) -> Any:
        raise error

    facts = (
        Fact("governor", FactClass.CONTEXT, "", fail),
        Fact("host", FactClass.CONTEXT, "", lambda _: "h"),
    )
    monkeypatch.setattr(machine, "REGISTRY", facts)
    values, absent = read_facts(tmp_path)
    assert values[FactClass.CONTEXT] == {"governor": None, "host": "h"}
    assert str(error) in absent["fingerprint.context.governor"]


def test_this_machine_tells_what_every_machine_can() -> None:
    values, _ = read_facts()
    assert values[FactClass.CONTEXT]["memory_bytes"] > 0
    assert values[FactClass.IDENTITY]["architecture"] == platform.machine()
    assert len(values[FactClass.VOLATILE]["load_average"]) == 3


def test_a_load_that_the_system_does_not_tell_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> tuple[float, float, float]:
        raise OSError("not supported")

    monkeypatch.setattr(os, "getloadavg", refuse)
    with pytest.raises(Absent, match="no load average"):
        READERS["load_average"](Path("/"))


def test_the_linux_of_windows_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "release", lambda: "5.15.90.1-microsoft-standard-WSL2")
    assert fact("virtualization", tmp_path) == "wsl2"
