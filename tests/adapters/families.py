"""Families of frameworks that can live in one environment, and what is tested in each.

Their versions contradict each other (one wants Gymnasium 1.1, another 1.4; one MuJoCo 3.11, another 3.14), so
every family has an environment of its own.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One environment: its packages, the tests that run inside, and the runs that are made from outside."""

    name: str
    requirements: tuple[str, ...]
    tests: tuple[str, ...]
    """Files of tests beside this one."""
    runs: tuple[tuple[str, ...], ...] = ()
    """Arguments of ``envdyno run`` and ``envdyno check``, made from envdyno's own environment."""
    slow_runs: tuple[tuple[str, ...], ...] = ()
    """Runs that are made only when the slow tests are asked for."""
    quick: bool = False
    """Whether it installs and runs in a minute, so that every change is tested with it."""
    first: tuple[str, ...] = ()
    """Requirements that pip installs before the others."""
    without_dependencies: tuple[str, ...] = ()
    """Requirements whose own ones are not installed, for they contradict the others."""
    prepare: str = ""
    """Script beside this file that makes what the runs need, in the folder that stands for ``{prepared}``."""
    folder: str = ""
    """Working folder of the runs, relative to the repository."""
    rows: int = 8
    """Environments of each of the runs."""

    @property
    def digest(self) -> str:
        """Return what the environment is cached by."""
        parts = (sys.version, *self.first, "-", *self.requirements, "-", *self.without_dependencies)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


_AROUND_UNILAB_1_3 = (
    "numpy",
    "hydra-core",
    "omegaconf",
    "gymnasium",
    "tensordict",
    "rich",
    "tqdm",
    "packaging",
    "huggingface-hub>=0.25",
    "imageio",
    "etils",
    "prettytable",
    "lark>=1.3.1",
)
"""What that version imports. Its own requirements ask for an older PyTorch than it needs."""

_UNILAB_RUNS, _SLOW_UNILAB_RUNS = (
    tuple((f"unilab:{case}", "--assets", "{prepared}") for case in cases)
    for cases in (
        ("flashsac/go2_joystick_flat/mujoco", "flashsac/g1_walk_flat/motrix"),
        (
            "flashsac/g1_walk_flat/mujoco",
            "sac/g1_walk_flat/mujoco",
            "sac/g1_walk_flat/motrix",
            "sac/g1_motion_tracking/mujoco",
            "sac/g1_motion_tracking/motrix",
        ),
    )
)
"""UniLab's reference cases; the second ones compile in some version, for up to two minutes."""

FAMILIES = (
    Family(
        "gymnasium",
        ("gymnasium[mujoco]==1.4.0",),
        ("test_gymnasium.py",),
        (
            ("gymnasium:CartPole-v1",),
            ("gymnasium:CartPole-v1", "-o", "vectorization_mode=async", "-o", "autoreset_mode=same_step"),
            ("gymnasium:Ant-v5", "-o", "vectorization_mode=sync", "-o", "autoreset_mode=disabled"),
        ),
        quick=True,
    ),
    Family("gymnasium-1.1", ("gymnasium==1.1.1",), ("test_gymnasium.py",), (("gymnasium:CartPole-v1",),)),
    Family(
        "mjbatch",
        ("mjbatch==0.1.4",),
        ("test_bare_engines.py",),
        (("mjbatch:go2", "-o", "substeps=4"), ("mujoco_rollout:g1",)),
        quick=True,
    ),
    Family(
        "mujoco-uni",
        ("mujoco-uni-runtime==0.5.0",),
        ("test_bare_engines.py",),
        (("mujoco_uni:go2", "-o", "substeps=4"),),
        quick=True,
    ),
    Family(
        "envpool",
        ("envpool==1.2.5", "gymnasium", "dm_env"),
        ("test_envpool.py",),
        (("envpool:Ant-v5",), ("envpool:CartPole-v1", "-o", "batch_size=2", "-o", "env_type=dm")),
    ),
    Family(
        "motrixlab",
        ("motrix-env-core[numba,tbb]==0.4.0", "motrix-env-motrixsim==0.4.0"),
        ("test_motrixlab.py", "test_bare_engines.py"),
        (
            ("motrixlab:go2_direct:go2-stand-direct",),
            ("motrixlab:go2_manager:go2-stand-manager",),
            ("motrixsim:go2", "-o", "substeps=4"),
        ),
        folder="examples/motrixlab",
    ),
    Family(
        "torchrl",
        ("torchrl==0.14.1", "gymnasium==1.4.0", "psutil"),
        ("test_torchrl.py", "test_pufferlib.py"),
        (("torchrl:CartPole-v1",), ("pufferlib:CartPole-v1",)),
        first=("torch==2.13.0",),
        without_dependencies=("pufferlib-core==3.0.23",),
    ),
    Family(
        "mjlab",
        ("mjlab==1.6.0",),
        ("test_mjlab.py",),
        slow_runs=(("mjlab:Mjlab-Velocity-Flat-Unitree-Go1", "-o", "device=cpu"),),
        first=("torch==2.13.0",),
    ),
    Family("brax", ("brax==0.14.2",), ("test_brax.py",), (("brax:fast",),)),
    Family(
        "playground",
        ("playground==0.2.0",),
        ("test_playground.py",),
        (("playground:CartpoleBalance", "-o", "episode_length=50"),),
    ),
    Family(
        "maniskill",
        ("mani_skill==3.0.1",),
        ("test_maniskill.py",),
        (
            (
                "maniskill:counted_maniskill:EndsBothWays-v1",
                *("-o", "sim_backend=physx_cpu", "-o", "render_backend=none"),
            ),
        ),
        first=("torch==2.13.0",),
        folder="tests/adapters/worlds",
        rows=1,
    ),
    Family(
        "unilab",
        ("unilab[mujoco,motrix]==1.5.2",),
        ("test_unilab.py",),
        _UNILAB_RUNS,
        _SLOW_UNILAB_RUNS,
        first=("torch==2.13.0",),
        prepare="worlds/unilab_assets.py",
    ),
    Family(
        "unilab-1.3",
        (*_AROUND_UNILAB_1_3, "numba>=0.67", "mujoco==3.11.0"),
        ("test_unilab.py",),
        _UNILAB_RUNS,
        _SLOW_UNILAB_RUNS,
        first=("torch==2.13.0",),
        without_dependencies=(
            "unilab==1.3.0",
            "unilab-rl==1.2.0",
            "mjbatch-uni==0.2.1",
            "motrixsim-core==0.8.2",
            "unisim-core==1.4.0",
        ),
        prepare="worlds/unilab_assets.py",
    ),
)
