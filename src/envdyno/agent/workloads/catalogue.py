"""The adapters that come with envdyno, by name. Importing this imports no framework."""

from __future__ import annotations

from envdyno.agent.workloads.registration import Naming, Registration


def _physics(name: str, engine: str, requires: tuple[str, ...], install: str) -> Registration:
    return Registration(
        name,
        f"envdyno.agent.workloads.{name}:build",
        f"physics only, by {engine}: any MJCF file, or the models go2 and g1",
        naming=Naming.PREFIX,
        requires=requires,
        install=f"pip install {install}",
        group="adapters",
    )


ADAPTERS: tuple[Registration, ...] = (
    Registration(
        "gymnasium",
        "envdyno.agent.workloads.gymnasium:build",
        "any Gymnasium environment as a vector: an id, or module:factory of a VectorEnv",
        naming=Naming.PREFIX,
        requires=("gymnasium",),
        install="pip install 'gymnasium[mujoco]>=1.1'",
        group="adapters",
    ),
    Registration(
        "envpool",
        "envdyno.agent.workloads.envpool:build",
        "EnvPool's tasks on its thread pool, synchronous or asynchronous",
        naming=Naming.PREFIX,
        requires=("envpool",),
        install="pip install 'envpool>=1.0'",
        group="adapters",
    ),
    Registration(
        "motrixlab",
        "envdyno.agent.workloads.motrixlab:build",
        "environments of MotrixLab's registry: a name, or module:name to import the module first",
        naming=Naming.PREFIX,
        requires=("motrix-env-core", "motrix-env-motrixsim"),
        install="pip install 'motrix-env-core[numba,tbb]>=0.4' 'motrix-env-motrixsim>=0.4'",
        group="adapters",
    ),
    _physics("mujoco_rollout", "MuJoCo's own batch stepper", ("mujoco",), "'mujoco>=3.3'"),
    _physics("mjbatch", "mjbatch", ("mjbatch", "mujoco"), "'mjbatch>=0.1.4'"),
    _physics(
        "mujoco_uni",
        "mujoco-uni-runtime's pool",
        ("mujoco-uni-runtime", "mujoco"),
        "'mujoco-uni-runtime>=0.3'",
    ),
    _physics("motrixsim", "MotrixSim", ("motrixsim",), "'motrixsim>=0.8'"),
)
