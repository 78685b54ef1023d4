"""The performance monitoring units of the processor's cores: one, or one for each kind of core."""

from __future__ import annotations

from pathlib import Path

_FOLDER = "sys/bus/event_source/devices"
_TYPE_SHIFT = 32
"""PERF_PMU_TYPE_SHIFT of include/uapi/linux/perf_event.h: the unit stands in the upper half of the config."""


def core_pmus(root: Path = Path("/")) -> tuple[int, ...]:
    """Return what to add to a hardware event's config, once for each unit that has to count it.

    Where all cores are alike that is 0 alone. On a hybrid processor a generic event is counted by the unit of
    one kind of core only, and a thread that moves to another kind is not counted there: the event is opened
    once for each (tools/perf/Documentation/intel-hybrid.txt). A unit of cores has a file ``cpus``, others
    have ``cpumask`` (``is_pmu_core`` in tools/perf/util/pmu.c).
    """
    types = []
    for listed in sorted((root / _FOLDER).glob("*/cpus")):
        try:
            types.append(int((listed.parent / "type").read_text(encoding="ascii")))
        except (OSError, ValueError):
            return (0,)
    return tuple(kind << _TYPE_SHIFT for kind in types) if len(types) > 1 else (0,)
