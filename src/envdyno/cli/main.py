"""The command ``envdyno``: finds the verb, and turns errors into a sentence and an exit code.

Verbs are imported when they are used, so that ``envdyno --help`` stays quick.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from envdyno._version import __version__
from envdyno.cli.exit_code import ExitCode

VERBS: dict[str, tuple[str, str]] = {
    "run": ("envdyno.cli.run:run", "Measure how fast this machine steps a workload."),
    "ab": ("envdyno.cli.ab:ab", "Compare two sides: is one slower, by how much, in which phase?"),
    "sweep": ("envdyno.cli.sweep:sweep", "Which batch size, workers and threads are best here?"),
    "gate": ("envdyno.cli.gate:gate", "Judge a bundle again, without measuring."),
    "compare": ("envdyno.cli.compare:compare", "Compare two bundles, or files of other tools; unpaired."),
    "show": ("envdyno.cli.show:show", "Show a bundle or a record in the terminal."),
    "report": ("envdyno.cli.report:report", "Write a bundle as an HTML page or as Markdown."),
    "export": ("envdyno.cli.export:export", "Write figures in the format of another tool."),
    "history": ("envdyno.cli.history:history", "Show how ratios and rates went over many bundles."),
    "replay": ("envdyno.cli.replay:replay", "Run the plan of a bundle again, and say what differs."),
    "pack": ("envdyno.cli.pack:pack", "Make one file of a bundle, or open one."),
    "plan": ("envdyno.cli.plan:plan", "Show every run that an experiment would do."),
    "init": ("envdyno.cli.init:init", "Write a commented plan for this repository."),
    "explain": ("envdyno.cli.explain:explain", "Say what a reason code means."),
    "clean": ("envdyno.cli.clean:clean", "Remove prepared sides that no experiment uses."),
    "check": ("envdyno.cli.check:check", "Does a workload do what it says? Look closely at a small one."),
    "list": ("envdyno.cli.listing:list_workloads", "List the workloads that can be run."),
    "machine": ("envdyno.cli.machine:machine", "Show the machine, its limits and what disturbs."),
    "schema": ("envdyno.cli.schema:schema", "Print the JSON Schema of a run record."),
}
"""Name, ``module:attribute`` and help of each verb, in the order in which they are listed."""


class Verbs(click.Group):
    """A group that imports a verb when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's interface)
        """Return the names in order."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one verb."""
        if name not in VERBS:
            return None
        module, _, attribute = VERBS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        # In a raw docstring click's mark for lines that stay as they are is two characters.
        command.help = command.help.replace("\\b", "\b") if command.help else None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="envdyno")
def envdyno() -> None:
    """Measure the throughput of vectorized simulation environments, and guard it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run_command(arguments))


def run_command(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code. Bad input is told in one sentence on stderr."""
    if sys.platform == "win32":
        click.echo("envdyno runs on Linux and macOS. On Windows, use it inside WSL2.", err=True)
        return ExitCode.USAGE
    try:
        result: Any = envdyno.main(arguments, prog_name="envdyno", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    return result if isinstance(result, int) else ExitCode.DONE
