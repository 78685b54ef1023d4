"""UniLab: an environment of its own configuration, alone or in the loop of its off-policy collector.

``unilab:ALGORITHM/TASK/BACKEND``, for example ``unilab:flashsac/go2_joystick_flat/mujoco``. A vector step is
what UniLab's collector does with each batch of actions (``unilab/rl/runtime/offpolicy/worker.py``): step the
environment, extract the transition with its terminal observations, write it into UniLab's own replay buffer.
Choosing actions is left out: they come from the ring. Rows reset in the step that ends them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from envdyno.agent.measure.framework_timers import UNILAB_TIMERS, StepTimers
from envdyno.agent.measure.phases import phase
from envdyno.agent.workloads.array_rows import ArrayRows
from envdyno.agent.workloads.compile_turn import compile_turn
from envdyno.agent.workloads.contract import (
    ArraySpec,
    Autoreset,
    BuildContext,
    Tally,
    WorkloadSpec,
    WorkTotals,
)
from envdyno.agent.workloads.options import truth, whole
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab_assets import WorkingFolder
from envdyno.agent.workloads.unilab_layout import FRAMEWORK, installed_layout
from envdyno.agent.workloads.unilab_replay import ReplayWriter
from envdyno.agent.workloads.unilab_setup import Case, collector_threads, compose, make_env
from envdyno.agent.workloads.vector_env import space_spec


class UniLabWorkload:
    """An environment whose state has been made, and where wanted the replay buffer behind it."""

    def __init__(
        self, env: Any, spec: WorkloadSpec, folder: WorkingFolder, writer: ReplayWriter | None, *, timed: bool
    ) -> None:
        """Step ``env`` and write to ``writer``; add up UniLab's timers where the run is ``timed``."""
        self.spec = spec
        self._env, self._folder, self._writer = env, folder, writer
        self._tensors = not _is_numpy(env.state.reward)
        self._rows = ArrayRows(spec.num_envs, Autoreset.SAME_STEP)
        self._substeps = (spec.substeps or 0) * spec.num_envs
        self._steps = self._done_rows = 0
        self._env_step = phase("env_step")
        self._timers = StepTimers(UNILAB_TIMERS) if timed else None
        self.phases = self._timers.totals if self._timers is not None else None
        self.make_actions = self._tensor_actions if self._tensors else None
        self.count_inside: Callable[[], int] | None = None

    def step(self, actions: Any) -> Tally:
        """Step the environment, and write the transition."""
        with self._env_step:
            state = self._env.step(actions)
        self._steps += 1
        if self._timers is not None:
            self._timers.add(state.info["timing"])
        if self._writer is not None:
            self._writer.write(actions, state)
        if not self._tensors:
            return self._rows.count(state.reward, state.terminated, state.truncated)
        return self._rows.count(*(one.detach().cpu().numpy() for one in _counted(state)))

    def watch_updates(self) -> None:
        """Count, besides, the rows whose state the environment brings up to date after its physics."""
        inner, advanced = self._env.update_state, [0]

        def update_state(state: Any) -> Any:
            advanced[0] += self.spec.num_envs
            return inner(state)

        self._env.update_state = update_state
        self.count_inside = lambda: advanced[0]

    def _tensor_actions(self, *, source: str, seed: int, batches: int) -> list[Any]:
        """Return the ring as contiguous 32-bit tensors, which is all that these versions take."""
        from envdyno.agent.measure.actions import ActionSource, action_ring

        torch = FRAMEWORK.load("torch")
        ring = action_ring(self.spec.action, self.spec.num_envs, ActionSource(source), seed)
        return [torch.from_numpy(batch).to(self._env.device) for batch in ring[:batches]]

    def observation(self) -> Any:
        """Return the latest observations by group."""
        return self._env.state.obs

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(
            episode_steps=self._rows.episode_steps,
            substeps=self._substeps * self._steps,
            dispatches=self._steps,
        )

    def close(self) -> None:
        """Close everything; the engine's threads go with the environment."""
        self._env.close()
        self._env = None
        self._folder.close()


def _counted(state: Any) -> tuple[Any, Any, Any]:
    return state.reward, state.terminated, state.truncated


def _is_numpy(array: Any) -> bool:
    return type(array).__module__ == "numpy"


def import_framework(**_options: object) -> None:
    """Import UniLab and what its configuration needs."""
    FRAMEWORK.load("torch")
    FRAMEWORK.load("hydra")
    installed_layout()


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    replay: bool = True,
    replay_steps: int = 64,
    torch_threads: int | None = None,
    assets: str | None = None,
    overrides: str | Sequence[str] = (),
) -> UniLabWorkload:
    """Build an environment from UniLab's configuration, and its replay buffer.

    Args:
        num_envs: rows.
        seed: of the environment, and of NumPy's and PyTorch's global generators.
        target: ``ALGORITHM/TASK/BACKEND``.
        context: tells the CPUs, and whether phases are timed.
        replay: whether transitions are written into UniLab's replay buffer.
        replay_steps: vector steps that the buffer holds.
        torch_threads: PyTorch's threads; by UniLab's configuration when not given, which takes a sixteenth of
            the CPUs, at least 1 and at most 4.
        assets: folder laid out as ``unilab/assets``, with meshes and motion clips.
        overrides: Hydra overrides, one text or several.

    Raises:
        WorkloadError: the case, an override or an asset is not there.
    """
    case = Case.parse(target)
    if torch_threads is not None:
        whole("unilab", "torch_threads", torch_threads)
    package, layout = FRAMEWORK.load(), installed_layout()
    config = compose(case, num_envs, seed, overrides.split() if isinstance(overrides, str) else overrides)
    threads = collector_threads(layout, config, len(context.cpus), torch_threads)
    _seed(seed)
    folder = WorkingFolder(_folder_of(package), assets)
    try:
        with compile_turn():
            env = make_env(layout, case, config, num_envs, folder)
        spec = _spec(env, case, threads, num_envs)
        writer = None
        if truth("unilab", "replay", replay):
            writer = ReplayWriter(layout, env, num_envs, whole("unilab", "replay_steps", replay_steps, 2))
    except BaseException:
        folder.close()
        raise
    workload = UniLabWorkload(env, spec, folder, writer, timed=context.attribution)
    if context.check:
        workload.watch_updates()
    return workload


def _folder_of(package: Any) -> Any:
    from pathlib import Path

    if package.__file__ is None:
        raise WorkloadError("The package unilab that is found is an empty folder, not UniLab.")
    return Path(package.__file__).parent


def _seed(seed: int) -> None:
    import numpy as np

    np.random.seed(seed % 2**32)
    FRAMEWORK.load("torch").manual_seed(seed)


def _spec(env: Any, case: Case, torch_threads: int, num_envs: int) -> WorkloadSpec:
    any_group = next(iter(env.state.obs.values()))
    dtype = str(any_group.dtype).rpartition(".")[2]
    return WorkloadSpec(
        num_envs=num_envs,
        action=space_spec(env.action_space),
        observation={name: ArraySpec((int(size),), dtype) for name, size in env.obs_groups_spec.items()},
        autoreset=Autoreset.SAME_STEP,
        substeps=getattr(env.cfg, "sim_substeps", None),
        step_dt_s=getattr(env.cfg, "ctrl_dt", None),
        episode_limit_steps=getattr(env.cfg, "max_episode_steps", None),
        details={
            "case": case.name,
            "tensors": not _is_numpy(env.state.reward),
            "torch_threads": torch_threads,
        },
        modules_under_test=("unilab", "unisim"),
    )
