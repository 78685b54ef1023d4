"""What adapters cost: throughput by envdyno over the framework's bare loop, in turn. Prints, asserts nothing.

    python benchmarks/adapters.py [--pairs N] [--seconds S] [CASE ...]

Both step the same environment with the same prepared actions in a fresh process on the same CPUs. A bare loop
knows nothing of envdyno but the actions. Environments are those of tests/adapters/run_families.py, which are
made where they are not there. Run it on a quiet machine: what is compared is interleaved, AB BA AB ..., and
still foreign load widens the spread; the ratio in CPU time feels it less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "adapters"))

from families import FAMILIES  # noqa: E402 - beside the tests
from run_families import environment, find_uv  # noqa: E402

WARMUP_STEPS = 30

LOOP = """
import itertools, json, os, sys, time
{setup}
num_envs, seconds = int(sys.argv[1]), float(sys.argv[2])
from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import ArraySpec
from envdyno.agent.workloads.vector_env import space_spec
threads = len(os.sched_getaffinity(0))
{make}
actions = itertools.cycle(action_ring(spec, num_envs, ActionSource.RANDOM, 0))
for _ in range(WARMUP):
    {step}
steps, cpu, began = 0, time.process_time(), time.monotonic()
while (elapsed := time.monotonic() - began) < seconds:
    {step}
    steps += 1
print("RATE", json.dumps([steps / elapsed, steps / (time.process_time() - cpu)]))
""".replace("WARMUP", str(WARMUP_STEPS))


@dataclass(frozen=True)
class Case:
    """One environment, as envdyno is asked for it and as a program without envdyno steps it."""

    name: str
    family: str
    arguments: tuple[str, ...]
    num_envs: int
    make: str
    step: str = "env.step(next(actions))"
    setup: str = ""


GYMNASIUM = """
import gymnasium
env = gymnasium.make_vec({id!r}, num_envs=num_envs, {more})
env.reset(seed=0)
spec = space_spec(env.single_action_space)
"""
MODEL = """
from envdyno.suite.robots.go2 import GO2
model = mujoco.MjModel.from_xml_string(GO2.xml())
low, high = model.actuator_ctrlrange.T.tolist()
spec = ArraySpec((model.nu,), "float64", low, high)
"""
SYNC = "vectorization_mode='sync'"

CASES = (
    Case(
        "gymnasium cart pole, own vector",
        "gymnasium",
        ("gymnasium:CartPole-v1",),
        1024,
        GYMNASIUM.format(id="CartPole-v1", more=""),
    ),
    Case(
        "gymnasium cart pole, sync",
        "gymnasium",
        ("gymnasium:CartPole-v1", "-o", "vectorization_mode=sync"),
        64,
        GYMNASIUM.format(id="CartPole-v1", more=SYNC),
    ),
    Case(
        "gymnasium ant, sync",
        "gymnasium",
        ("gymnasium:Ant-v5", "-o", "vectorization_mode=sync"),
        32,
        GYMNASIUM.format(id="Ant-v5", more=SYNC),
    ),
    Case(
        "envpool ant, sync",
        "envpool",
        ("envpool:Ant-v5",),
        256,
        "import envpool\n"
        "env = envpool.make('Ant-v5', env_type='gymnasium', num_envs=num_envs, num_threads=threads, seed=0)\n"
        "env.reset()\n"
        "spec = space_spec(env.spec.gymnasium_action_space)",
    ),
    Case(
        "envpool ant, async",
        "envpool",
        ("envpool:Ant-v5", "-o", "batch_size=128"),
        256,
        "import envpool\n"
        "env = envpool.make('Ant-v5', env_type='gymnasium', num_envs=num_envs, batch_size=128,\n"
        "                   num_threads=threads, seed=0)\n"
        "env.async_reset()\n"
        "info = env.recv()[4]\n"
        "spec = space_spec(env.spec.gymnasium_action_space)",
        "env.send(next(actions)[:128], info['env_id']); info = env.recv()[4]",
    ),
    Case(
        "mujoco.rollout go2",
        "mjbatch",
        ("mujoco_rollout:go2", "-o", "substeps=4"),
        1024,
        MODEL + "from mujoco import rollout\n"
        "datas = [mujoco.MjData(model) for _ in range(threads)]\n"
        "full = mujoco.mjtState.mjSTATE_FULLPHYSICS\n"
        "state = np.empty((num_envs, mujoco.mj_stateSize(model, full)))\n"
        "mujoco.mj_getState(model, datas[0], state[0], full); state[:] = state[0]\n"
        "pool = rollout.Rollout(nthread=threads)\n"
        "control, out = np.empty((num_envs, 4, model.nu)), np.empty((num_envs, 4, state.shape[1]))\n"
        "models = [model] * num_envs\n"
        "def step(action):\n"
        "    control[:] = action[:, None]\n"
        "    pool.rollout(models, datas, state, control, nstep=4, state=out, skip_checks=True)\n"
        "    state[:] = out[:, -1]\n",
        "step(next(actions))",
        "import mujoco, numpy as np",
    ),
    Case(
        "mjbatch go2",
        "mjbatch",
        ("mjbatch:go2", "-o", "substeps=4"),
        1024,
        MODEL + "import mjbatch\n"
        "env = mjbatch.Batch(model, num_sims=num_envs, num_threads=threads)\n"
        "control = env.bind('ctrl'); qpos, qvel = env.bind('qpos'), env.bind('qvel')\n",
        "control[:] = next(actions); env.step(nstep=4)",
        "import mujoco",
    ),
    Case(
        "mujoco-uni go2",
        "mujoco-uni",
        ("mujoco_uni:go2", "-o", "substeps=4"),
        1024,
        MODEL + "from mujoco_uni.batch_env import BatchEnvPool\n"
        "env = BatchEnvPool(model, nbatch=num_envs, nthread=threads)\n"
        "full, data = mujoco.mjtState.mjSTATE_FULLPHYSICS, mujoco.MjData(model)\n"
        "state = np.empty((num_envs, mujoco.mj_stateSize(model, full)))\n"
        "mujoco.mj_getState(model, data, state[0], full); state[:] = state[0]\n"
        "control = np.empty((num_envs, 4, model.nu))\n",
        "control[:] = next(actions)[:, None]; state = env.step(state, nstep=4, control=control)",
        "import mujoco, numpy as np",
    ),
    Case(
        "motrixlab go2, direct",
        "motrixlab",
        ("motrixlab:go2_direct:go2-stand-direct",),
        512,
        "np.random.seed(0)\nimport go2_direct\nfrom motrix_env_core import registry\n"
        "env = registry.make('go2-stand-direct', num_envs=num_envs); env.init_state()\n"
        "spec = space_spec(env.action_space)",
        setup="import numpy as np",
    ),
    Case(
        "motrixlab go2, manager",
        "motrixlab",
        ("motrixlab:go2_manager:go2-stand-manager",),
        512,
        "import go2_manager\nfrom motrix_env_core import registry\n"
        "env = registry.make('go2-stand-manager', num_envs=num_envs, seed=0); env.init_state()\n"
        "spec = space_spec(env.action_space)",
    ),
)


def bare(case: Case, python: Path, folder: Path, seconds: float) -> list[float]:
    """Return vector steps a second and a CPU second of a bare loop in a process of its own."""
    program = LOOP.format(setup=case.setup, make=case.make, step=case.step)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(folder)))}
    command = [str(python), "-c", program, str(case.num_envs), str(seconds)]
    done = subprocess.run(command, env=environ, cwd=folder, check=True, capture_output=True, text=True)
    rates: list[float] = json.loads(done.stdout.rpartition("RATE")[2])
    return rates


def measured(case: Case, python: Path, folder: Path, seconds: float) -> list[float]:
    """Return the same as envdyno measures it."""
    command = [sys.executable, "-m", "envdyno", "run", *case.arguments, "-n", str(case.num_envs)]
    command += ["--warmup", str(WARMUP_STEPS), "--duration", f"{seconds}s", "--python", str(python)]
    done = subprocess.run(
        [*command, "--json", "--quiet"], cwd=folder, check=True, capture_output=True, text=True
    )
    record: dict[str, Any] = json.loads(done.stdout)
    steps_per_s = record["throughput"]["vector_steps_per_s"]
    rate = record["throughput"]["transitions_per_s"]
    return [steps_per_s, record["throughput"]["transitions_per_cpu_s"] * steps_per_s / rate]


def compare(case: Case, python: Path, folder: Path, pairs: int, seconds: float) -> None:
    """Print the ratios of one case."""
    ratios: list[list[float]] = [[], []]
    for index in range(pairs):
        order = (bare, measured) if index % 2 == 0 else (measured, bare)
        rates = {one: one(case, python, folder, seconds) for one in order}
        for kept, by_envdyno, alone in zip(ratios, rates[measured], rates[bare], strict=True):
            kept.append(by_envdyno / alone)
    wall, cpu = map(spread, ratios)
    print(f"{case.name:<34}{case.num_envs:>6} envs   wall {wall}   CPU {cpu}", flush=True)


def spread(values: list[float]) -> str:
    """Return median and range as text."""
    return f"{statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]"


def main() -> None:
    """Print everything that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="part of a case's name")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    asked = parser.parse_args()
    families, uv = {family.name: family for family in FAMILIES}, find_uv()
    print("throughput by envdyno over a bare loop: median [min, max] of the pairs   (bound: >= 0.98)")
    for case in CASES:
        if asked.cases and not any(part in case.name for part in asked.cases):
            continue
        family = families[case.family]
        compare(case, environment(family, uv), ROOT / family.folder, asked.pairs, asked.seconds)


if __name__ == "__main__":
    main()
