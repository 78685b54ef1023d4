from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "multi_collector" / "trainer.py"
SHARED_MEMORY = Path("/dev/shm")
SMALL = ("--num-envs", "64", "--horizon", "8")

pytestmark = pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason="looks at /dev/shm")


def segments() -> set[str]:
    """Names of Python's shared memory."""
    return {path.name for path in SHARED_MEMORY.glob("psm_*")}


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the example; whatever it leaves running or in shared memory fails the test."""
    before = segments()
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(SCRIPT), *SMALL, *arguments]
        # A shell ignores SIGINT in what it starts in the background, and that is inherited.
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.wait(timeout=30)
    assert segments() <= before


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit status, output, errors."""
    out, err = process.communicate(timeout=90)
    return process.returncode, out, err


def children(process: subprocess.Popen[str], count: int) -> list[psutil.Process]:
    """The children that run the trainer's functions, in the order of their start."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        found = [
            child
            for child in psutil.Process(process.pid).children()
            if "spawn_main" in " ".join(child.cmdline()) and child.memory_info().rss > 20 << 20
        ]
        if len(found) == count:
            return sorted(found, key=lambda child: child.create_time())
        time.sleep(0.05)
    raise AssertionError("the children did not start")


@pytest.mark.parametrize("ring_on", ["consumer", "producer"])
def test_the_learner_receives_transitions_from_every_collector(
    start: Callable[..., subprocess.Popen[str]], ring_on: str
) -> None:
    status, out, err = finish(
        start("--collectors-per-node", "2", "--duration", "0.5", "--ring-on", ring_on, "--json")
    )
    assert (status, err) == (0, "")
    result = json.loads(out)
    collectors = result["collectors"]
    assert len(collectors) >= 2
    assert all(item["transitions"] > 0 for item in collectors)
    assert sum(item["share"] for item in collectors) == pytest.approx(1.0)
    total = sum(item["transitions"] for item in collectors)
    assert result["transitions_per_s"] == pytest.approx(total / result["elapsed_s"])


def test_collectors_have_cpus_of_their_own(start: Callable[..., subprocess.Popen[str]]) -> None:
    arguments = ("--collectors-per-node", "2", "--duration", "0.2", "--json")
    status, out, _ = finish(start(*arguments))
    assert status == 0
    cpus = [item["cpus"] for item in json.loads(out)["collectors"]]
    assert len(set(cpus)) == len(cpus)


def test_the_table_names_every_process_and_its_place(start: Callable[..., subprocess.Popen[str]]) -> None:
    status, out, err = finish(start("--duration", "0.2"))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert "transitions/s received in" in lines[0]
    assert lines[1].startswith("collector 0: ")
    assert lines[-1].startswith("learner: node ")


def test_it_runs_unbound_too(start: Callable[..., subprocess.Popen[str]]) -> None:
    status, out, err = finish(start("--numa", "off", "--duration", "0.2"))
    assert (status, err) == (0, "")
    assert "CPUs unbound" in out


def test_a_node_that_is_not_there_is_one_sentence(start: Callable[..., subprocess.Popen[str]]) -> None:
    status, out, err = finish(start("--numa", "977"))
    assert (status, out) == (2, "")
    assert err.startswith("Node 977 was asked for")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [
        (signal.SIGINT, 130, "Interrupted: all processes have ended, shared memory is removed.\n"),
        (signal.SIGTERM, 143, ""),
    ],
)
def test_signals_end_every_process_quietly(
    start: Callable[..., subprocess.Popen[str]], number: signal.Signals, status: int, message: str
) -> None:
    process = start("--duration", "60")
    family = children(process, 2)
    process.send_signal(number)
    assert finish(process) == (status, "", message)
    assert not any(child.is_running() for child in family)


@pytest.mark.parametrize(("victim", "name"), [(0, "Collector 0"), (1, "The learner")])
def test_a_process_that_dies_is_named_and_the_others_end(
    start: Callable[..., subprocess.Popen[str]], victim: int, name: str
) -> None:
    process = start("--duration", "60")
    family = children(process, 2)
    os.kill(family[victim].pid, signal.SIGKILL)
    status, out, err = finish(process)
    assert (status, out) == (1, "")
    assert err == f"{name} ended before the window did.\n"
    assert not any(child.is_running() for child in family)
