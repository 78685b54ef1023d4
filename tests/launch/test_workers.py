"""Real worker processes that do well: placed first, and with nothing of the control on their path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdyno.agent.placement.request import Request
from envdyno.launch.measure import measure
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status


def run(tmp_path: Path, **changes: object) -> RunRecord:
    """Measure a short window of the synthetic workload, or of what ``changes`` name."""
    settings: dict[str, object] = {
        "workload": "synthetic",
        "num_envs": 4,
        "window_s": 0.3,
        "warmup_steps": 5,
        "placement": Request(numa="auto"),
        "cwd": tmp_path,
    }
    with open_session() as session:
        record = measure(RunRequest(**(settings | changes)), session)  # type: ignore[arg-type]
    assert record.status is Status.OK, record.failure
    return record


def other_pythons() -> dict[str, Path]:
    """Return the interpreters of this machine by minor version, from PATH and from pyenv."""
    found = {}
    places = [*map(Path, os.environ.get("PATH", "").split(":")), *Path.home().glob(".pyenv/versions/3.*/bin")]
    for minor in (10, 11, 12, 13):
        for place in places:
            candidate = place / f"python3.{minor}"
            works = (
                candidate.exists()
                and not subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode
            )
            if works:
                found[f"3.{minor}"] = candidate
    return found


PYTHONS = other_pythons()


def test_only_the_standard_library_is_imported_before_placement(tmp_path: Path) -> None:
    (worker,) = run(tmp_path).workers
    loaded = {name.partition(".")[0] for name in worker.modules_before_placement}
    assert "envdyno" in loaded, "the list is that of the agent"
    assert loaded - set(sys.stdlib_module_names) <= {"__main__", "envdyno"}
    inside = {name for name in worker.modules_before_placement if name.startswith("envdyno.")}
    assert {name.split(".")[1] for name in inside} <= {"agent", "_version"}


def test_not_even_the_interpreters_own_startup_files_run_before_placement(tmp_path: Path) -> None:
    """A sitecustomize of the side's environment sees the process already bound."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs to tell bound from unbound")
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    seen = tmp_path / "seen"
    (packages / "sitecustomize.py").write_text(
        f"import os\nopen({str(seen)!r}, 'a').write(str(sorted(os.sched_getaffinity(0))) + '\\n')\n"
    )
    cpu = max(os.sched_getaffinity(0))
    run(tmp_path, python=environment / "bin" / "python", placement=Request(numa="auto", cpus=(cpu,)))
    assert set(seen.read_text().splitlines()) == {f"[{cpu}]"}


@pytest.mark.parametrize("minor", ["3.10", "3.11", "3.12", "3.13"])
def test_the_agent_runs_in_an_interpreter_without_envdyno(minor: str, tmp_path: Path) -> None:
    if minor not in PYTHONS:
        pytest.skip(f"there is no Python {minor} on this machine")
    record = run(tmp_path, python=PYTHONS[minor])
    assert record.software is not None
    assert record.software.python.startswith(minor + ".")
    assert "envdyno" not in record.software.distributions
    assert record.workers[0].outcome is not None
    assert record.workers[0].outcome["cpu"]["state"] in ("applied", "unsupported", "denied")


def test_nothing_of_the_controls_packages_is_on_the_workers_path(tmp_path: Path) -> None:
    (tmp_path / "looking.py").write_text(
        "def build(num_envs, seed):\n"
        "    import importlib.util, sys\n"
        "    for name in ('pydantic', 'click', 'rich', 'psutil'):\n"
        "        assert importlib.util.find_spec(name) is None, name\n"
        "    import envdyno.agent.worker\n"
        "    return lambda actions: None\n"
    )
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    run(tmp_path, workload="looking:build", python=environment / "bin" / "python")


def test_a_file_named_like_a_standard_module_in_the_working_folder_is_not_taken_for_it(
    tmp_path: Path,
) -> None:
    for name in ("random", "statistics", "hashlib", "typing", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')\n")
    (tmp_path / "mine.py").write_text("def build(num_envs, seed):\n    return lambda actions: None\n")
    run(tmp_path, workload="mine:build")


def test_a_workload_may_spawn_children_with_multiprocessing(tmp_path: Path) -> None:
    (tmp_path / "spawning.py").write_text(
        "import multiprocessing\n"
        "def double(value):\n"
        "    return 2 * value\n"
        "def build(num_envs, seed):\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        assert pool.map(double, [21]) == [42]\n"
        "    return lambda actions: None\n"
    )
    run(tmp_path, workload="spawning:build")


@pytest.mark.parametrize("feed", ["stdin", "script"])
def test_the_users_main_module_is_never_imported_again(feed: str, tmp_path: Path) -> None:
    """Neither a script without a guard nor a program read from stdin keeps a worker from starting."""
    program = (
        "from pathlib import Path\n"
        "from envdyno.agent.placement.request import Request\n"
        "from envdyno.launch.measure import measure\n"
        "from envdyno.launch.session import open_session\n"
        "from envdyno.plan.run_request import RunRequest\n"
        "with Path('starts').open('a') as file:\n"
        "    file.write('x')\n"
        "request = RunRequest(workload='synthetic', num_envs=2, window_s=0.2, warmup_steps=1,\n"
        "                     placement=Request(numa='off', workers_per_node=2))\n"
        "with open_session() as session:\n"
        "    print(measure(request, session).status.value)\n"
    )
    (tmp_path / "script.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-" if feed == "stdin" else "script.py"],
        input=program if feed == "stdin" else None,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "ok\n", done.stderr
    assert (tmp_path / "starts").read_text() == "x"


def test_what_a_workload_prints_goes_to_its_log_and_never_to_stdout(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import os, sys\n"
        "print('at import')\n"
        "def build(num_envs, seed):\n"
        "    print('at build', file=sys.stderr)\n"
        "    os.write(1, b'from native code\\n')\n"
        "    os.system('echo from a child')\n"
        "    return lambda actions: None\n"
    )
    command = [sys.executable, "-m", "envdyno", "run", "loud:build", "-n", "2", "--duration", "0.2s"]
    done = subprocess.run(
        [*command, "--warmup", "2", "--json", "--quiet", "--out", "bundle"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["status"] == "ok"
    assert "at " not in done.stderr
    (log,) = (tmp_path / "bundle" / "runs").glob("*/worker-0.log")
    text = log.read_text()
    for words in ("at import", "at build", "from native code", "from a child"):
        assert words in text


def test_thread_variables_are_set_before_imports_and_the_users_own_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    (tmp_path / "asking.py").write_text(
        "import os\n"
        "AT_IMPORT = dict(os.environ)\n"
        "def build(num_envs, seed, context):\n"
        "    assert AT_IMPORT['OMP_NUM_THREADS'] == '7'\n"
        "    assert AT_IMPORT['MKL_NUM_THREADS'] == str(context.threads)\n"
        "    return lambda actions: None\n"
    )
    (worker,) = run(tmp_path, workload="asking:build").workers
    assert worker.thread_variables["kept"]["OMP_NUM_THREADS"] == "7"
    assert "OMP_NUM_THREADS" not in worker.thread_variables["set"]


def test_two_workers_share_the_batch_and_the_window(tmp_path: Path) -> None:
    record = run(
        tmp_path,
        num_envs=7,
        options={"step_ms": 2.0, "slower_by": 1.0},
        placement=Request(numa="off", workers_per_node=2),
    )
    assert record.case.shares == (4, 3)
    assert record.totals is not None
    assert record.throughput is not None
    assert record.totals.transitions == sum(
        worker.totals.transitions for worker in record.workers if worker.totals
    )
    assert record.throughput.elapsed_s == pytest.approx(0.3)
    assert record.throughput.transitions_per_s == pytest.approx(record.totals.transitions / 0.3)
    assert record.throughput.straggler_index is not None
    assert record.throughput.straggler_index > 1
    assert [sum(worker.series) for worker in record.workers] == [
        worker.totals.transitions for worker in record.workers if worker.totals
    ]


def test_equal_seeds_give_equal_observation_hashes_and_other_steps_other_ones(tmp_path: Path) -> None:
    first, second = (run(tmp_path, seed=3).workers[0].observation_hash for _ in range(2))
    longer = run(tmp_path, seed=3, warmup_steps=7).workers[0]
    assert first == second
    assert first is not None
    assert longer.observation_hash != first
    assert longer.observation_hash_steps == 8


def test_a_need_beyond_the_free_memory_is_said_before_the_build_and_again_when_it_kills(
    tmp_path: Path,
) -> None:
    (tmp_path / "large.py").write_text(
        "import os, signal\n"
        "def build(num_envs, seed):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "build.memory_need = lambda num_envs: 1 << 60\n"
    )
    request = RunRequest(workload="large:build", num_envs=4, cwd=tmp_path)
    with open_session() as session:
        record = measure(request, session)
    assert record.failure is not None
    assert record.failure.signal == "SIGKILL"
    assert "are needed" in record.failure.message
    assert "memory_short" in {warning.code.value for warning in record.warnings}
