"""``envdyno replay``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="BUNDLE")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the new bundle.  [default: BUNDLE-replay-DATE]",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Where the plan's relative paths start.  [default: as it was]",
)
@click.option("--yes", is_flag=True, help="Run what the bundle names without asking.")
@click.option("-q", "--quiet", is_flag=True, help="No progress; the result only.")
def replay(source: Path, out: Path | None, directory: Path | None, *, yes: bool, quiet: bool) -> int:
    """Run the plan of BUNDLE again, and say how the results differ.

    A bundle is data, but a replay runs the code that its plan names: workloads, interpreters, set-up
    commands. They are shown first. Git refs are taken at the commits that were measured. Ratios may be
    compared between machines; rates are compared on the same machine only.

    The exit code is that of the new experiment.
    """
    with refusing():
        from envdyno.cli.replay_verbs import Replay, replay_bundle

        return replay_bundle(Replay(source, out, directory, assume_yes=yes, quiet=quiet))
