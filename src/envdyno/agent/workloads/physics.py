"""Physics alone: a batch of one model, advanced by an engine's own batch stepper under held controls.

The adapters of bare engines share the workload here. There are no episodes: every row of every vector step
is a transition of ``substeps`` physics steps. Rows that an engine finds unstable are counted as rows that
are not finite, for every engine puts such a row back to its start instead of handing out NaN.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.contract import (
    Autoreset,
    BuildContext,
    ContactSample,
    Tally,
    WorkloadSpec,
    WorkTotals,
)
from envdyno.agent.workloads.options import truth, whole
from envdyno.agent.workloads.registry import WorkloadError

BUILT_IN_ROBOTS = ("go2", "g1")
"""Models that come with envdyno; any other target is a file."""


@dataclass(frozen=True)
class BatchRequest:
    """What an engine is asked to step."""

    num_envs: int
    substeps: int
    threads: int
    cpus: tuple[int, ...]
    """CPUs to pin the threads to, one each; empty for no pins."""
    keyframe: str | int | None
    """State to begin from; the model's initial state when not given."""


class BatchEngine(Protocol):
    """A batch of one model."""

    @property
    def spec(self) -> WorkloadSpec:
        """What was built."""
        ...

    def advance(self, controls: Any) -> int:
        """Take all substeps with the controls held; return the rows that became unstable."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return positions and velocities."""
        ...

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the latest states."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


@dataclass(frozen=True)
class ModelSource:
    """Where a model comes from: a file, or a text that comes with envdyno."""

    name: str
    path: Path | None
    text: str

    @property
    def digest(self) -> str:
        """Return the first digits of the SHA-256 of the text, files that it includes left out."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def model_source(adapter: str, target: str) -> ModelSource:
    """Return the model that a target names.

    Raises:
        WorkloadError: there is no such file.
    """
    path = Path(target).expanduser()
    if path.is_file():
        return ModelSource(path.name, path.resolve(), path.read_text(encoding="utf-8", errors="replace"))
    if target in BUILT_IN_ROBOTS:
        from envdyno.suite.robots.g1 import G1
        from envdyno.suite.robots.go2 import GO2

        robot = {"go2": GO2, "g1": G1}[target]
        return ModelSource(robot.mjcf, None, robot.xml())
    raise WorkloadError(
        f"{adapter} steps a model file, and there is none at {path.absolute()}. Give the path of an MJCF "
        f"file, as {adapter}:scene.xml, or one of the models that come with envdyno: "
        f"{', '.join(BUILT_IN_ROBOTS)}."
    )


def batch_request(
    adapter: str,
    num_envs: int,
    context: BuildContext,
    *,
    substeps: int = 1,
    threads: int | None = None,
    pin: bool = False,
    keyframe: str | int | None = None,
) -> BatchRequest:
    """Check the options that every bare engine takes.

    Raises:
        WorkloadError: a value that cannot be.
    """
    count = context.threads if threads is None else whole(adapter, "threads", threads)
    cpus: tuple[int, ...] = ()
    if truth(adapter, "pin", pin):
        cpus = context.cpus[:count]
        if len(cpus) < count:
            raise WorkloadError(
                f"{adapter} was asked to pin {count} threads, one to a CPU, and this worker may use "
                f"{len(context.cpus)} CPUs. Give -o threads={len(context.cpus)} or less, or -o pin=false."
            )
    return BatchRequest(num_envs, whole(adapter, "substeps", substeps), count, cpus, keyframe)


class PhysicsWorkload:
    """Steps an engine and counts what it did."""

    def __init__(self, engine: BatchEngine, substeps: int) -> None:
        """Step ``engine`` by ``substeps`` physics steps a vector step."""
        self.spec = engine.spec
        self._engine = engine
        self._advance: Callable[[Any], int] = engine.advance
        self._env_step, self._physics = phase("env_step"), phase("physics")
        self._steps = 0
        self._substeps = substeps * self.spec.num_envs
        self.count_inside: Callable[[], int] | None = getattr(engine, "steps_by_clocks", None)

    def step(self, actions: Any) -> Tally:
        """Advance every row by all substeps."""
        with self._env_step, self._physics:
            unstable = self._advance(actions)
        self._steps += 1
        return Tally(self.spec.num_envs, 0, None, unstable)

    def observation(self) -> Mapping[str, Any]:
        """Return the states of all rows."""
        return self._engine.state()

    def contacts_now(self) -> ContactSample:
        """Return the contacts in the latest states."""
        return self._engine.contacts_now()

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(substeps=self._substeps * self._steps, dispatches=self._steps)

    def close(self) -> None:
        """Release the engine."""
        self._engine.close()


def physics_workload(
    adapter: str,
    engine: Callable[[ModelSource, BatchRequest], BatchEngine],
    num_envs: int,
    target: str,
    context: BuildContext,
    **options: Any,
) -> PhysicsWorkload:
    """Build the workload around an engine.

    Args:
        adapter: name under which it is registered.
        engine: imports what it steps with, and makes the batch.
        num_envs: rows.
        target: path of a model, or the name of one that comes with envdyno.
        context: tells CPUs and threads.
        options: as :func:`batch_request` checks them.

    Raises:
        WorkloadError: the model cannot be read, or a value cannot be.
    """
    request = batch_request(adapter, num_envs, context, **options)
    return PhysicsWorkload(engine(model_source(adapter, target), request), request.substeps)


def physics_spec(
    request: BatchRequest, source: ModelSource, package: str, modules: tuple[str, ...], **parts: Any
) -> WorkloadSpec:
    """Return the specification of a batch; ``parts`` are action, observation, dt and more details."""
    details = {
        "engine": package,
        "model": source.name,
        "model_sha256": source.digest,
        "pinned": bool(request.cpus),
        "keyframe": request.keyframe,
        **parts.pop("details"),
    }
    return WorkloadSpec(
        num_envs=request.num_envs,
        autoreset=Autoreset.NONE,
        substeps=request.substeps,
        threads=request.threads,
        details=details,
        modules_under_test=modules,
        **parts,
    )
