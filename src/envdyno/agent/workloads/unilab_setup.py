"""Making UniLab environments from its own configuration: assets, overrides, two generations of interface.

Facts that this file rests on, each seen with the published wheels:

- configurations name ``src/unilab/assets/...`` relative to the working folder, in the wheel too, so that a
  run needs a folder that holds it;
- meshes and motion clips are not in the wheel; a hub serves them, and they are looked for in the installed
  package (``unilab.assets.ASSETS_ROOT_PATH``);
- ``env.seed`` is drawn by chance unless it is set; the seed of the algorithm does not reach it;
- versions 1.0 to 1.3 hold NumPy arrays and have ``BackendAdapter``, later ones hold PyTorch tensors and have
  ``EnvConfigAdapter``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envdyno.agent.workloads.framework import Framework
from envdyno.agent.workloads.registry import WorkloadError

FRAMEWORK = Framework(
    "unilab", "unilab", "unilab", install="pip install 'unilab[mujoco,motrix]'", at_least="1.0"
)
REPAIRS: dict[str, tuple[str, ...]] = {
    "flashsac/go2_joystick_flat/mujoco": (
        "~reward.tracking_lin_vel.params.std",
        "~reward.tracking_ang_vel.params.std",
    ),
    "sac/g1_motion_tracking/motrix": ("training.task_name=G1MotionTracking",),
}
"""What two configurations need that were published broken."""
REPAIRED = ("1.4.0", "1.4.1", "1.5.0", "1.5.1", "1.5.2")
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


class WorkingFolder:
    """A folder that holds ``src/unilab``, entered for the life of the workload."""

    def __init__(self, package: Path, assets: str | None) -> None:
        """Enter the folder; the current one where it is a checkout and no other assets are given.

        Raises:
            WorkloadError: there is no folder of assets where one was said to be.
        """
        self._made: Path | None = None
        self.assets = package / "assets"
        if assets is not None:
            self.assets = Path(assets).expanduser().resolve()
            if not (self.assets / "robots").is_dir():
                raise WorkloadError(
                    f"unilab was given assets={assets}, and there is no folder {self.assets / 'robots'}. It "
                    "has to be laid out as UniLab's own: robots/NAME/*.xml with their meshes, motions/."
                )
        elif Path("src/unilab/assets").is_dir():
            self.assets = Path("src/unilab/assets").resolve()
            return
        self._made = Path(tempfile.mkdtemp(prefix="envdyno-unilab-"))
        (self._made / "src" / "unilab").mkdir(parents=True)
        (self._made / "src" / "unilab" / "assets").symlink_to(self.assets)
        os.chdir(self._made)

    def close(self) -> None:
        """Remove the folder if it was made."""
        if self._made is not None:
            os.chdir("/")
            shutil.rmtree(self._made, ignore_errors=True)


def compose(case: Case, num_envs: int, seed: int, overrides: Sequence[str]) -> Any:
    """Return UniLab's configuration of a case.

    Raises:
        WorkloadError: there is no such case, or an override does not fit.
    """
    unilab, hydra = FRAMEWORK.load(), FRAMEWORK.load("hydra")
    folder = Path(unilab.__file__).parent / "conf" / case.algorithm
    if not folder.is_dir():
        has = ", ".join(sorted(path.name for path in folder.parent.iterdir() if path.is_dir()))
        raise WorkloadError(f"UniLab has no algorithm {case.algorithm!r}; it has: {has}.")
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


def make_env(case: Case, config: Any, num_envs: int, folder: WorkingFolder) -> Any:
    """Return the environment of a configuration, its state made.

    Raises:
        WorkloadError: an asset cannot be had; the text names it.
    """
    # A missing asset fails at once, instead of waiting for a hub.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    assets, hub = FRAMEWORK.load("unilab.assets"), FRAMEWORK.load("unilab.assets.hub")
    assets.ASSETS_ROOT_PATH = hub.ASSETS_ROOT_PATH = folder.assets
    FRAMEWORK.load("unilab.base.registry").ensure_registries()
    adapters = FRAMEWORK.load("unilab.base.config_adapter")
    adapter = getattr(adapters, "EnvConfigAdapter", None) or getattr(adapters, "BackendAdapter", None)
    if adapter is None:
        raise WorkloadError(
            f"UniLab {FRAMEWORK.version()} has neither EnvConfigAdapter nor BackendAdapter; this adapter "
            "knows the layouts of 1.0 to 1.5."
        )
    override = adapter(config, root_dir=Path.cwd(), algo_name=case.algorithm).build_task_env_cfg_override()
    try:
        env = adapters.create_env(config, num_envs=num_envs, env_cfg_override=override)
        if env.state is None:
            env.init_state()
    except Exception as error:
        if missing := missing_asset(error):
            raise WorkloadError(
                f"{case.name} needs an asset that is not there: {missing}. UniLab's wheel holds no meshes "
                "and no motion clips. Let UniLab fetch them (unilab-pull-assets), or give a folder that has "
                "them: -o assets=DIR, laid out as unilab/assets."
            ) from error
        raise
    return env


def missing_asset(error: BaseException | None) -> str | None:
    """Return what an error says is missing, if it or one of its causes is about a file."""
    while error is not None:
        names = {kind.__name__ for kind in type(error).__mro__}
        text = " ".join(str(error).split())
        if names & {"FileNotFoundError", "LocalEntryNotFoundError", "OfflineModeIsEnabled"}:
            return text
        if isinstance(error, ValueError) and "opening file" in text:  # MuJoCo's compiler
            return text
        error = error.__cause__ or error.__context__
    return None
