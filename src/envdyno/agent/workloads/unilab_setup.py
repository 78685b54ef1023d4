"""Making UniLab environments from its own configuration: overrides, threads, state.

Facts that this file rests on, each seen with the published wheels:

- ``env.seed`` is drawn by chance unless it is set; the seed of the algorithm does not reach it;
- the collector sizes PyTorch's pools by ``training.torch_threads`` of the configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envdyno.agent.workloads.near import did_you_mean
from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab_assets import WorkingFolder, look_for_assets_in, missing_asset
from envdyno.agent.workloads.unilab_layout import FRAMEWORK, Layout

REPAIRS: dict[str, tuple[str, ...]] = {
    "flashsac/go2_joystick_flat/mujoco": (
        "~reward.tracking_lin_vel.params.std",
        "~reward.tracking_ang_vel.params.std",
    ),
    "sac/g1_motion_tracking/motrix": ("training.task_name=G1MotionTracking",),
}
"""What two configurations need that were published broken."""
REPAIRED = ("1.3.4", "1.3.5", "1.4.0", "1.4.1", "1.5.0", "1.5.1", "1.5.2")
"""Versions in which :data:`REPAIRS` are needed."""


@dataclass(frozen=True)
class Case:
    """One training configuration: an algorithm's, for a task on a backend."""

    algorithm: str
    task: str
    backend: str

    @classmethod
    def parse(cls, target: str) -> Case:
        """Read ``ALGORITHM/TASK/BACKEND``.

        Raises:
            WorkloadError: it is written otherwise.
        """
        parts = target.split("/")
        if len(parts) != 3 or not all(parts):
            raise WorkloadError(
                f"UniLab cases are written ALGORITHM/TASK/BACKEND, as "
                f"unilab:flashsac/go2_joystick_flat/mujoco; {target!r} is not."
            )
        return cls(*parts)

    @property
    def name(self) -> str:
        """The case as it is written."""
        return f"{self.algorithm}/{self.task}/{self.backend}"


def compose(case: Case, num_envs: int, seed: int, overrides: Sequence[str]) -> Any:
    """Return UniLab's configuration of a case.

    Raises:
        WorkloadError: there is no such case, or an override does not fit.
    """
    unilab, hydra = FRAMEWORK.load(), FRAMEWORK.load("hydra")
    folder = Path(unilab.__file__).parent / "conf" / case.algorithm
    if not folder.is_dir():
        has = sorted(path.name for path in folder.parent.iterdir() if path.is_dir())
        raise WorkloadError(
            f"UniLab has no algorithm {case.algorithm!r}.{did_you_mean(case.algorithm, has)} It has: "
            f"{', '.join(has)}."
        )
    FRAMEWORK.load("hydra.core.global_hydra").GlobalHydra.instance().clear()
    own = REPAIRS.get(case.name, ()) if FRAMEWORK.version() in REPAIRED else ()
    settings = [
        f"task={case.task}/{case.backend}",
        "hydra.run.dir=.",
        "hydra.output_subdir=null",
        f"algo.num_envs={num_envs}",
        f"++env.seed={seed % 2**31}",
        *own,
        *overrides,
    ]
    errors = (
        FRAMEWORK.load("hydra.errors").HydraException,
        FRAMEWORK.load("omegaconf.errors").OmegaConfBaseException,
    )
    try:
        with hydra.initialize_config_dir(str(folder), version_base=None):
            return hydra.compose("config", settings)
    except errors as error:
        raise WorkloadError(
            f"UniLab {FRAMEWORK.version()} cannot compose {case.name}: {str(error).strip()}"
        ) from error


def collector_threads(layout: Layout, config: Any, cpus: int, asked: int | None) -> int:
    """Size PyTorch's pools as UniLab's collector does, and return the threads that PyTorch then has.

    Thread variables of the environment are left as the placement set them: the libraries that read them are
    loaded by now.

    Args:
        layout: of the installed UniLab.
        config: a case's configuration; its ``training.torch_threads`` decides.
        cpus: CPUs that stand for the machine's.
        asked: threads that go before the configuration's.

    Raises:
        WorkloadError: the configuration's numbers are none.
    """
    torch, omegaconf = FRAMEWORK.load("torch"), FRAMEWORK.load("omegaconf").OmegaConf
    wanted = dict(omegaconf.select(config, "training.torch_threads") or {}) | {"set_env_vars": False}
    if asked is not None:
        wanted |= {"enabled": True, "collector_num_threads": asked}
    try:
        sizes = layout.thread_budget.resolve_torch_thread_runtime(wanted, cpu_count=cpus)
    except ValueError as error:
        raise WorkloadError(f"UniLab {FRAMEWORK.version()} refuses the configuration: {error}.") from error
    layout.thread_budget.apply_torch_thread_runtime(sizes, role="collector", torch_module=torch)
    return int(torch.get_num_threads())


def make_env(layout: Layout, case: Case, config: Any, num_envs: int, folder: WorkingFolder) -> Any:
    """Return the environment of a configuration, its state made.

    Raises:
        WorkloadError: an asset cannot be had; the text names it.
    """
    look_for_assets_in(folder)
    layout.ensure_registries()
    adapter = layout.config_adapter(config, root_dir=Path.cwd(), algo_name=case.algorithm)
    try:
        override = adapter.build_task_env_cfg_override()
        env = layout.create_env(config, num_envs=num_envs, env_cfg_override=override)
        if env.state is None:
            env.init_state()
    except Exception as error:
        if missing := missing_asset(error, config, folder):
            raise WorkloadError(
                f"{case.name} needs an asset that is not there: {missing}. UniLab's wheel holds no meshes "
                "and no motion clips. Let UniLab fetch them (unilab-pull-assets), or give a folder that has "
                "them: --assets DIR, laid out as unilab/assets."
            ) from error
        raise
    return env
