"""Isaac Lab, ManiSkill and mjlab against stand-ins with the same interface; its PyTorch is NumPy inside."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.step_log import Totals, as_tally
from envdyno.agent.workloads import isaaclab, maniskill, mjlab
from envdyno.agent.workloads.built import accept, settle_counting
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.registry import WorkloadError

NUM_ENVS = 6
CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)


class Tensor(np.ndarray):
    """An array with the few methods of a tensor that adapters use."""

    def to(self, device: str) -> Tensor:
        return self

    def masked_fill_(self, mask: Any, value: float) -> Tensor:
        self[np.asarray(mask)] = value
        return self

    def fill_(self, value: float) -> Tensor:
        self.fill(value)
        return self


def tensor(values: Any, dtype: str = "float32") -> Tensor:
    """Return a stand-in tensor."""
    return np.array(values, dtype).view(Tensor)


class BatchEnv:
    """Same-step autoreset; counts inside itself, and ends each episode in a way that depends on its row."""

    def __init__(self, num_envs: int, device: str = "cuda:0") -> None:
        self.num_envs, self.device = num_envs, device
        self.single_action_space = SimpleNamespace(
            shape=(3,), low=np.full(3, -1.0), high=np.full(3, 1.0), dtype=np.dtype("float32")
        )
        self.max_episode_length = 9
        self.sim_freq, self.control_freq = 100, 20
        self.ages = np.zeros(num_envs, int)
        self.transitions = self.ended = self.ended_steps = 0
        self.closed = False

    @property
    def unwrapped(self) -> BatchEnv:
        return self

    def reset(self, seed: int | None = None) -> Any:
        self.ages[:] = 0
        return {"policy": tensor(np.zeros((self.num_envs, 4)))}, {}

    def step(self, actions: Any) -> Any:
        assert isinstance(actions, Tensor)
        assert actions.shape == (self.num_envs, 3)
        self.ages += 1
        self.transitions += self.num_envs
        rows = np.arange(self.num_envs)
        terminated = (self.ages >= 3 + rows % 3) & (rows % 2 == 0)
        truncated = self.ages >= 5
        over = terminated | truncated
        self.ended += int(over.sum())
        self.ended_steps += int(self.ages[over].sum())
        self.ages[over] = 0
        observation = {"policy": tensor(np.ones((self.num_envs, 4)))}
        return (
            observation,
            tensor(np.full(self.num_envs, 0.5)),
            tensor(terminated, "bool"),
            tensor(truncated, "bool"),
            {},
        )

    def close(self) -> None:
        self.closed = True


class Config(SimpleNamespace):
    """A task's configuration."""


def module(name: str, **attributes: Any) -> ModuleType:
    """Return a module with the given attributes."""
    made = ModuleType(name)
    made.__dict__.update(attributes)
    return made


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Put the stand-ins in place; return how the simulator was started."""
    started: list[dict[str, Any]] = []
    waited: list[str] = []

    def make(name: str, num_envs: int = NUM_ENVS, cfg: Any = None, **_: Any) -> BatchEnv:
        return BatchEnv(num_envs if cfg is None else cfg.num_envs)

    def parse_env_cfg(task: str, device: str, num_envs: int) -> Config:
        return Config(num_envs=num_envs, decimation=4, sim=Config(dt=0.005), seed=None, rerender=False)

    def load_env_cfg(task: str) -> Config:
        return Config(
            scene=Config(num_envs=0), seed=0, decimation=4, sim=Config(mujoco=Config(timestep=0.005))
        )

    torch = module(
        "torch",
        from_numpy=lambda array: array.view(Tensor),
        zeros=lambda *shape, device, dtype="float32": tensor(np.zeros(shape), dtype),
        int64="int64",
        cuda=SimpleNamespace(is_available=lambda: False, synchronize=waited.append),
    )
    stand_ins = [
        torch,
        module("gymnasium", registry={"Isaac-Ant-v0": 1, "PickCube-v1": 1}, make=make),
        module("isaaclab"),
        module("isaaclab.app"),
        module("isaaclab_tasks"),
        module("isaaclab_tasks.utils", parse_env_cfg=parse_env_cfg),
        module("mani_skill"),
        module("mani_skill.envs"),
        module("mani_skill.vector"),
        module("mani_skill.vector.wrappers"),
        module("mani_skill.vector.wrappers.gymnasium", ManiSkillVectorEnv=lambda env, **_: env),
        module("mani_skill.utils"),
        module("mani_skill.utils.gym_utils", find_max_episode_steps_value=lambda env: env.max_episode_length),
        module("mjlab"),
        module("mjlab.tasks"),
        module("mjlab.tasks.registry", list_tasks=lambda: ["Mjlab-Go1"], load_env_cfg=load_env_cfg),
        module("mjlab.envs", ManagerBasedRlEnv=lambda cfg, device: BatchEnv(cfg.scene.num_envs, device)),
    ]
    for stand_in in stand_ins:
        monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    # As Isaac Lab's wheel does it: the class is among the modules, and no attribute of its package.
    monkeypatch.setitem(sys.modules, "isaaclab.app.AppLauncher", lambda **options: started.append(options))
    return started


BUILDS: dict[str, Any] = {
    "isaaclab": lambda: isaaclab.build(NUM_ENVS, 3, "Isaac-Ant-v0"),
    "maniskill": lambda: maniskill.build(NUM_ENVS, 3, "PickCube-v1"),
    "mjlab": lambda: mjlab.build(NUM_ENVS, 3, "Mjlab-Go1"),
}


@pytest.mark.usefixtures("launched")
@pytest.mark.parametrize("name", BUILDS)
def test_counts_are_those_of_the_environment_over_episodes_that_end_in_each_way(name: str) -> None:
    workload = accept(BUILDS[name](), name, NUM_ENVS, 3)
    assert workload.reset is not None
    assert workload.make_actions is not None
    workload.reset()
    env = workload.step.__self__._env  # type: ignore[attr-defined]
    env.transitions = env.ended = env.ended_steps = 0
    (actions,) = workload.make_actions(source="fixed", seed=1, batches=1)
    outcome = workload.step(actions)
    counted = settle_counting(workload, outcome)
    assert counted.assumption is None
    totals = Totals()
    totals.add(as_tally(outcome, NUM_ENVS))
    for _ in range(40):
        totals.add(as_tally(counted.step(actions), NUM_ENVS))
    assert totals.transitions == env.transitions == 41 * NUM_ENVS
    assert totals.episodes == env.ended > 30
    assert totals.reward_sum == 0.5 * totals.transitions
    assert totals.reset_rows == 0
    assert workload.work is not None
    assert workload.work() == {"episode_steps": env.ended_steps}
    workload.reset()
    counted.step(actions)
    assert workload.work() == {"episode_steps": env.ended_steps}, "what a reset cut off has not ended"
    assert workload.close is not None
    workload.close()
    assert env.closed


@pytest.mark.usefixtures("launched")
@pytest.mark.parametrize(
    ("name", "substeps", "dt_s"), [("isaaclab", 4, 0.02), ("maniskill", 5, 0.05), ("mjlab", 4, 0.02)]
)
def test_the_specification_is_that_of_the_task(name: str, substeps: int, dt_s: float) -> None:
    spec = BUILDS[name]().spec
    assert (spec.num_envs, spec.autoreset, spec.substeps) == (NUM_ENVS, Autoreset.SAME_STEP, substeps)
    assert spec.step_dt_s == pytest.approx(dt_s)
    assert spec.episode_limit_steps == 9
    assert spec.action is not None
    assert spec.action.shape == (3,)
    assert spec.observation["policy"].shape == (4,)
    assert spec.observation["policy"].dtype == "float32"


@pytest.mark.usefixtures("launched")
def test_work_on_a_gpu_is_waited_for_at_the_edges_and_on_a_cpu_there_is_nothing_to_wait_for() -> None:
    on_gpu, on_cpu = BUILDS["isaaclab"](), BUILDS["mjlab"]()
    assert on_gpu.synchronize is not None
    on_gpu.synchronize()
    assert on_cpu.synchronize is None


def test_isaac_sims_app_is_started_without_a_window_before_anything_else(
    launched: list[dict[str, Any]],
) -> None:
    isaaclab.import_framework(device="cuda:1")
    assert launched == [{"headless": True, "device": "cuda:1"}]


@pytest.mark.usefixtures("launched")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: isaaclab.build(2, 0, "Isaac-Nowhere-v0"), "Isaac Lab has no task"),
        (lambda: isaaclab.build(2, 0, "Isaac-Ant-v0", gravity=3), "no attribute 'gravity'"),
        (lambda: maniskill.build(2, 0, "Nowhere-v1"), "ManiSkill has no task"),
        (lambda: mjlab.build(2, 0, "Nowhere"), "It has: Mjlab-Go1"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        call()
