from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from fake_kernel import FakeKernel

from envdyno.agent.placement.errors import PlacementError, RestoreError
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.spawn import spawn_placement

PLACEMENT = Placement(0, 1, (4, 5), (1,), MemoryPolicy.BIND, 2)
SERVER = "multiprocessing.forkserver"


def test_thread_variables_are_set_inside_and_put_back() -> None:
    environ = {"OMP_NUM_THREADS": "7", "MKL_NUM_THREADS": ""}
    before = dict(environ)
    with spawn_placement(PLACEMENT, environ=environ, kernel=FakeKernel()) as outcome:
        assert outcome.complete
        assert environ["OMP_NUM_THREADS"] == "7"
        assert environ["MKL_NUM_THREADS"] == "2"
        assert environ["RAYON_NUM_THREADS"] == "2"
    assert environ == before


def test_everything_is_put_back_when_the_body_raises() -> None:
    kernel, environ = FakeKernel(affinity=(1, 3)), {"A": "b"}
    before = kernel.state
    with pytest.raises(LookupError), spawn_placement(PLACEMENT, environ=environ, kernel=kernel):
        raise LookupError
    assert kernel.state == before
    assert environ == {"A": "b"}


def test_strict_leaves_the_environment_alone_when_it_refuses() -> None:
    environ: dict[str, str] = {}
    kernel = FakeKernel(fails={"set_policy": errno.EPERM})
    with pytest.raises(PlacementError, match="refused"):
        spawn_placement(PLACEMENT, strict=True, environ=environ, kernel=kernel).__enter__()
    assert environ == {}


def test_the_environment_is_put_back_also_when_the_mask_cannot_be() -> None:
    kernel, environ = FakeKernel(affinity=(1, 3)), {"A": "b"}

    def body() -> None:
        with spawn_placement(PLACEMENT, environ=environ, kernel=kernel):
            kernel.fails["set_affinity"] = errno.EPERM

    with pytest.raises(RestoreError):
        body()
    assert environ == {"A": "b"}


def _pretend_server(monkeypatch: pytest.MonkeyPatch, pid: int | None) -> SimpleNamespace:
    server = SimpleNamespace(_forkserver_pid=pid)
    monkeypatch.setitem(sys.modules, SERVER, SimpleNamespace(_forkserver=server))  # type: ignore[arg-type]
    return server


def test_a_running_fork_server_is_refused_for_its_children_would_be_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _pretend_server(monkeypatch, 321)
    kernel = FakeKernel()
    with pytest.raises(PlacementError, match=r"get_context\(\"spawn\"\)"):
        spawn_placement(PLACEMENT, environ={}, kernel=kernel).__enter__()
    assert kernel.calls == []


def test_a_fork_server_that_is_loaded_and_not_running_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend_server(monkeypatch, None)
    with spawn_placement(PLACEMENT, environ={}, kernel=FakeKernel()) as outcome:
        assert outcome.complete


def test_a_fork_server_that_was_started_inside_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    server = _pretend_server(monkeypatch, None)
    kernel = FakeKernel(affinity=(1, 3))

    def body() -> None:
        with spawn_placement(PLACEMENT, environ={}, kernel=kernel):
            server._forkserver_pid = 321

    with pytest.raises(RestoreError, match="process 321"):
        body()
    assert kernel.affinity == (1, 3)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_a_real_child_inherits_the_placement_and_the_parent_stays() -> None:
    before = os.sched_getaffinity(0)
    placement = Placement(0, 0, (max(before),), (0,), MemoryPolicy.BIND, 1)
    program = (
        "import json, os\n"
        "from envdyno.agent.placement.verify import audit\n"
        "cpus, threads = sorted(os.sched_getaffinity(0)), os.environ['RAYON_NUM_THREADS']\n"
        "print(json.dumps([cpus, threads, audit().policy]))\n"
    )
    with spawn_placement(placement) as outcome:
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    answer, _ = child.communicate()
    cpus, threads, policy = json.loads(answer)
    assert cpus == [max(before)]
    assert threads == "1"
    if outcome.memory.errno is None:
        assert policy == "bind:0"
    assert os.sched_getaffinity(0) == before
    assert "RAYON_NUM_THREADS" not in os.environ


MULTIPROCESSING = """
import multiprocessing, os
from envdyno import placement

def report(queue):
    queue.put(sorted(os.sched_getaffinity(0)))

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    for cpu in sorted(os.sched_getaffinity(0)):
        spot = placement.Placement(0, 0, (cpu,), (), placement.MemoryPolicy.OFF, 1)
        process = context.Process(target=report, args=(queue,))
        with placement.spawn_placement(spot):
            process.start()
        assert queue.get() == [cpu]
        process.join()
    print("ok", len(os.sched_getaffinity(0)))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_children_of_multiprocessing_inherit_each_its_own_placement(tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = tmp_path / "trainer.py"
    script.write_text(MULTIPROCESSING, encoding="utf-8")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()[:1], ran.stderr) == (0, ["ok"], "")
    assert ran.stdout.split()[1] == str(len(os.sched_getaffinity(0)))
