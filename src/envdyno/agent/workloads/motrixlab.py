"""MotrixLab: environments of its registry, direct and manager style.

``motrixlab:NAME`` makes a registered environment, ``motrixlab:module:NAME`` imports the module that registers
it first; MotrixLab's own wheels register none. Rows reset in the step that ends them, so that every row of
every step is a transition. Its perf scopes are the phases of an attribution run, with ``transition`` as
``update_state`` and ``reset`` as ``reset_done``.

Facts that this file rests on, each seen with motrix-env-core 0.4:

- manager style compiles its kernels when the state is first made; they are kept on disk, so that one process
  compiles and the others wait for it;
- the registry's ``seed`` reaches manager style only; direct style draws from NumPy's global generator, which
  is seeded here;
- rewards and ends are buffers that the next step overwrites: they are counted at once.
"""

from __future__ import annotations

import sys
from typing import Any

from envdyno.agent.measure.framework_timers import scope_totals
from envdyno.agent.workloads.array_rows import ArrayRows
from envdyno.agent.workloads.compile_turn import compile_turn
from envdyno.agent.workloads.contract import (
    ArraySpec,
    Autoreset,
    BuildContext,
    PhaseTotal,
    Tally,
    WorkloadSpec,
    WorkTotals,
)
from envdyno.agent.workloads.framework import Framework, import_user_module, split_target
from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.options import one_of, refusing_values, truth, whole
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.vector_env import space_spec

FRAMEWORK = Framework.of("motrixlab", "motrix_env_core")
PHASE_NAMES = {"step": "env_step", "transition": "update_state", "reset": "reset_done"}


class MotrixLabWorkload:
    """An ``ArrayEnv`` whose state has been made."""

    def __init__(self, env: Any, spec: WorkloadSpec, *, timed: bool) -> None:
        """Step ``env``; with its perf scopes on where the run is ``timed``."""
        self.spec = spec
        self._env = env
        self._step = env.step
        self._substeps = (spec.substeps or 0) * spec.num_envs
        self._steps = 0
        self._rows = ArrayRows(spec.num_envs, Autoreset.SAME_STEP)
        self._advanced_rows = 0
        self.count_inside: Any = None
        self.phases = self._phases if timed else None
        if timed:
            env.perf.enable()

    def step(self, actions: Any) -> Tally:
        """Take one vector step."""
        state = self._step(actions)
        self._steps += 1
        return self._rows.count(state.reward, state.terminated, state.truncated)

    def observation(self) -> Any:
        """Return the latest observations by group."""
        obs = self._env.state.obs
        return {"policy": obs.policy} if obs.value is None else {"policy": obs.policy, "value": obs.value}

    def work(self) -> WorkTotals:
        """Return running totals."""
        return WorkTotals(
            episode_steps=self._rows.episode_steps,
            substeps=self._substeps * self._steps,
            dispatches=self._steps,
        )

    def watch_physics(self) -> None:
        """Count, besides, the rows that the environment's physics advances."""
        inner = self._env.physics_step

        def physics_step() -> None:
            inner()
            self._advanced_rows += self.spec.num_envs

        self._env.physics_step = physics_step
        self.count_inside = lambda: self._advanced_rows

    def _phases(self) -> tuple[PhaseTotal, ...]:
        return scope_totals(self._env.perf.snapshot(), PHASE_NAMES)


def import_framework(**_options: object) -> None:
    """Import MotrixLab."""
    FRAMEWORK.load("motrix_env_core.registry")


def build(
    num_envs: int,
    seed: int,
    target: str,
    context: BuildContext,
    *,
    sim: str | None = None,
    mode: str = "train",
    sim_threads: int | None = None,
    pin_sim_threads: bool = False,
    **config: Any,
) -> MotrixLabWorkload:
    """Build an environment and make its state, compiled kernels included.

    Args:
        num_envs: rows.
        seed: of the environment, and of NumPy's global generator.
        target: ``NAME`` or ``module:NAME``.
        context: tells the CPUs, and whether phases are timed.
        sim: simulator by MotrixLab's name; its default when not given.
        mode: train or play.
        sim_threads: size of MotrixSim's pool. When not given the pool is MotrixSim's own choice: a thread for
            each CPU that the worker may use, pinned to it.
        pin_sim_threads: whether each of ``sim_threads`` is pinned to a CPU.
        config: attributes of the environment's configuration.

    Raises:
        WorkloadError: there is no such environment, or it has no such attribute.
    """
    registry = FRAMEWORK.load("motrix_env_core.registry")
    module, name = split_target(target)
    if module is not None:
        import_user_module("motrixlab", module)
    if not registry.contains(name):
        raise WorkloadError(_unknown(name, registry.list_registered_envs()))
    one_of("motrixlab", "mode", mode, ("train", "play"))
    pin = truth("motrixlab", "pin_sim_threads", pin_sim_threads)
    if sim_threads is not None:
        _make_pool(whole("motrixlab", "sim_threads", sim_threads), context, pin=pin)
    _seed_numpy(seed)
    with refusing_values(f"motrixlab:{target}", {"sim": sim, **config}):
        env = registry.make(name, config or None, num_envs=num_envs, mode=mode, sim=sim, seed=seed)
    if not hasattr(env, "init_state"):
        raise WorkloadError(
            f"{name} is a {type(env).__name__}; this adapter steps MotrixLab's array environments (direct "
            "and manager style), which have init_state()."
        )
    with refusing_values(f"motrixlab:{target}", {"sim": sim, **config}), compile_turn():
        env.init_state()
    spec = _spec(env, name, module, mode, sim_threads)
    workload = MotrixLabWorkload(env, spec, timed=context.attribution)
    if context.check:
        workload.watch_physics()
    return workload


def _unknown(name: str, registered: dict[str, Any]) -> str:
    if registered:
        return (
            f"MotrixLab has no environment {name!r}.{did_you_mean(name, registered)} It has: "
            f"{', '.join(sorted(registered))}."
        )
    return (
        f"MotrixLab has no environment {name!r}, and none at all: its own packages register none. Name the "
        f"module that registers yours, as motrixlab:MODULE:{name}."
    )


def _make_pool(threads: int, context: BuildContext, *, pin: bool) -> None:
    motrixsim = FRAMEWORK.load("motrixsim")
    pins = {}
    if pin:
        pins["core_ids"] = list(context.cpus[:threads])
    try:
        motrixsim.init_thread_pool(num_threads=threads, **pins)
    except RuntimeError as error:
        raise WorkloadError(
            f"MotrixSim's pool cannot be made with {threads} threads: {error}. It is made once a process, "
            "before any model is loaded; does your module load one when it is imported?"
        ) from error


def _seed_numpy(seed: int) -> None:
    import numpy as np

    np.random.seed(seed % 2**32)


def _spec(env: Any, name: str, module: str | None, mode: str, sim_threads: int | None) -> WorkloadSpec:
    spaces = {"policy": env.policy_observation_space}
    if env.has_value_observation:
        spaces["value"] = env.value_observation_space
    observation: dict[str, ArraySpec] = {}
    for group, space in spaces.items():
        spec = space_spec(space)
        if spec is not None:
            observation[group] = spec
    own = type(env).__module__.partition(".")[0]
    simulators = [known for known in ("motrixsim", "mujoco") if known in sys.modules]
    return WorkloadSpec(
        num_envs=env.num_envs,
        action=space_spec(env.action_space),
        observation=observation,
        autoreset=Autoreset.SAME_STEP,
        substeps=env.cfg.sim_substeps,
        step_dt_s=float(env.cfg.ctrl_dt),
        episode_limit_steps=env.cfg.max_episode_steps,
        threads=sim_threads,
        details={
            "name": name,
            "style": _style(env),
            "simulator": getattr(getattr(env, "sim", None), "name", None),
            "mode": mode,
        },
        modules_under_test=tuple(
            dict.fromkeys((own, *([module] if module else []), "motrix_env_core", *simulators))
        ),
    )


def _style(env: Any) -> str:
    bases = {base.__name__ for base in type(env).__mro__}
    return "manager" if "ManagerEnv" in bases else "direct" if "DirectEnv" in bases else "array"
