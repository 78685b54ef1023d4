"""What ``envdyno replay`` does: show what will run, run it, and compare the two bundles."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from envdyno.cli.ab_verbs import AbCommand, run_experiment
from envdyno.cli.compare_verbs import compare_files
from envdyno.cli.console import stdout_line
from envdyno.cli.exit_code import ExitCode
from envdyno.cli.sweep_verbs import SweepCommand, run_sweep
from envdyno.experiment.material import Material, reading
from envdyno.plan.flags import PlanFlags
from envdyno.plan.read_plan import LoadedPlan, plan_from_tables
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import Bundle
from envdyno.record.experiment import ExperimentRecord
from envdyno.record.run_record import RunRecord

RUN = ("envdyno", "run")
WRITES = ("--out", "--jsonl", "--csv")
"""Options that name a file to write; no record of a run has them."""


@dataclass(frozen=True)
class Replay:
    """What the command line asks for."""

    source: Path
    out: Path | None
    directory: Path | None
    assume_yes: bool
    quiet: bool

    @property
    def target(self) -> Path:
        """The folder of the new bundle."""
        stamp = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}"
        return self.out or Path(f"{self.source.resolve().stem}-replay-{stamp}")


@dataclass(frozen=True)
class PlannedCommand(AbCommand):
    """An experiment whose plan is there already."""

    loaded: LoadedPlan

    def plan(self) -> LoadedPlan:
        """Return the plan."""
        return self.loaded


def replay_bundle(replay: Replay) -> int:
    """Replay a bundle; return the exit code of what was run.

    Raises:
        UsageError: there is nothing to run, or nobody said that it may run.
    """
    with reading(replay.source) as material:
        if material.bundle is None:
            raise UsageError(f"{replay.source} is a file of records; a replay needs the bundle's folder.")
        target = replay.target
        if material.head is None:
            code = _replay_runs(material, replay, target)
        else:
            code = _replay_experiment(material.head, replay, target)
        if Bundle(target).has_records():
            _tell_differences(material, target)
    return code


def _replay_experiment(head: ExperimentRecord, replay: Replay, target: Path) -> int:
    recorded = Path(head.directory)
    directory = replay.directory or (recorded if recorded.is_dir() else Path.cwd())
    loaded = plan_from_tables(pinned_plan(head), PlanFlags(), directory, str(replay.source))
    _ask(replay, list(_what_runs(loaded)))
    if loaded.plan.sweep is not None:
        return run_sweep(SweepCommand(loaded, target, None, as_json=False, quiet=replay.quiet))
    command = PlannedCommand(
        flags=PlanFlags(),
        plan_file=None,
        out=target,
        resume=None,
        as_json=False,
        quiet=replay.quiet,
        loaded=loaded,
    )
    return run_experiment(command)


def pinned_plan(head: ExperimentRecord) -> dict[str, Any]:
    """Return the plan with every git ref replaced by the commit that it stood for."""
    commits = {
        side.name: code.get("commit")
        for side in head.sides
        if isinstance(code := side.identity.get("code"), Mapping)
    }
    sides = {
        name: {**side, "ref": commits[name]} if side.get("ref") and commits.get(name) else side
        for name, side in head.plan["sides"].items()
    }
    return {**head.plan, "sides": sides}


def _what_runs(loaded: LoadedPlan) -> Iterator[str]:
    """Yield all of a plan that is code, or that chooses code."""
    plan = loaded.plan.to_json()
    yield f"cases: {', '.join(map(str, plan['experiment']['cases']))}"
    yield from (f"probe: {probe}" for probe in plan["measure"]["probes"])
    for name, side in plan["sides"].items():
        told = {key: value for key, value in side.items() if value and key not in ("submodules", "lfs")}
        told.pop("setup_deadline", None)
        setup = told.pop("setup", ())
        facts = ", ".join(f"{key}={value}" for key, value in told.items())
        yield f"side {name}: {facts or 'as installed here'}"
        yield from (f"side {name} sets up by: {command}" for command in setup)
    yield f"relative paths start at {loaded.directory}"


def _replay_runs(material: Material, replay: Replay, target: Path) -> int:
    """Run the commands of single runs again, each once for each time that it was run."""
    from envdyno.cli.main import run_command

    commands = [record.command for record in material.records if record.phases is None]
    _check_commands(material.records)
    if target.exists():
        raise UsageError(f"{target} is there already. Choose another --out.")
    _ask(replay, [shlex.join(command) for command in dict.fromkeys(commands)])
    code = int(ExitCode.DONE)
    for command in commands:
        quiet = ["--quiet"] if replay.quiet else []
        found = run_command([*command[1:], "--out", str(target), *quiet])
        code = max(code, found)
        if found in (ExitCode.INTERRUPTED, ExitCode.USAGE):
            break
    return code


def _check_commands(records: Sequence[RunRecord]) -> None:
    for record in records:
        if record.command[:2] != RUN or any(part.startswith(WRITES) for part in record.command):
            raise UsageError(f"A record names {shlex.join(record.command)!r}, which is no run to repeat.")


def _ask(replay: Replay, lines: Sequence[str]) -> None:
    """Show what will run, and have it allowed.

    Raises:
        UsageError: nobody can be asked, and ``--yes`` was not given.
    """
    stdout_line(f"A replay of {replay.source} would run:")
    for line in lines:
        stdout_line(f"  {line}")
    if replay.assume_yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("A replay runs what the bundle names. Look at it, and allow it with --yes.")
    click.confirm("Run it?", abort=True)


def _tell_differences(material: Material, target: Path) -> None:
    """Print how the new bundle differs from the old one, software first."""
    stdout_line("")
    stdout_line(f"{material.name} (earlier) against {target} (later)")
    if material.head is not None:
        for line in _side_changes(material.head, Bundle(target).experiment()):
            stdout_line(line)
    if material.bundle is not None:
        compare_files(material.bundle.folder, target, None, None, (), force=False)


def _side_changes(earlier: ExperimentRecord, later: ExperimentRecord) -> Iterator[str]:
    before = {side.name: side for side in earlier.sides}
    for side in later.sides:
        known = before.get(side.name)
        if known is None or known.digest == side.digest:
            continue
        names = sorted(set(known.identity) | set(side.identity))
        apart = [name for name in names if known.identity.get(name) != side.identity.get(name)]
        what = ", ".join(apart) or "its files"
        yield f"! side {side.name} is not what was measured then; it differs in {what}"
