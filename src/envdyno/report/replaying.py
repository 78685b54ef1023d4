"""How to make the same measurement again."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from envdyno.experiment.material import Material
from envdyno.record.printable import printable

MAX_COMMANDS = 12


class ReplayStep(NamedTuple):
    """A sentence, and a command that goes with it."""

    text: str
    command: str = ""


def replay_steps(material: Material) -> tuple[ReplayStep, ...]:
    """Return what to type, the command that made the bundle included."""
    bundle = "BUNDLE"
    if material.head is None:
        commands = list(dict.fromkeys(_shell(record.command) for record in material.records))
        shown = "\n".join(commands[:MAX_COMMANDS])
        return (
            ReplayStep("Run all of it again, and say how the results differ:", f"envdyno replay {bundle}"),
            ReplayStep("Each run by itself:", shown),
        )
    verb = "show" if material.head.plan.get("sweep") else "gate"
    return (
        ReplayStep("Judge again, without measuring:", f"envdyno {verb} {bundle}"),
        ReplayStep("Measure again, and say how the results differ:", f"envdyno replay {bundle}"),
        ReplayStep("The bundle was made by:", _shell(material.head.command)),
    )


def _shell(command: tuple[str, ...]) -> str:
    return printable(shlex.join(command).replace("\n", "\\n"))
