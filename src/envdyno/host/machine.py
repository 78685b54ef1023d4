"""Facts about the machine: a registry of small readers, each with its class.

A reader returns a value, or raises :class:`Absent` with the reason for there being none.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import psutil

from envdyno._version import __version__


class FactClass(str, Enum):
    """What a fact is for."""

    IDENTITY = "identity"
    CONTEXT = "context"
    VOLATILE = "volatile"


class Absent(Exception):
    """The fact cannot be had here; the text says why."""


@dataclass(frozen=True)
class Fact:
    """One fact: its name, class, unit (empty for none) and reader."""

    name: str
    kind: FactClass
    unit: str
    read: Callable[[Path], Any]


def _text(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        raise Absent(f"/{path} cannot be read: {error.strerror}") from error


def _cpu_model(root: Path) -> str:
    text = _text(root, "proc/cpuinfo")
    wanted = ("model name", "Model", "cpu model", "CPU part")
    found = dict(line.split(":", 1) for line in reversed(text.splitlines()) if ":" in line)
    values = {key.strip(): value.strip() for key, value in found.items()}
    for name in wanted:
        if values.get(name):
            return values[name]
    raise Absent("/proc/cpuinfo names no model")


def _cpu_model_portable(root: Path) -> str:
    try:
        return _cpu_model(root)
    except Absent:
        if name := platform.processor():
            return name
        raise


def _kernel_major(_root: Path) -> str:
    return f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"


def _governor(root: Path) -> str:
    folder = root / "sys/devices/system/cpu"
    found = {path.read_text().strip() for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not found:
        raise Absent("the kernel shows no frequency scaling, as in most virtual machines")
    return ",".join(sorted(found))


def _turbo(root: Path) -> str:
    pstate = root / "sys/devices/system/cpu/intel_pstate/no_turbo"
    boost = root / "sys/devices/system/cpu/cpufreq/boost"
    if pstate.exists():
        return "off" if pstate.read_text().strip() == "1" else "on"
    if boost.exists():
        return "on" if boost.read_text().strip() == "1" else "off"
    raise Absent("the kernel shows no turbo setting")


def _virtualization(root: Path) -> str:
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return "container"
    if "microsoft" in platform.release().lower():
        return "wsl2"
    if "hypervisor" in _text(root, "proc/cpuinfo").split():
        return "virtual machine"
    return "none seen"


def _transparent_hugepages(root: Path) -> str:
    return _text(root, "sys/kernel/mm/transparent_hugepage/enabled").partition("[")[2].partition("]")[0]


def _load(_root: Path) -> list[float]:
    try:
        return [round(value, 2) for value in os.getloadavg()]
    except OSError as error:
        raise Absent(f"the system has no load average: {error}") from error


def _frequency(root: Path) -> list[float]:
    values = [
        float(line.split(":")[1])
        for line in _text(root, "proc/cpuinfo").splitlines()
        if line.lower().startswith("cpu mhz")
    ]
    if not values:
        raise Absent("/proc/cpuinfo tells no clock")
    return [min(values), max(values)]


REGISTRY: tuple[Fact, ...] = (
    Fact("cpu_model", FactClass.IDENTITY, "", _cpu_model_portable),
    Fact("architecture", FactClass.IDENTITY, "", lambda _root: platform.machine()),
    Fact("kernel_major", FactClass.IDENTITY, "", _kernel_major),
    Fact("smt", FactClass.IDENTITY, "", lambda root: _text(root, "sys/devices/system/cpu/smt/control")),
    # Not identity: the kernel and a hypervisor move it by a little, or by a lot.
    Fact("memory_bytes", FactClass.CONTEXT, "bytes", lambda _root: psutil.virtual_memory().total),
    Fact("host", FactClass.CONTEXT, "", lambda _root: platform.node()),
    Fact("kernel", FactClass.CONTEXT, "", lambda _root: platform.release()),
    Fact("operating_system", FactClass.CONTEXT, "", lambda _root: platform.platform()),
    Fact("virtualization", FactClass.CONTEXT, "", _virtualization),
    Fact("governor", FactClass.CONTEXT, "", _governor),
    Fact("turbo", FactClass.CONTEXT, "", _turbo),
    Fact("transparent_hugepages", FactClass.CONTEXT, "", _transparent_hugepages),
    Fact(
        "clock_source",
        FactClass.CONTEXT,
        "",
        lambda root: _text(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ),
    Fact("command_line", FactClass.CONTEXT, "", lambda root: _text(root, "proc/cmdline")),
    Fact("control_python", FactClass.CONTEXT, "", lambda _root: platform.python_version()),
    Fact("envdyno", FactClass.CONTEXT, "", lambda _root: __version__),
    Fact("load_average", FactClass.VOLATILE, "runnable tasks", _load),
    Fact("clock_mhz", FactClass.VOLATILE, "MHz", _frequency),
    Fact(
        "available_memory_bytes", FactClass.VOLATILE, "bytes", lambda _root: psutil.virtual_memory().available
    ),
    Fact("uptime_s", FactClass.VOLATILE, "s", lambda _root: round(time.time() - psutil.boot_time())),
)


def read_facts(root: Path = Path("/")) -> tuple[dict[FactClass, dict[str, Any]], dict[str, str]]:
    """Return all facts by class and name, absent ones as ``None``, and the reasons for those.

    A file that cannot be read or understood costs its own fact only, never the record it is for.
    """
    values: dict[FactClass, dict[str, Any]] = {kind: {} for kind in FactClass}
    absent: dict[str, str] = {}
    for fact in REGISTRY:
        try:
            values[fact.kind][fact.name] = fact.read(root)
        except (Absent, OSError, ValueError, LookupError) as reason:
            values[fact.kind][fact.name] = None
            absent[f"fingerprint.{fact.kind.value}.{fact.name}"] = str(reason) or type(reason).__name__
    return values, absent
