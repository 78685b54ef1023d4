"""Values of options: durations, ``key=value`` pairs, deadlines, lists of CPUs."""

from __future__ import annotations

from typing import Any

import click

from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.stages import Stage
from envdyno.plan.literals import parse_literal
from envdyno.plan.quantities import parse_duration


class Duration(click.ParamType[float]):
    """A length of time such as 10s, 500ms, 2m or 1h30m; a bare number is seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def parse_pairs(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return ``key=value`` texts as a mapping; values are read as JSON where they are JSON.

    Raises:
        click.BadParameter: a text has no ``=``, no key, or a key comes twice.
    """
    pairs: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.isidentifier():
            raise click.BadParameter(f"{text!r} is no option of a workload; write key=value.")
        if key in pairs:
            raise click.BadParameter(f"The option {key!r} is given twice.")
        pairs[key] = parse_literal(value)
    return pairs


def parse_deadlines(texts: tuple[str, ...]) -> dict[Stage, float]:
    """Return ``stage=duration`` texts as a mapping.

    Raises:
        click.BadParameter: there is no such stage, the duration is none, or a stage comes twice.
    """
    deadlines: dict[Stage, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            stage, seconds = Stage(name), parse_duration(value)
        except ValueError as error:
            stages = ", ".join(stage.value for stage in Stage)
            raise click.BadParameter(
                f"{text!r} is no deadline; write STAGE=DURATION with one of the stages {stages}."
            ) from error
        if stage in deadlines:
            raise click.BadParameter(f"The deadline of stage {stage.value} is given twice.")
        deadlines[stage] = seconds
    return deadlines


def parse_cpus(text: str | None) -> tuple[int, ...] | None:
    """Return the CPUs of a list such as 0-3,8.

    Raises:
        PlacementError: it is no list.
    """
    return None if text is None else parse_cpulist(text)
