"""What a check found: the workload's account of itself against what was seen of it. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from envdyno.record.counted import counted

MANY_EPISODES = 1
"""Fewer ended episodes than this leave the reset path unseen."""


class Grade(str, Enum):
    """How one finding is to be taken."""

    GOOD = "good"
    NOTE = "note"
    """Nothing is wrong, and whoever reads the figures should know."""
    WRONG = "wrong"
    """What the workload says is not what it does."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    topic: str
    grade: Grade
    text: str


@dataclass(frozen=True)
class Sighting:
    """One build of a workload, as it was seen."""

    told: Mapping[str, Any]
    """The worker's message: specification, what was seen, threads, stages."""
    output_lines: int
    """Lines that it wrote to stdout and stderr."""
    output: tuple[str, ...]
    """The first of them."""
    files: tuple[str, ...]
    """New files in the working folder."""
    left_processes: int

    @property
    def spec(self) -> Mapping[str, Any]:
        """What the workload says of itself."""
        spec: Mapping[str, Any] = self.told["spec"]
        return spec

    @property
    def seen(self) -> Mapping[str, Any]:
        """What was seen of it."""
        seen: Mapping[str, Any] = self.told["seen"]
        return seen


def findings(first: Sighting, second: Sighting) -> tuple[Finding, ...]:
    """Return everything that was looked at, in the order in which it is shown."""
    return (
        _stages(first),
        *_counting(first),
        *_episodes(first),
        *_observations(first),
        *_substeps(first),
        *(Finding("seed", Grade.NOTE, note) for note in first.seen.get("notes", ())),
        _repeats(first, second),
        *_processes(first),
        *_manners(first),
    )


def _stages(first: Sighting) -> Finding:
    spent = first.told["ledger"]
    text = (
        f"imported in {spent['import']:.2f} s, built in {spent['build']:.2f} s, first step "
        f"{spent['first_step']:.3f} s, then {first.seen['steps']} vector steps of "
        f"{first.spec['num_envs']} rows"
    )
    return Finding("build", Grade.GOOD, text)


def _counting(first: Sighting) -> Iterator[Finding]:
    seen, mode = first.seen, first.spec["autoreset"]
    assumption = first.told.get("counting_assumption")
    if assumption:
        yield Finding("counting", Grade.NOTE, f"assumed: {assumption}")
    elif seen["outcomes"] == ["nothing"]:
        yield Finding("counting", Grade.NOTE, "step() tells no counts: every row is taken for a transition")
    counted, inside = seen["transitions"], seen["counted_inside"]
    rows = f"{counted:,} transitions and {seen['reset_rows']:,} reset rows ({mode or 'autoreset not told'})"
    if inside is None:
        text = f"{rows}; {seen.get('why_not_inside') or 'nothing inside the environments counts besides'}"
        yield Finding("counting", Grade.NOTE, text)
    elif inside == counted:
        text = f"{rows}; the environments counted {inside:,} themselves"
        yield Finding("counting", Grade.GOOD, text)
    else:
        text = f"{rows}, but the environments counted {inside:,} transitions themselves"
        yield Finding("counting", Grade.WRONG, text)
    if mode in ("same_step", "disabled", "none") and seen["reset_rows"]:
        text = f"with autoreset {mode} no row only resets, and {seen['reset_rows']:,} reset rows were counted"
        yield Finding("counting", Grade.WRONG, text)
    if mode == "next_step" and seen["late_resets"] and not seen["short_steps"]:
        text = (
            f"with autoreset next_step, as many rows reset as ended in the step before; in "
            f"{seen['late_resets']} of {seen['steps']} steps that was not so"
        )
        yield Finding("counting", Grade.WRONG, text)


def _episodes(first: Sighting) -> Iterator[Finding]:
    seen, limit = first.seen, first.spec["episode_limit_steps"]
    episodes, lengths = seen["episodes"], seen["work"].get("episode_steps")
    if episodes is None or first.spec["autoreset"] == "none":
        return
    if episodes < MANY_EPISODES:
        text = f"none ended in {seen['steps']} steps, so that resets were not looked at; give more --steps"
        yield Finding("episodes", Grade.NOTE, text)
        return
    if lengths is None:
        yield Finding("episodes", Grade.GOOD, f"{episodes:,} ended")
        return
    mean = lengths / episodes
    if limit is not None and mean > limit:
        text = f"{episodes:,} ended after {mean:,.1f} steps in the mean, beyond the limit of {limit:,}"
        yield Finding("episodes", Grade.WRONG, text)
        return
    yield Finding("episodes", Grade.GOOD, f"{episodes:,} ended, after {mean:,.1f} steps in the mean")


def _observations(first: Sighting) -> Iterator[Finding]:
    found, rows = first.seen["observation"], first.spec["num_envs"]
    if found is None:
        return
    told = {_plain(name): spec for name, spec in first.spec["observation"].items()}
    seen = {_plain(name): array for name, array in found.items()}
    problems = [
        problem
        for name, array in seen.items()
        if (problem := _misfit(name, array, told.get(name), rows)) is not None
    ]
    problems += [f"{name} is told and was not seen" for name in told.keys() - seen.keys()]
    if problems:
        yield Finding("observations", Grade.WRONG, "; ".join(problems))
    elif told:
        shapes = ", ".join(f"{name} {tuple(array['shape'] or ())}" for name, array in seen.items())
        yield Finding("observations", Grade.GOOD, f"as told: {shapes}")
    bad = first.seen["observation_nonfinite_rows"]
    if bad:
        yield Finding("observations", Grade.WRONG, f"{bad:,} rows hold NaN or infinity")


def _plain(name: str) -> str:
    return name.removeprefix("obs.") or name


def _misfit(name: str, array: Mapping[str, Any], told: Mapping[str, Any] | None, rows: int) -> str | None:
    if told is None:
        return None
    shape = array["shape"]
    if shape is None or shape[1:] != list(told["shape"]):
        return f"{name} has shape {shape} and is told with {list(told['shape'])} a row"
    if array["dtype"] != told["dtype"]:
        return f"{name} is {array['dtype']} and is told as {told['dtype']}"
    if shape[0] > rows:
        return f"{name} has {shape[0]} rows of {rows}"
    return None


def _substeps(first: Sighting) -> Iterator[Finding]:
    told, done = first.spec["substeps"], first.seen["work"].get("substeps")
    if told is None or done is None or not first.seen["transitions"]:
        return
    each = done / first.seen["transitions"]
    if each == told:
        yield Finding("substeps", Grade.GOOD, f"{told} physics steps in each transition, as told")
    else:
        text = f"{each:.2f} physics steps were counted for each transition, and {told} are told"
        yield Finding("substeps", Grade.NOTE, text)


def _repeats(first: Sighting, second: Sighting) -> Finding:
    keys = ("transitions", "reset_rows", "episodes", "reward_sum", "observation_hash")
    differing = [key for key in keys if first.seen[key] != second.seen[key]]
    if differing:
        words = ", ".join(key.replace("_", " ") for key in differing)
        text = (
            f"two builds with the same seed differ ({words}): runs of the two sides of a comparison do "
            "slightly different work"
        )
        return Finding("determinism", Grade.NOTE, text)
    if first.seen["observation_hash"] is None and first.seen["reward_sum"] is None:
        text = "not looked at: the workload shows neither observations nor rewards"
        return Finding("determinism", Grade.NOTE, text)
    return Finding("determinism", Grade.GOOD, "two builds with the same seed do the same")


def _processes(first: Sighting) -> Iterator[Finding]:
    audit = first.told["audit"]
    text = _census(audit["threads"], audit["pools"])
    grade = Grade.NOTE if audit["findings"] else Grade.GOOD
    problems = "; ".join(str(found.get("message", "")).rstrip(".") for found in audit["findings"])
    yield Finding("threads", grade, f"{text}; {problems}" if problems else text)
    children = first.seen["children"]
    if children:
        names = ", ".join(sorted(set(children)))
        yield Finding("processes", Grade.NOTE, f"{len(children)} of its own: {names}")
    if first.left_processes:
        text = f"{first.left_processes} were left running at the end, and had to be ended"
        yield Finding("processes", Grade.WRONG, text)


def _census(threads: Sequence[Mapping[str, Any]], pools: Sequence[Mapping[str, Any]]) -> str:
    """Return how many threads there are, in groups that add up to all of them."""
    text = counted(len(threads), "thread")
    single = len(threads) - 1 - sum(pool["threads"] for pool in pools)
    if len(threads) < 2 or single < 0:
        return text
    groups = ["the main one", *(f"a pool of {pool['threads']} x {pool['name']}" for pool in pools)]
    if single:
        groups.append(f"{single} not in a pool")
    return f"{text}: {', '.join(groups)}"


def _manners(first: Sighting) -> Iterator[Finding]:
    if first.output_lines:
        text = f"{first.output_lines} lines to stdout and stderr (kept apart, in the log): {first.output[0]}"
        yield Finding("output", Grade.NOTE, text)
    if first.files:
        yield Finding("files", Grade.NOTE, f"written into the working folder: {', '.join(first.files)}")


_LACKS: tuple[tuple[str, str], ...] = (
    ("autoreset", "how rows reset (spec.autoreset)"),
    ("substeps", "physics steps in a transition, so no substeps/s (spec.substeps)"),
    ("step_dt_s", "simulated time of a transition, so no real-time factor (spec.step_dt_s)"),
    ("observation", "shapes of observations (spec.observation)"),
    ("modules_under_test", "proof of which code ran, for comparisons (spec.modules_under_test)"),
)
_UNSEEN: tuple[tuple[str, str], ...] = (
    ("episodes", "how many episodes ended (Tally.episodes)"),
    ("reward_sum", "the mean reward (Tally.reward_sum)"),
    ("observation", "a hash of the observations, and rows that are not finite (observation())"),
)


def lacking(first: Sighting) -> tuple[str, ...]:
    """Return what a record of the workload would lack, with the part of the contract that would tell it."""
    spec, seen = first.spec, first.seen
    lacks = [words for name, words in _LACKS if not spec.get(name)]
    episodic = spec["autoreset"] != "none"
    lacks += [
        words
        for name, words in _UNSEEN
        if seen[name] is None and (episodic or name not in ("episodes", "reward_sum"))
    ]
    if episodic and "episode_steps" not in seen["work"]:
        lacks.append("mean episode length (work()['episode_steps'])")
    if spec.get("substeps") and seen.get("contacts") is None:
        lacks.append("contacts in the physics' states (contacts_now())")
    return tuple(lacks)
