"""What an experiment or a sweep needs before its first run: a bundle, the machine to itself, its sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from envdyno.cli.ab_bundle import bundle_for
from envdyno.cli.ab_output import AbOutput
from envdyno.plan.experiment_lock import experiment_lock
from envdyno.plan.read_plan import LoadedPlan
from envdyno.record.bundle import Bundle
from envdyno.record.journal import Journal
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.prepared import PreparedSide


class Workspace(NamedTuple):
    """Where an experiment is made, and with what."""

    bundle: Bundle
    journal: Journal
    sides: Mapping[str, PreparedSide]
    """By name, in the order of the plan."""


@contextmanager
def workspace(
    verb: str, loaded: LoadedPlan, out: Path | None, resume: Path | None, output: AbOutput
) -> Iterator[Workspace]:
    """Open the bundle, wait for the machine, and prepare the sides; all is given back at the end.

    Args:
        verb: of the command line, for whoever waits meanwhile.
        loaded: the plan.
        out: folder for a new bundle, where the user named one.
        resume: folder of the bundle that is carried on, if any.
        output: hears what is waited for, and what is noticed of the sides.

    Raises:
        UsageError: the folder holds something else.
        BundleError: the bundle cannot be read or written.
        SideError: a side cannot be prepared.
    """
    with ExitStack() as stack:
        bundle = stack.enter_context(bundle_for(out, resume))
        journal = bundle.journal()
        stack.callback(journal.close)
        stack.enter_context(
            experiment_lock(
                f"envdyno {verb} into {bundle.folder}",
                wait_s=loaded.plan.experiment.wait_idle or 0.0,
                on_wait=lambda holder: output.tell(f"Waiting for another experiment: {holder}."),
            )
        )
        requests = loaded.plan.side_requests(loaded.directory)
        sides = stack.enter_context(
            prepared_sides(requests, notify=lambda notice: output.tell(f"! {notice}"))
        )
        yield Workspace(bundle, journal, {side.name: side for side in sides})
