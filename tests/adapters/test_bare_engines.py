"""Bare engines for real: what a vector step claims is what a plain loop over the engine does."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.actions import ActionSource, action_ring
from envdyno.agent.workloads.contract import Autoreset, BuildContext
from envdyno.agent.workloads.registry import WorkloadError

CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)
MODULES = {name: name for name in ("mjbatch", "mujoco_uni", "motrixsim")} | {"mujoco_rollout": "mujoco"}
ENGINES = [name for name, module in MODULES.items() if importlib.util.find_spec(module) is not None]
MUJOCO_ENGINES = [name for name in ENGINES if name != "motrixsim"]
SUBSTEPS = 3

HOPPING_BOX = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body pos="0 0 0.3">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1"/>
      <body pos="0.1 0 0">
        <joint name="arm" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="arm" ctrlrange="-2 2" ctrllimited="true" gear="GEAR"/>
    <position joint="arm" kp="1"/>
  </actuator>
  <keyframe><key name="high" qpos="0 0 2 1 0 0 0 0.5"/></keyframe>
</mujoco>
"""


@pytest.fixture
def scene(tmp_path: Path) -> str:
    """The path of a scene with contacts, two actuators and a keyframe."""
    path = tmp_path / "box.xml"
    path.write_text(HOPPING_BOX.replace("GEAR", "1"))
    return str(path)


def built(engine: str, target: str, num_envs: int = 4, **options: Any) -> Any:
    """Build a bare engine; MotrixSim has one pool a process, which the first test makes."""
    module = importlib.import_module(f"envdyno.agent.workloads.{engine}")
    if engine == "motrixsim":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module.FRAMEWORK.load(), "init_thread_pool", lambda **_: None)
            return module.build(num_envs, 0, target, CONTEXT, **options)
    return module.build(num_envs, 0, target, CONTEXT, **options)


def controls(workload: Any, steps: int) -> list[Any]:
    """Actions as a worker makes them."""
    ring = action_ring(workload.spec.action, workload.spec.num_envs, ActionSource.RANDOM, 5)
    return [ring[index % len(ring)] for index in range(steps)]


def plain_mujoco(scene: str, row: int, actions: list[Any], keyframe: int | None, *, warm: bool) -> Any:
    """Return the position of one row after a plain loop of ``mj_step``."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(scene)
    data = mujoco.MjData(model)
    if keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, keyframe)
        mujoco.mj_forward(model, data)
    for action in actions:
        data.ctrl[:] = action[row]
        if not warm:
            data.qacc_warmstart[:] = 0
        for _ in range(SUBSTEPS):
            mujoco.mj_step(model, data)
    return data.qpos.copy()


@pytest.mark.parametrize("engine", MUJOCO_ENGINES)
@pytest.mark.parametrize("keyframe", [None, "high"])
def test_a_vector_step_is_what_a_plain_loop_of_mujoco_does(
    engine: str, keyframe: str | None, scene: str
) -> None:
    workload = built(engine, scene, substeps=SUBSTEPS, keyframe=keyframe)
    actions = controls(workload, 60)
    for action in actions:
        tally = workload.step(action)
        assert (tally.transitions, tally.reset_rows, tally.nonfinite_rows) == (4, 0, 0)
    warm = bool(workload.spec.details["warm_start"])
    for row in (0, 3):
        expected = plain_mujoco(scene, row, actions, None if keyframe is None else 0, warm=warm)
        np.testing.assert_allclose(workload.observation()["qpos"][row], expected, rtol=0, atol=1e-9)
    workload.close()


@pytest.mark.skipif("motrixsim" not in ENGINES, reason="MotrixSim is not installed here")
def test_a_vector_step_is_what_a_plain_loop_of_motrixsim_does(scene: str) -> None:
    import motrixsim

    workload = built("motrixsim", scene, substeps=SUBSTEPS, keyframe="high")
    actions = controls(workload, 40)
    for action in actions:
        assert workload.step(action).nonfinite_rows == 0
    model = motrixsim.load_model(scene)
    data = motrixsim.SceneData(model, batch=[1])
    data.reset(model, np.array([[0, 0, 2, 0, 0, 0, 1, 0.5]], np.float32), np.zeros((1, 7), np.float32))
    for action in actions:
        data.actuator_ctrls = action[2:3]
        for _ in range(SUBSTEPS):
            model.step(data)
    np.testing.assert_allclose(workload.observation()["dof_pos"][2], data.dof_pos[0], atol=1e-5)
    workload.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_specification_is_that_of_the_model(engine: str, scene: str) -> None:
    workload = built(engine, scene, substeps=SUBSTEPS)
    spec = workload.spec
    assert (spec.autoreset, spec.substeps, spec.threads) == (Autoreset.NONE, SUBSTEPS, 1)
    assert spec.step_dt_s == pytest.approx(0.015)
    low, high = np.array(spec.action.low, float), np.array(spec.action.high, float)
    assert (low[0], high[0]) == (-2, 2)
    assert not np.isfinite([low[1], high[1]]).any()
    for name, array in workload.observation().items():
        assert array.shape == (4, *spec.observation[name].shape)
        assert array.dtype == spec.observation[name].dtype
    workload.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_substeps_and_dispatches_are_told(engine: str, scene: str) -> None:
    workload = built(engine, scene, substeps=SUBSTEPS)
    for action in controls(workload, 7):
        workload.step(action)
    assert workload.work() == {"substeps": 4 * 7 * SUBSTEPS, "dispatches": 7}
    workload.close()


FALLING_BALLS = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body pos="0 0 0.05"><freejoint/><geom size="0.05"/></body>
    <body pos="1 0 1"><freejoint/><geom size="0.05"/></body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("num_envs", [3, 1500])
def test_contacts_are_those_of_the_states(engine: str, num_envs: int, tmp_path: Path) -> None:
    """One ball lies from the start; the other falls for 0.44 s and then lies as well."""
    path = tmp_path / "balls.xml"
    path.write_text(FALLING_BALLS)
    workload = built(engine, str(path), num_envs=num_envs, substeps=10)
    (action,) = action_ring(None, num_envs, ActionSource.RANDOM, 0)
    for steps, contacts in ((2, 1), (100, 2)):
        for _ in range(steps):
            workload.step(action)
        before = {name: array.copy() for name, array in workload.observation().items()}
        found = workload.contacts_now()
        assert found.contacts == contacts * found.rows
        assert found.rows == (num_envs if engine == "motrixsim" else min(num_envs, 1024))
        for name, array in workload.observation().items():
            np.testing.assert_array_equal(array, before[name], err_msg="looking changed the states")
    workload.close()


@pytest.mark.parametrize("engine", MUJOCO_ENGINES)
def test_contacts_of_robots_are_those_that_a_plain_step_of_mujoco_finds(engine: str, scene: str) -> None:
    import mujoco

    workload = built(engine, scene, substeps=SUBSTEPS)
    for action in controls(workload, 60):
        workload.step(action)
    model, look = mujoco.MjModel.from_xml_path(scene), workload.observation()
    expected = 0
    for qpos, qvel in zip(look["qpos"], look["qvel"], strict=True):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_step(model, data)
        expected += data.ncon
    assert workload.contacts_now() == (expected, 4)
    assert expected > 0
    workload.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_become_unstable_are_counted(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wild.xml"
    path.write_text(HOPPING_BOX.replace("GEAR", "1e12"))
    workload = built(engine, str(path), substeps=SUBSTEPS)
    calm = np.zeros((4, 2), workload.spec.action.dtype)
    wild = calm.copy()
    wild[1:3, 0] = 1.0
    assert workload.step(calm).nonfinite_rows == 0
    found = [workload.step(wild).nonfinite_rows for _ in range(4)]
    assert max(found) == 2
    assert all(np.isfinite(array).all() for array in workload.observation().values())
    assert list(tmp_path.iterdir()) == [path], "nothing else was written"
    workload.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_without_actuators_is_stepped_without_actions(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        "<mujoco><worldbody><body pos='0 0 5'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    workload = built(engine, str(path), num_envs=2)
    assert workload.spec.action is None
    for action in action_ring(None, 2, ActionSource.RANDOM, 0) * 5:
        workload.step(action)
    first = next(iter(workload.observation().values()))
    assert (first[:, 2] < 5).all()
    workload.close()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("robot", ["go2", "g1"])
def test_the_robots_that_come_with_envdyno_can_be_stepped(engine: str, robot: str) -> None:
    workload = built(engine, robot, substeps=2)
    for action in controls(workload, 5):
        assert workload.step(action).nonfinite_rows == 0
    workload.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_cannot_be_stepped_is_refused_in_a_sentence(engine: str, scene: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.xml"
    bad.write_text("<mujoco><worldbody><geom/></mujoco>")
    with pytest.raises(WorkloadError, match=r"there is none at .*nothing\.xml"):
        built(engine, "nothing.xml")
    with pytest.raises(WorkloadError, match=r"cannot read bad\.xml"):
        built(engine, str(bad))
    with pytest.raises(WorkloadError, match="no keyframe 'low'; it has: high"):
        built(engine, scene, keyframe="low")
    with pytest.raises(WorkloadError, match="substeps=0"):
        built(engine, scene, substeps=0)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name in ("mujoco_uni", "motrixsim")])
def test_more_pinned_threads_than_cpus_are_refused(engine: str, scene: str) -> None:
    with pytest.raises(WorkloadError, match="pin 2 threads"):
        built(engine, scene, threads=2, pin=True)


@pytest.mark.skipif("motrixsim" not in ENGINES, reason="MotrixSim is not installed here")
def test_motrixsims_pool_is_of_the_size_asked_for(scene: str) -> None:
    """In a process of its own, for the pool is made once and never goes away."""
    program = (
        "import numpy as np, pathlib\n"
        "from envdyno.agent.workloads.contract import BuildContext\n"
        "from envdyno.agent.workloads.motrixsim import build\n"
        f"work = build(4, 0, {scene!r}, BuildContext(0, 1, (0,), 5, attribution=False), threads=3)\n"
        "work.step(np.zeros((4, 2), 'float32'))\n"
        "names = [task.joinpath('comm').read_text() for task in pathlib.Path('/proc/self/task').iterdir()]\n"
        "print('SIZE', work.spec.threads, len(names))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    told, threads = map(int, done.stdout.rpartition("SIZE")[2].split())
    assert told == 3
    assert threads >= 4  # the pool, and the one that steps
