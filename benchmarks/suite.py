"""What the suite costs beyond its physics engine, case by case.

    python benchmarks/suite.py [--num-envs 1024] [--threads 2] [--rounds 9] [--cases PATTERN]

For each case it steps, in turn and in one process, the bare engine (same model, same substeps, targets in and
state out, nothing else), the direct runtime, the manager runtime, and the manager runtime that hands its
targets to the engine before every substep. Every figure is a ratio within a round,
so that a drift of the machine cancels; the median over the rounds is shown, with the lowest and highest.

Rates are transitions per CPU-second of the whole process, which repeats on a busy machine where wall time
does not. Wall time stands beside it, for what runs on one thread between two parallel physics steps costs
more there. Actions are random at a third of their range, at which the robots do not fall, so that the bare
engine, which never resets, does the same physics.

Where UniLab 1.3.0 is installed (with its assets, and a working directory from which it finds them), its
go2_joystick_flat stands beside the suite's.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from envdyno.agent.measure import phases
from envdyno.suite.cases import TASKS, build
from envdyno.suite.engines.contract import EngineRequest
from envdyno.suite.environment import SuiteEnvironment, TaskSize

CASES = (
    ("go2_joystick_flat", "mujoco"),
    ("g1_walk_flat", "mujoco"),
    ("g1_walk_flat", "motrix"),
    ("g1_motion_tracking", "mujoco"),
    ("g1_motion_tracking", "motrix"),
)
RUNTIMES = {
    "direct": {"runtime": "direct"},
    "manager": {"runtime": "manager"},
    "by substep": {"runtime": "manager", "action_application": "substep"},
}
ACTION_SHARE = 0.33
RING = 16

Step = Callable[[int], None]


@dataclass
class Contender:
    """Something that is stepped, and what each round cost it."""

    name: str
    step: Step
    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)

    def measure(self, steps: int) -> None:
        """Step for a round."""
        cpu, wall = time.process_time(), time.perf_counter()
        for index in range(steps):
            self.step(index)
        self.wall_s.append(time.perf_counter() - wall)
        self.cpu_s.append(time.process_time() - cpu)


def bare_mujoco(size: TaskSize, num_envs: int, threads: int, targets: list[Any]) -> Step:
    """Return a loop over ``mujoco.rollout`` and nothing else."""
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(size.robot.xml())
    model.opt.timestep = size.substep_s
    width = mujoco.mj_stateSize(model, int(mujoco.mjtState.mjSTATE_FULLPHYSICS))
    state = np.zeros((num_envs, width))
    state[:, 3], state[:, 4] = size.robot.stand_height, 1.0
    state[:, 8 : 8 + model.nu] = size.robot.default_pose
    after = np.zeros((num_envs, size.substeps, width))
    control = np.zeros((num_envs, size.substeps, model.nu))
    models, data = [model] * num_envs, [mujoco.MjData(model) for _ in range(max(1, threads))]
    pool = rollout.Rollout(nthread=threads if threads > 1 else 0)

    def step(index: int) -> None:
        control[:] = targets[index % RING][:, None]
        pool.rollout(models, data, state, control, skip_checks=True, nstep=size.substeps, state=after)
        state[:] = after[:, -1]

    return step


def bare_motrix(size: TaskSize, num_envs: int, threads: int, targets: list[Any]) -> Step:
    """Return a loop over MotrixSim and nothing else. Its pool is the one that the suite's engine made."""
    import motrixsim

    from envdyno.suite.engines.motrix import MotrixEngine

    MotrixEngine(EngineRequest(size.robot, 1, threads, size.substep_s, 1)).close()
    model = motrixsim.load_mjcf_str(size.robot.xml())
    model.options.timestep = size.substep_s
    data = motrixsim.SceneData(model, batch=[num_envs])
    pose = np.zeros((num_envs, model.num_dof_pos), np.float32)
    pose[:, 2], pose[:, 6], pose[:, 7:] = size.robot.stand_height, 1.0, size.robot.default_pose
    data.reset(model, pose, np.zeros((num_envs, model.num_dof_vel), np.float32))

    def step(index: int) -> None:
        data.actuator_ctrls = targets[index % RING]
        model.step_n(data, size.substeps)
        _ = data.dof_pos, data.dof_vel

    return step


def suite_step(environment: SuiteEnvironment, actions: list[Any]) -> Step:
    """Return a loop over an environment."""

    def step(index: int) -> None:
        environment.step(actions[index % RING])

    return step


def unilab_go2(num_envs: int) -> Step:
    """Return a loop over UniLab 1.3.0's go2_joystick_flat on MuJoCo."""
    import pathlib

    import hydra
    import unilab
    from hydra.core.global_hydra import GlobalHydra
    from unilab.base import registry
    from unilab.base.config_adapter import BackendAdapter, create_env

    registry.ensure_registries()
    GlobalHydra.instance().clear()
    folder = pathlib.Path(unilab.__file__).parent / "conf" / "flashsac"
    with hydra.initialize_config_dir(str(folder), version_base=None):
        config = hydra.compose(
            "config",
            [
                "task=go2_joystick_flat/mujoco",
                "hydra.run.dir=.",
                "hydra.output_subdir=null",
                f"algo.num_envs={num_envs}",
                "++env.seed=1",
            ],
        )
    override = BackendAdapter(
        config, root_dir=pathlib.Path.cwd(), algo_name="flashsac"
    ).build_task_env_cfg_override()
    environment = create_env(config, num_envs=num_envs, env_cfg_override=override)
    if environment.state is None:
        environment.init_state()
    actions = action_ring(num_envs, 12)

    def step(index: int) -> None:
        environment.step(actions[index % RING])

    return step


def action_ring(num_envs: int, joints: int) -> list[Any]:
    """Return a ring of random actions."""
    generator = np.random.default_rng(0)
    return [
        (ACTION_SHARE * generator.uniform(-1, 1, (num_envs, joints))).astype(np.float32) for _ in range(RING)
    ]


def contenders(task: str, engine: str, options: argparse.Namespace) -> tuple[list[Contender], Any]:
    """Build everything that a case compares, and return it with the direct environment."""
    definition = TASKS[task]
    size = definition.size
    actions = action_ring(options.num_envs, size.robot.num_joints)
    scale = np.asarray(getattr(definition, "action_scale", size.robot.action_scale), np.float32)
    targets = [np.asarray(size.robot.default_pose, np.float32) + scale * action for action in actions]
    environments = {
        name: build(task, engine, num_envs=options.num_envs, seed=1, threads=options.threads, **settings)
        for name, settings in RUNTIMES.items()
    }
    bare = bare_mujoco if engine == "mujoco" else bare_motrix
    made = [Contender("bare engine", bare(size, options.num_envs, options.threads, targets))]
    made += [Contender(name, suite_step(made_one, actions)) for name, made_one in environments.items()]
    if task == "go2_joystick_flat" and importlib.util.find_spec("unilab"):
        made.append(Contender("UniLab 1.3.0", unilab_go2(options.num_envs)))
    return made, environments["direct"]


def physics_shares(environment: SuiteEnvironment, steps: int) -> tuple[float, float]:
    """Return the engine's share of a step in wall and in CPU time, from an attribution pass."""
    step = suite_step(environment, action_ring(environment.num_envs, environment.num_joints))
    phases.enable(phases.CpuTiming.PROCESS)
    phases.reset()
    for index in range(steps):
        step(index)
    phases.disable()
    total = {entry.path: entry for entry in phases.totals()}
    physics, whole = total["env_step/physics"], total["env_step"]
    return physics.wall_ns / whole.wall_ns, (physics.cpu_ns or 0) / (whole.cpu_ns or 1)


def spread(values: list[float]) -> str:
    """Return median, lowest and highest."""
    return f"{statistics.median(values):5.3f} [{min(values):5.3f}, {max(values):5.3f}]"


def ratios(above: list[float], below: list[float]) -> list[float]:
    """Return round by round how much faster the one is that took ``below``."""
    return [a / b for a, b in zip(above, below, strict=True)]


def run_case(task: str, engine: str, options: argparse.Namespace) -> None:
    """Measure one case and print its lines."""
    made, direct = contenders(task, engine, options)
    by_name = {contender.name: contender for contender in made}
    for contender in made:
        for index in range(options.warmup):
            contender.step(index)
    for turn in range(options.rounds):
        for contender in made if turn % 2 == 0 else made[::-1]:
            contender.measure(options.steps)
    transitions = options.num_envs * options.steps
    wall_share, cpu_share = physics_shares(direct, options.steps)
    print(f"\n{task}/{engine}   {options.num_envs} envs, {options.threads} threads")
    print(f"  physics is {cpu_share:.1%} of a step's CPU time and {wall_share:.1%} of its wall time")
    for contender in made:
        rate = statistics.median(transitions / cpu for cpu in contender.cpu_s)
        wall = statistics.median(transitions / seconds for seconds in contender.wall_s)
        print(f"  {contender.name:14} {rate:9,.0f} transitions/CPU-s {wall:9,.0f} transitions/s")
    bare, fused, manager = by_name["bare engine"], by_name["direct"], by_name["manager"]
    rows = [
        ("direct over bare engine", bare, fused),
        ("manager over direct", fused, manager),
        ("by substep over direct", fused, by_name["by substep"]),
    ]
    if "UniLab 1.3.0" in by_name:
        rows.append(("direct over UniLab", by_name["UniLab 1.3.0"], fused))
    for label, slower, faster in rows:
        print(
            f"  {label:24} by CPU {spread(ratios(slower.cpu_s, faster.cpu_s))}"
            f"   by wall {spread(ratios(slower.wall_s, faster.wall_s))}"
        )


def main() -> None:
    """Measure the cases asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=20, help="vector steps a round")
    parser.add_argument("--warmup", type=int, default=20, help="vector steps before the first round")
    parser.add_argument("--cases", default="*", help="which, e.g. 'go2*' or '*/mujoco'")
    options = parser.parse_args()
    for task, engine in CASES:
        if fnmatch.fnmatch(f"{task}/{engine}", options.cases):
            run_case(task, engine, options)


if __name__ == "__main__":
    main()
