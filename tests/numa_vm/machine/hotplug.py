"""CPUs of the guest, switched off and on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")


@contextmanager
def offline(cpus: Iterable[int]) -> Iterator[None]:
    """Run the body with these CPUs off."""
    switched: list[int] = []
    try:
        for cpu in cpus:
            _switch(cpu, on=False)
            switched.append(cpu)
        yield
    finally:
        for cpu in switched:
            _switch(cpu, on=True)


def bring_all_cpus_online() -> None:
    """Switch on whatever a check that was stopped left off."""
    for switch in _CPUS.glob("cpu[0-9]*/online"):
        if switch.read_text().strip() == "0":
            switch.write_text("1")


def _switch(cpu: int, *, on: bool) -> None:
    (_CPUS / f"cpu{cpu}" / "online").write_text(str(int(on)))
