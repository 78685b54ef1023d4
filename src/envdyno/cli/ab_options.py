"""The options that describe an experiment, shared by ``ab`` and ``plan``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from envdyno.cli.assets import assets_option, with_assets

_F = TypeVar("_F", bound=Callable[..., Any])


def experiment_options(command: _F) -> _F:
    """Add the options that describe an experiment to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: tuple[Callable[[_F], _F], ...] = (
    click.argument("cases", nargs=-1),
    click.option(
        "--plan",
        "plan_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A plan file; flags add to it. It may stand in the place of CASES, too.",
    ),
    click.option(
        "--base", metavar="REF", help="The side that ratios are relative to: a git ref, or a side's part."
    ),
    click.option(
        "--head", metavar="REF", help="The side that is compared with it.  [default: the working tree]"
    ),
    click.option(
        "--side", "sides", multiple=True, metavar="NAME=PART", help="A side, or one more part of it."
    ),
    click.option(
        "-o",
        "--option",
        "options",
        multiple=True,
        metavar="[NAME:]KEY=VALUE",
        help="An option of the workload, for one side or for all.",
    ),
    assets_option,
    click.option(
        "--env",
        "env",
        multiple=True,
        metavar="NAME:VARIABLE=VALUE",
        help="An environment variable of one side.",
    ),
    click.option(
        "--axis",
        "axes",
        multiple=True,
        metavar="KEY=VALUE,VALUE",
        help="An option with several values; each makes a case.",
    ),
    click.option("-n", "--num-envs", type=int, multiple=True, help="Total batch; several make a case each."),
    click.option(
        "--pairs",
        metavar="N or N..M",
        help="Pairs of each case; with N..M until it is decided.  [default: 6]",
    ),
    click.option(
        "--budget", metavar="TIME", help="Begin no further pair after this time of measuring, such as 20m."
    ),
    click.option(
        "--order",
        type=click.Choice(["counterbalanced", "blocked"]),
        help="Order of the sides.  [default: counterbalanced]",
    ),
    click.option("--attribution-pairs", type=int, help="Further pairs with phases timed.  [default: 3]"),
    click.option("--duration", metavar="TIME", help="Length of each window.  [default: 10s]"),
    click.option("--warmup", type=int, help="Vector steps of warm-up.  [default: 30]"),
    click.option("--seed", type=int, help="Seed of environments and actions.  [default: 0]"),
    click.option(
        "--actions",
        type=click.Choice(["random", "zero", "fixed"]),
        help="Where actions come from.  [default: random]",
    ),
    click.option("--numa", help="As for envdyno run.  [default: auto]"),
    click.option("--cpus", help="As for envdyno run."),
    click.option("--workers-per-node", type=int, help="As for envdyno run.  [default: 1]"),
    click.option("--phase-cpu", is_flag=True, default=None, help="Time phases in CPU time too."),
    click.option(
        "--probe", "probes", multiple=True, metavar="NAME=MODULE:CALLABLE", help="Time a callable as a phase."
    ),
    click.option(
        "--hardware-counters",
        type=click.Choice(["auto", "off"]),
        help="As for envdyno run.  [default: auto]",
    ),
    click.option(
        "--gate", "min_ratio", type=float, metavar="RATIO", help="Judge the ratio against this bound."
    ),
    click.option(
        "--rule",
        type=click.Choice(["interval", "point"]),
        help="How the gate judges; there has to be one.  [default: interval]",
    ),
    click.option(
        "--aa", is_flag=True, default=None, help="The same software on both sides, to measure noise."
    ),
    click.option(
        "--allow-dependency-faults",
        is_flag=True,
        default=None,
        help="A side may lack what its own metadata asks for.",
    ),
    click.option(
        "--allow-package-diff", is_flag=True, default=None, help="Packages may differ without being named."
    ),
    click.option(
        "--allow-dirty",
        is_flag=True,
        default=None,
        help="Let the gate judge a working tree with uncommitted changes.",
    ),
    click.option(
        "--wait-idle", metavar="TIME", help="Wait up to this long for a quiet machine before each run."
    ),
    click.option(
        "--foreign-load-limit",
        type=float,
        help="Cores of other work that mark a run as disturbed.  [default: 0.1]",
    ),
    click.option("--retries", type=int, help="How often a failed run is repeated.  [default: 0]"),
    click.option(
        "--disturbed-repeats", type=int, help="How often a disturbed run is repeated.  [default: 3]"
    ),
)


def flags_of(arguments: dict[str, Any]) -> Any:
    """Return the options as the plan takes them."""
    from envdyno.plan.flags import PlanFlags

    settings = {
        "experiment.num_envs": arguments["num_envs"] or None,
        "experiment.pairs": arguments["pairs"],
        "experiment.budget": arguments["budget"],
        "experiment.order": arguments["order"],
        "experiment.attribution_pairs": arguments["attribution_pairs"],
        "experiment.aa": arguments["aa"],
        "experiment.allow_dependency_faults": arguments["allow_dependency_faults"],
        "experiment.allow_package_diff": arguments["allow_package_diff"],
        "experiment.wait_idle": arguments["wait_idle"],
        "experiment.retries": arguments["retries"],
        "experiment.disturbed_repeats": arguments["disturbed_repeats"],
        "experiment.seed": arguments["seed"],
        "measure.window": arguments["duration"],
        "measure.warmup_steps": arguments["warmup"],
        "measure.actions": arguments["actions"],
        "measure.phase_cpu": arguments["phase_cpu"],
        "measure.probes": arguments["probes"] or None,
        "measure.hardware_counters": arguments["hardware_counters"],
        "measure.foreign_load_limit_cores": arguments["foreign_load_limit"],
        "placement.numa": arguments["numa"],
        "placement.cpus": arguments["cpus"],
        "placement.workers_per_node": arguments["workers_per_node"],
        "gate.min_ratio": arguments["min_ratio"],
        "gate.rule": arguments["rule"],
        "gate.allow_dirty": arguments["allow_dirty"],
    }
    return PlanFlags(
        cases=arguments["cases"],
        base=arguments["base"],
        head=arguments["head"],
        sides=arguments["sides"],
        options=with_assets(arguments["options"], arguments["assets"]),
        env=arguments["env"],
        axes=arguments["axes"],
        settings=settings,
    )


def plan_file_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with a plan file that stood in the place of a case moved to its own."""
    cases = arguments["cases"]
    if arguments["plan_file"] is None and len(cases) == 1 and cases[0].endswith(".toml"):
        return {**arguments, "plan_file": Path(cases[0]), "cases": ()}
    return arguments


def load(arguments: dict[str, Any]) -> Any:
    """Return the plan that the options and the plan file make together.

    Raises:
        PlanError: it cannot be read, or does not fit together.
    """
    from envdyno.plan.read_plan import load_plan, plan_from_flags

    given = plan_file_of(arguments)
    flags = flags_of(given)
    if given["plan_file"] is not None:
        return load_plan(given["plan_file"], flags)
    return plan_from_flags(flags, Path.cwd())
