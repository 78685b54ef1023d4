"""The adapters that come with envdyno, by name. Importing this imports no framework."""

from __future__ import annotations

from envdyno.agent.workloads.registration import Naming, Reach, Registration, Tells, Told
from envdyno.agent.workloads.requirement import Requirement, pip_install

_OF_EPISODES = (Told(Tells.RESETS), Told(Tells.EPISODE_LENGTHS), Told(Tells.REWARDS))
_OF_TIME = (Told(Tells.SUBSTEPS), Told(Tells.SIMULATED_TIME))
_STEP_ONLY = Told(Tells.PHASES, "env_step")
_COUNTED = Told(Tells.INSIDE_COUNT)
_OF_PHYSICS = (
    *_OF_TIME,
    Told(Tells.UNSTABLE_ROWS),
    Told(Tells.PHASES, "env_step/physics"),
    Told(Tells.CONTACTS, "sampled"),
)


def _physics(
    name: str, engine: str, requires: tuple[Requirement, ...], *limits: str, counts_inside: bool = True
) -> Registration:
    return Registration(
        name,
        f"envdyno.agent.workloads.{name}:build",
        f"physics only, by {engine}: any MJCF file, or the models go2 and g1",
        naming=Naming.PREFIX,
        requires=requires,
        install=pip_install(requires[0]),
        group="adapters",
        tells=(*_OF_PHYSICS, *([_COUNTED] if counts_inside else [])),
        limits=("No episodes: a robot that falls stays down.", *limits),
        example=f"{name}:go2 -o substeps=4 --num-envs 4096",
    )


def _adapter(
    name: str,
    summary: str,
    requires: tuple[Requirement, ...],
    install: str,
    tells: tuple[Told, ...],
    *limits: str,
    example: str,
    factory: str = "",
    reach: Reach = Reach.TESTED,
) -> Registration:
    return Registration(
        name,
        f"envdyno.agent.workloads.{factory or f'{name}:build'}",
        summary,
        naming=Naming.PREFIX,
        requires=requires,
        install=install,
        reach=reach,
        group="adapters",
        tells=tells,
        limits=limits,
        example=example,
    )


_COLD = "The solver begins every vector step without the forces of the step before."

ADAPTERS: tuple[Registration, ...] = (
    Registration(
        "gymnasium",
        "envdyno.agent.workloads.gymnasium:build",
        "any Gymnasium environment as a vector: an id, or module:factory of a VectorEnv",
        naming=Naming.PREFIX,
        # Version 1.0 does not say how a vector resets, and older ones reset in the same step.
        requires=(Requirement("gymnasium", "1.1"),),
        install="pip install 'gymnasium[mujoco]>=1.1'",
        group="adapters",
        tells=(
            *_OF_EPISODES,
            Told(Tells.SUBSTEPS, "MuJoCo tasks"),
            Told(Tells.SIMULATED_TIME, "MuJoCo tasks"),
            Told(Tells.PHASES, "env_step, reset_done where it resets"),
            Told(Tells.INSIDE_COUNT, "vectors of single environments"),
        ),
        limits=(
            "Substeps and simulated time of environments with frame_skip and dt (MuJoCo's) only.",
            "A vector of the environment's own (vector_entry_point) cannot be counted inside.",
        ),
        example="gymnasium:Ant-v5 --num-envs 64",
    ),
    Registration(
        "envpool",
        "envdyno.agent.workloads.envpool:build",
        "EnvPool's tasks on its thread pool, synchronous or asynchronous",
        naming=Naming.PREFIX,
        requires=(Requirement("envpool", "1.0"),),
        install="pip install 'envpool>=1.0'",
        group="adapters",
        tells=(
            *_OF_EPISODES,
            Told(Tells.SUBSTEPS, "tasks with frame_skip, Playground tasks"),
            Told(Tells.SIMULATED_TIME, "Playground tasks"),
            _STEP_ONLY,
            Told(Tells.INSIDE_COUNT, "gymnasium and gym interfaces"),
        ),
        limits=(
            "Asynchronous (batch_size below num_envs), a throughput favours environments with short steps, "
            "and which rows come first is chance.",
            "Tasks of several players are refused.",
        ),
        example="envpool:Ant-v5 --num-envs 256",
    ),
    Registration(
        "motrixlab",
        "envdyno.agent.workloads.motrixlab:build",
        "environments of MotrixLab's registry: a name, or module:name to import the module first",
        naming=Naming.PREFIX,
        requires=(Requirement("motrix-env-core", "0.4"), Requirement("motrix-env-motrixsim", "0.4")),
        install="pip install 'motrix-env-core[numba,tbb]>=0.4' 'motrix-env-motrixsim>=0.4'",
        group="adapters",
        tells=(*_OF_EPISODES, *_OF_TIME, Told(Tells.PHASES, "MotrixLab's scopes"), _COUNTED),
        limits=(
            "Manager style compiles for a minute or so when its cache is empty; one worker does, the others "
            "wait.",
            "Array environments only (direct and manager style).",
        ),
        example="motrixlab:my_module:my-env --num-envs 2048",
    ),
    Registration(
        "unilab",
        "envdyno.agent.workloads.unilab:build",
        "UniLab's environments with its replay buffer, by ALGORITHM/TASK/BACKEND of its configuration",
        naming=Naming.PREFIX,
        requires=(Requirement("unilab", "1.0"), Requirement("torch")),
        install="pip install 'unilab[mujoco,motrix]'",
        group="adapters",
        tells=(
            *_OF_EPISODES,
            *_OF_TIME,
            Told(Tells.PHASES, "UniLab's timers, transition_extract, replay"),
            _COUNTED,
        ),
        limits=(
            "Knows the layouts of versions 1.0 to 1.5.",
            "Meshes and motion clips are not in the wheel: give --assets DIR, or let UniLab fetch them.",
            "Choosing actions is not part of the step.",
        ),
        example="unilab:flashsac/go2_joystick_flat/mujoco --num-envs 1024",
    ),
    _adapter(
        "mjlab",
        "mjlab's tasks, on a GPU or slowly on a CPU",
        (Requirement("mjlab", "1.6"), Requirement("torch")),
        "pip install 'mjlab>=1.6'",
        (*_OF_EPISODES, *_OF_TIME, _STEP_ONLY, _COUNTED),
        "On a CPU it compiles for minutes and steps some 80 transitions in a CPU second.",
        example="mjlab:Mjlab-Velocity-Flat-Unitree-Go1 --num-envs 4096",
    ),
    _adapter(
        "brax",
        "Brax's environments, compiled by JAX",
        (Requirement("brax", "0.12"), Requirement("jax")),
        "pip install 'brax>=0.12'",
        (
            *_OF_EPISODES,
            Told(Tells.SUBSTEPS, "environments with physics"),
            Told(Tells.SIMULATED_TIME, "environments with physics"),
            _STEP_ONLY,
            _COUNTED,
        ),
        "Compiling takes a minute or more on a CPU, for every batch size anew; give --deadline build=10m.",
        example="brax:ant --num-envs 1024",
    ),
    _adapter(
        "playground",
        "MuJoCo Playground's environments, compiled by JAX",
        (Requirement("playground", "0.0.5"), Requirement("jax")),
        "pip install 'playground>=0.0.5'",
        (*_OF_EPISODES, *_OF_TIME, _STEP_ONLY, _COUNTED),
        "Robots are fetched from the network when they are first used; the dm_control tasks need none.",
        "Compiling takes a minute or more on a CPU, for every batch size anew; give --deadline build=10m.",
        example="playground:CheetahRun --num-envs 1024",
    ),
    _adapter(
        "torchrl",
        "Gymnasium environments as TorchRL steps them",
        (Requirement("torchrl", "0.6"), Requirement("gymnasium")),
        "pip install 'torchrl>=0.6' gymnasium",
        (*_OF_EPISODES, _STEP_ONLY, Told(Tells.INSIDE_COUNT, "batching=serial")),
        "Environments in processes of their own cannot be counted inside.",
        "TensorDicts cost more than small environments do.",
        example="torchrl:CartPole-v1 --num-envs 16",
    ),
    _adapter(
        "pufferlib",
        "Gymnasium environments as PufferLib steps them",
        (Requirement("pufferlib-core"), Requirement("gymnasium")),
        "pip install --no-deps pufferlib-core && pip install torch gymnasium psutil",
        (*_OF_EPISODES, _STEP_ONLY, Told(Tells.INSIDE_COUNT, "backend=serial")),
        "Environments in processes of their own cannot be counted inside.",
        "Environments of PufferLib's own that are written in C are not covered.",
        example="pufferlib:CartPole-v1 --num-envs 64",
    ),
    _adapter(
        "isaaclab",
        "Isaac Lab's tasks, on a GPU",
        (Requirement("isaaclab"),),
        "see https://isaac-sim.github.io/IsaacLab (it needs Isaac Sim and a GPU)",
        (*_OF_EPISODES, *_OF_TIME, _STEP_ONLY),
        example="isaaclab:Isaac-Velocity-Flat-Anymal-C-v0 --num-envs 4096",
        reach=Reach.STAND_IN,
    ),
    _adapter(
        "maniskill",
        "ManiSkill's tasks, on a GPU",
        (Requirement("mani_skill", "3.0"), Requirement("torch")),
        "pip install 'mani_skill>=3.0'",
        (*_OF_EPISODES, *_OF_TIME, _STEP_ONLY),
        "A batch needs a GPU and was stepped as a stand-in only. The one environment that a CPU may have (-o "
        "sim_backend=physx_cpu) was run on the real package.",
        "Most tasks want a renderer to be made, also where nothing is rendered.",
        example="maniskill:PickCube-v1 --num-envs 1024",
        reach=Reach.STAND_IN,
    ),
    _physics("mujoco_rollout", "MuJoCo's own batch stepper", (Requirement("mujoco", "3.3"),), _COLD),
    _physics("mjbatch", "mjbatch", (Requirement("mjbatch", "0.1.4"), Requirement("mujoco"))),
    _physics(
        "mujoco_uni",
        "mujoco-uni-runtime's pool",
        (Requirement("mujoco-uni-runtime", "0.3"), Requirement("mujoco")),
        _COLD,
    ),
    _physics(
        "motrixsim",
        "MotrixSim",
        (Requirement("motrixsim", "0.8"),),
        "Solver, integrator and cone of the MJCF are ignored: not the same numerics as MuJoCo's.",
        counts_inside=False,
    ),
)
