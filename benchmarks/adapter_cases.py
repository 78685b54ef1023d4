"""The environments of ``adapters.py``: as envdyno is asked for each, and as a bare program steps it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One environment of one framework."""

    name: str
    family: str
    """Environment in which it runs, of tests/adapters/families.py."""
    workload: str
    num_envs: int
    make: str
    """Makes ``env``. Knows ``num_envs``, ``threads``, and the workload that the adapter ``built``."""
    step: str = "env.step(next(actions))"
    options: dict[str, str | int | bool] = field(default_factory=dict)
    """Options of the workload; ``{prepared}`` is the folder of the family's own preparation."""
    finish: str = "pass"
    """What a loop that hands work to a device does at its end."""


def gymnasium(workload: str, num_envs: int, mode: str | None = None) -> Case:
    """Return a case of ``gymnasium.make_vec``."""
    options: dict[str, str | int | bool] = {} if mode is None else {"vectorization_mode": mode}
    make = (
        f"import gymnasium\nenv = gymnasium.make_vec({workload!r}, num_envs, **{options})\nenv.reset(seed=0)"
    )
    return Case(
        f"gymnasium {workload}, {mode or 'own vector'}",
        "gymnasium",
        f"gymnasium:{workload}",
        num_envs,
        make,
        options=options,
    )


ENVPOOL = """
import envpool
how = dict(num_envs=num_envs, batch_size={rows}, num_threads=threads, seed=0)
env = envpool.make({task!r}, env_type={kind!r}, **how)
env.async_reset()
got = env.recv()
"""


def envpool(task: str, num_envs: int, kind: str, rows: int) -> Case:
    """Return a case of EnvPool's ``send`` and ``recv``, the way it recommends for throughput."""
    ids = "got.observation.env_id" if kind == "dm" else "got[-1]['env_id']"
    return Case(
        f"envpool {task}, {kind}, {'sync' if rows == num_envs else 'async'}",
        "envpool",
        f"envpool:{task}",
        num_envs,
        ENVPOOL.format(task=task, kind=kind, rows=rows),
        f"env.send(next(actions)[:{rows}], {ids}); got = env.recv()",
        {"env_type": kind, "batch_size": rows},
    )


GO2 = """
from envdyno.suite.robots.go2 import GO2
model = mujoco.MjModel.from_xml_string(GO2.xml())
"""
STATES = """
full = mujoco.mjtState.mjSTATE_FULLPHYSICS
state = np.empty((num_envs, mujoco.mj_stateSize(model, full)))
mujoco.mj_getState(model, mujoco.MjData(model), state[0], full); state[:] = state[0]
control = np.empty((num_envs, 4, model.nu))
"""
ROLLOUT = """
from mujoco import rollout
datas = [mujoco.MjData(model) for _ in range(threads)]
pool, models = rollout.Rollout(nthread=threads), [model] * num_envs
out = np.empty((num_envs, 4, state.shape[1]))
def step(action):
    control[:] = action[:, None]
    pool.rollout(models, datas, state, control, nstep=4, state=out, skip_checks=True)
    state[:] = out[:, -1]
"""
MJBATCH = """
import mjbatch
env = mjbatch.Batch(model, num_sims=num_envs, num_threads=threads)
control, qpos, qvel = env.bind("ctrl"), env.bind("qpos"), env.bind("qvel")
"""
UNI = """
from mujoco_uni.batch_env import BatchEnvPool
env = BatchEnvPool(model, nbatch=num_envs, nthread=threads)
"""
MOTRIXSIM = """
import motrixsim
from envdyno.suite.robots.go2 import GO2
model = motrixsim.load_mjcf_str(GO2.xml())
data = motrixsim.SceneData(model, batch=[num_envs])
data.reset(model)
def step(action):
    data.actuator_ctrls = action
    model.step_n(data, 4)
    return data.dof_pos, data.dof_vel
"""
NUMPY = "import mujoco, numpy as np\n"
MOTRIXLAB = """
import {module}
from motrix_env_core import registry
env = registry.make({name!r}, num_envs=num_envs, seed=0)
env.init_state()
"""
TORCHRL = """
from torchrl.envs import GymEnv, SerialEnv
env = SerialEnv(num_envs, lambda: GymEnv("CartPole-v1"))
td = env.reset()
"""
PUFFERLIB = """
import gymnasium, pufferlib.emulation, pufferlib.vector
def made(buf=None, seed=0):
    return pufferlib.emulation.GymnasiumPufferEnv(env=gymnasium.make("CartPole-v1"), buf=buf, seed=seed)
env = pufferlib.vector.make(made, num_envs=num_envs, backend=pufferlib.vector.Serial, seed=0)
env.async_reset(0)
env.recv()
"""
BRAX = """
import jax
from brax import envs
env = envs.create("fast", backend="generalized", batch_size=num_envs, episode_length=1000, auto_reset=True)
step, state = jax.jit(env.step), jax.jit(env.reset)(jax.random.PRNGKey(0))
"""
PLAYGROUND = """
import jax
from mujoco_playground import registry, wrapper
env = wrapper.wrap_for_brax_training(registry.load("CartpoleBalance"), episode_length=1000, action_repeat=1)
keys = jax.random.split(jax.random.PRNGKey(0), num_envs)
step, state = jax.jit(env.step), jax.jit(env.reset)(keys)
"""
WHOLE = {"substeps": 4}
"""Physics steps of a vector step, for the bare engines."""

CASES = (
    gymnasium("CartPole-v1", 1024),
    gymnasium("CartPole-v1", 64, "sync"),
    gymnasium("CartPole-v1", 4, "async"),
    gymnasium("Ant-v5", 32, "sync"),
    envpool("Ant-v5", 256, "gymnasium", 256),
    envpool("Ant-v5", 256, "gymnasium", 128),
    envpool("Ant-v5", 256, "dm", 256),
    Case(
        "mujoco.rollout go2",
        "mjbatch",
        "mujoco_rollout:go2",
        1024,
        NUMPY + GO2 + STATES + ROLLOUT,
        "step(next(actions))",
        {**WHOLE},
    ),
    Case(
        "mjbatch go2",
        "mjbatch",
        "mjbatch:go2",
        1024,
        NUMPY + GO2 + MJBATCH,
        "control[:] = next(actions); env.step(nstep=4)",
        {**WHOLE},
    ),
    Case(
        "mujoco-uni go2",
        "mujoco-uni",
        "mujoco_uni:go2",
        1024,
        NUMPY + GO2 + STATES + UNI,
        "control[:] = next(actions)[:, None]; state = env.step(state, nstep=4, control=control)",
        {**WHOLE},
    ),
    Case("motrixsim go2", "motrixlab", "motrixsim:go2", 1024, MOTRIXSIM, "step(next(actions))", {**WHOLE}),
    Case(
        "motrixlab go2, direct",
        "motrixlab",
        "motrixlab:go2_direct:go2-stand-direct",
        512,
        MOTRIXLAB.format(module="go2_direct", name="go2-stand-direct"),
    ),
    Case(
        "motrixlab go2, manager",
        "motrixlab",
        "motrixlab:go2_manager:go2-stand-manager",
        512,
        MOTRIXLAB.format(module="go2_manager", name="go2-stand-manager"),
    ),
    Case(
        "unilab go2, the adapter's own instance",
        "unilab",
        "unilab:flashsac/go2_joystick_flat/mujoco",
        256,
        "env = built._env",
        options={"assets": "{prepared}", "replay": False},
    ),
    Case(
        "torchrl CartPole-v1, serial",
        "torchrl",
        "torchrl:CartPole-v1",
        64,
        TORCHRL,
        "_, td = env.step_and_maybe_reset(td.set('action', next(actions)))",
    ),
    Case(
        "pufferlib CartPole-v1, serial",
        "torchrl",
        "pufferlib:CartPole-v1",
        64,
        PUFFERLIB,
        "env.send(next(actions)); env.recv()",
    ),
    Case(
        "brax fast",
        "brax",
        "brax:fast",
        4096,
        BRAX,
        "state = step(state, next(actions)); jax.block_until_ready(state.reward)",
        finish="jax.block_until_ready(state)",
    ),
    Case(
        "playground CartpoleBalance",
        "playground",
        "playground:CartpoleBalance",
        256,
        PLAYGROUND,
        "state = step(state, next(actions)); jax.block_until_ready(state.reward)",
        finish="jax.block_until_ready(state)",
    ),
    Case(
        "mjlab Go1, the adapter's own instance",
        "mjlab",
        "mjlab:Mjlab-Velocity-Flat-Unitree-Go1",
        16,
        "env = built._env",
    ),
    Case(
        "maniskill, the adapter's own instance",
        "maniskill",
        "maniskill:counted_maniskill:EndsBothWays-v1",
        1,
        "env = built._env",
        options={"sim_backend": "physx_cpu", "render_backend": "none"},
    ),
)
