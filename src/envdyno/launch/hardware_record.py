"""From what was counted to its part of the record, and why what is absent is absent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envdyno.host.hardware_counters import HARDWARE_EVENTS, EventCount, HardwareUse
from envdyno.record import hardware
from envdyno.record.hardware import HardwareCounting, HardwareCounts

SWITCHED_OFF = "it was switched off (--hardware-counters off)"
NOT_REACHED = "the end of the window was not reached"


def hardware_counts(
    use: HardwareUse | None, workers: Iterable[int], transitions_per_s: float | None
) -> HardwareCounts | None:
    """Return the counts of some workers together; ``None`` where nothing was counted.

    Args:
        use: what was counted.
        workers: numbers of the workers.
        transitions_per_s: theirs together in the window, ``None`` where there is no such figure.
    """
    if use is None:
        return None
    parts = [use.workers[worker] for worker in workers]
    counts = {name: _sum(parts, name) for name in HARDWARE_EVENTS}
    if not any(counts.values()):
        return None
    instructions, cycles = counts["instructions"], counts["cycles"]
    transitions = (transitions_per_s or 0.0) * use.elapsed_s
    return HardwareCounts(
        elapsed_s=use.elapsed_s,
        instructions_per_cycle=instructions.count / cycles.count
        if instructions and cycles and cycles.count
        else None,
        instructions_per_transition=instructions.count / transitions
        if instructions and transitions
        else None,
        **{
            name: None
            if count is None
            else hardware.EventCount(count=count.count, counted_share=count.counted_share)
            for name, count in counts.items()
        },
    )


def _sum(parts: Sequence[Mapping[str, EventCount]], name: str) -> EventCount | None:
    """Return the count of all workers, of which the one that was counted least gives the share."""
    counts = [part[name] for part in parts if name in part]
    if not counts or len(counts) != len(parts):
        return None
    return EventCount(sum(one.count for one in counts), min(one.counted_share for one in counts))


def absent_counts(
    use: HardwareUse | None, found: HardwareCounts | None, wanted: HardwareCounting
) -> dict[str, str]:
    """Return the reasons for null counts, by the name of their field; one for all where it is the same."""
    if use is None:
        return {"hardware": SWITCHED_OFF if wanted is HardwareCounting.OFF else NOT_REACHED}
    if found is None:
        return {"hardware": "; ".join(dict.fromkeys(use.missing.values()))}
    reasons = {f"hardware.{name}": why for name, why in use.missing.items()}
    if found.instructions_per_cycle is None:
        reasons["hardware.instructions_per_cycle"] = "it needs instructions and cycles, both counted"
    if found.instructions_per_transition is None:
        reasons["hardware.instructions_per_transition"] = (
            "it needs instructions that were counted, and a run with a headline"
        )
    return reasons
