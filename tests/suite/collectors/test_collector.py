"""A collector is a workload: it steps, stores, counts, and tells what it did."""

from __future__ import annotations

import builtins
import importlib
import subprocess
import sys

import numpy as np
import pytest
from scripted import ACTION, End, ScriptedEnvironment

from envdyno.agent.measure import phases
from envdyno.agent.measure.phase_recorder import PhaseRecorder
from envdyno.agent.workloads.built import accept
from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.registry import Resolved, call_factory, load_factory
from envdyno.suite.catalogue import SUITE
from envdyno.suite.collectors import cases, memory_need
from envdyno.suite.collectors.catalogue import COLLECTORS, REFERENCE_CASES
from envdyno.suite.collectors.collector import FLASHSAC, SAC, Algorithm, Collector
from envdyno.suite.collectors.memory_need import ReplayTooLargeError, available_bytes
from envdyno.suite.collectors.torch_import import TorchMissingError, import_torch

CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)
ALGORITHMS = pytest.mark.parametrize("algorithm", [SAC, FLASHSAC], ids=["sac", "flashsac"])


def scripted(algorithm: Algorithm, rows: int = 3, steps: int = 5) -> tuple[Collector, ScriptedEnvironment]:
    environment = ScriptedEnvironment([[End.NONE] * rows] * steps)
    return Collector(algorithm, environment, 4), environment


@ALGORITHMS
def test_a_collector_is_a_workload_that_counts_as_its_environment_does(algorithm: Algorithm) -> None:
    collector, environment = scripted(algorithm)
    workload = accept(collector, "scripted", 3, 0)
    actions = np.full((3, ACTION), 0.5, np.float32)
    assert workload.step(actions) == (3, 0, 0, None, None)
    assert environment.received[0].tolist() == actions.tolist()
    assert workload.work is not None
    assert workload.work() == {"substeps": 1}
    assert workload.make_actions is None, "the ring is the agent's"
    assert workload.close is not None
    workload.close()
    assert environment.closed


@ALGORITHMS
def test_the_specification_tells_what_the_collector_adds(algorithm: Algorithm) -> None:
    details = scripted(algorithm)[0].spec.details
    assert details == {
        "task": "scripted",
        "collector": algorithm.name,
        "policy": "none",
        "replay_layout": "paired" if algorithm is SAC else "single",
        "replay_steps": 4,
    }


def test_only_flashsac_keeps_the_scale_of_returns() -> None:
    assert scripted(SAC)[0].return_scale is None
    collector, _ = scripted(FLASHSAC)
    collector.step(np.zeros((3, ACTION), np.float32))
    assert collector.return_scale is not None
    assert collector.return_scale.divisor != 1.0


def test_the_phases_of_a_step_are_those_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "_recorder", PhaseRecorder())
    collector, _ = scripted(SAC)
    phases.enable()
    try:
        collector.step(np.zeros((3, ACTION), np.float32))
    finally:
        phases.disable()
    assert [(total.path, total.calls) for total in phases.totals()] == [("replay", 1), ("bookkeeping", 1)]
    assert "action_select" in phases.declared(), "so that it is told as never run, not as without a timer"


def test_a_replay_buffer_beyond_the_memory_is_refused_with_what_would_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("envdyno.suite.collectors.collector.available_bytes", lambda: 200)
    with pytest.raises(ReplayTooLargeError, match=r"of 4 steps of 3 environments.*-o replay_steps=2\)"):
        scripted(SAC)


def test_available_memory_is_cut_to_the_limit_of_the_control_group(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    (root / "proc/self/statm").write_text("900 100 0 0 0 0 0\n")

    class Unlimited:
        memory_limit_bytes: int | None = None

    class Limited:
        memory_limit_bytes: int | None = 1_000_000

    monkeypatch.setattr(memory_need, "read_limits", lambda root: Unlimited)
    assert available_bytes(str(root)) == 4000 * 1024
    monkeypatch.setattr(memory_need, "read_limits", lambda root: Limited)
    assert available_bytes(str(root)) == 1_000_000 - 100 * 4096
    assert available_bytes(str(root / "elsewhere")) is None


def test_the_catalogue_names_factories_that_exist_and_the_reference_cases_first() -> None:
    assert tuple(entry.name for entry in COLLECTORS[:7]) == REFERENCE_CASES
    names = [entry.name for entry in COLLECTORS]
    assert sorted(names) == sorted(f"{kind}/{task.name}" for kind in ("sac", "flashsac") for task in SUITE)
    for entry in COLLECTORS:
        factory = load_factory(Resolved(entry.name, entry.factory, entry))
        assert factory.__name__ == entry.name.replace("/", "_")


def test_the_catalogue_imports_neither_an_engine_nor_numpy() -> None:
    code = (
        "import sys; import envdyno.suite.collectors.catalogue as c; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'mujoco', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["sac_go2_joystick_flat_mujoco", "flashsac_go2_joystick_flat_mujoco"])
def test_a_collector_around_a_real_task_stores_what_the_task_showed(name: str) -> None:
    resolved = Resolved(name, f"envdyno.suite.collectors.cases:{name}")
    collector = call_factory(
        resolved,
        load_factory(resolved),
        num_envs=128,
        seed=3,
        options={"replay_steps": 40},
        context=CONTEXT,
    )
    draw = np.random.default_rng(0)
    environment = collector.environment
    shown = []
    ends = terminated = truncated = 0
    for step in range(60):
        action = draw.uniform(-1, 1, (128, 12)).astype(np.float32)
        before = environment.policy_observation.copy()
        collector.step(action)
        after = environment.policy_observation.copy()
        rows = environment.done_rows
        after[rows] = environment.terminal_policy_observation[rows]
        shown.append((before, action, environment.reward.copy(), after, environment.terminated.copy()))
        ends += len(rows)
        if step >= 20:
            terminated += int(environment.terminated.sum())
            truncated += int(environment.truncated.sum())
    assert terminated > 0, "the test means little without episodes that end in each way"
    assert truncated > 0
    replay = collector.replay
    for age in range(replay.newest_readable_age, 40):
        stored = replay.read(age)
        before, action, reward, after, ended = shown[-1 - age]
        assert np.array_equal(stored.observation, before)
        assert np.array_equal(stored.action, action)
        assert np.array_equal(stored.reward, reward)
        assert np.array_equal(stored.next_observation, after)
        assert np.array_equal(stored.terminated, ended)
    assert collector.books.ended == ends
    collector.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policy": "jax"}, "A collector has no policy='jax'; it has: none, torch"),
        ({"replay_steps": 1}, "A collector was given replay_steps=1; it is a whole number of at least 2"),
        ({"replay_steps": "many"}, "replay_steps='many'; it is a whole number"),
        ({"policy_threads": 0}, "policy_threads=0; it is a whole number of at least 1"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cases.sac_go2_joystick_flat_mujoco(num_envs=2, seed=0, context=CONTEXT, **options)  # type: ignore[arg-type]


def test_without_torch_the_policy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(importlib, "import_module", lambda name: refuse(name))
    with pytest.raises(TorchMissingError, match="pip install torch, or"):
        import_torch()
    with pytest.raises(TorchMissingError):
        cases.import_framework(policy="torch")
    cases.import_framework(policy="none")
