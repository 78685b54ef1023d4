"""Bad input becomes one sentence on stderr and exit code 2, whichever verb finds it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from envdyno.agent.placement.errors import PlacementError
from envdyno.cli.exit_code import ExitCode
from envdyno.launch.failure import Interrupted
from envdyno.launch.scratch import ScratchError
from envdyno.plan.plan_error import PlanError
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import BundleError
from envdyno.record.journal import JournalError
from envdyno.sides.problems import SideError, SideProblem

CANNOT_BE_COMPARED = frozenset(
    {
        SideProblem.SAME_CODE,
        SideProblem.ORIGIN,
        SideProblem.CHANGED,
        SideProblem.PACKAGES,
        SideProblem.DEPENDENCY,
        SideProblem.SHARED_CACHE,
    }
)
"""The sides are there, and are not what a comparison needs; all else is that one cannot be had."""


class Refusal(click.ClickException):
    """A sentence for the user."""

    exit_code = 2

    def show(self, file: object = None) -> None:  # noqa: ARG002 (click's interface)
        """Write the sentence to stderr."""
        click.echo(f"envdyno: {self.format_message()}", err=True)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn errors that are meant for the user into a refusal."""
    try:
        yield
    except Interrupted as interrupted:
        click.echo(f"envdyno: {interrupted}", err=True)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    except SideError as error:
        if error.problem not in CANNOT_BE_COMPARED:
            raise Refusal(str(error)) from error
        click.echo(f"envdyno: {error}", err=True)
        raise click.exceptions.Exit(ExitCode.INCOMPARABLE) from None
    except (UsageError, PlanError, JournalError, BundleError, ScratchError, PlacementError) as error:
        raise Refusal(str(error)) from error
