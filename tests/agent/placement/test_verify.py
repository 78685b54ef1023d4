from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fake_kernel import FakeKernel
from machine_tree import write
from process_tree import PID, Task, anonymous, build_process

from envdyno.agent.placement.outcome import Fact, Outcome, State
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.verify import Audit, FindingKind, audit

PLACEMENT = Placement(0, 1, (4, 5, 6, 7), (1,), MemoryPolicy.BIND, 4)
HOME = "4-7"


def look(root: Path, placement: Placement | None = PLACEMENT, **options: object) -> Audit:
    """Audit of the process in the tree."""
    return audit(PID, root, placement, **options)  # type: ignore[arg-type]


def kinds(result: Audit) -> list[FindingKind]:
    """What was found."""
    return [finding.kind for finding in result.findings]


def test_a_process_that_is_where_it_should_be_has_no_findings(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task(str(cpu), "rayon", start_s=101) for cpu in (4, 5, 6, 7)]]
    result = look(build_process(tmp_path, tasks, anonymous("bind:1", N1=100)))
    assert result.findings == ()
    assert result.thread_count == 5
    assert result.policy == "bind:1"
    assert result.share_on((1,)) == 1.0


def test_memory_on_other_nodes_is_named_with_amounts(tmp_path: Path) -> None:
    result = look(build_process(tmp_path, [Task(HOME)], anonymous("bind:1", N0=30, N1=70)))
    (finding,) = result.findings
    assert finding.kind is FindingKind.REMOTE_PAGES
    assert "30.0 % of the process's memory is not on node 1: 30 MiB on node 0" in finding.message
    assert result.share_on((1,)) == 0.7


def test_a_small_remote_share_is_reported_and_not_named(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME)], anonymous("bind:1", N0=3, N1=97))
    assert look(root).findings == ()
    assert look(root).share_on((1,)) == 0.97
    assert kinds(look(root, remote_share=0.01)) == [FindingKind.REMOTE_PAGES]


def test_files_and_shared_memory_on_other_nodes_are_not_the_workers_memory(tmp_path: Path) -> None:
    lines = [
        anonymous("bind:1", N1=10),
        "7 bind:1 file=/usr/lib/libx.so mapped=99999 N0=99999 kernelpagesize_kB=4",
        "8 bind:1 file=/dev/shm/ring mapped=99999 N0=99999 kernelpagesize_kB=4",
    ]
    assert look(build_process(tmp_path, [Task(HOME)], "\n".join(lines))).findings == ()


def test_a_changed_policy_is_named(tmp_path: Path) -> None:
    result = look(build_process(tmp_path, [Task(HOME)], anonymous("default", N1=10)))
    (finding,) = result.findings
    assert finding.kind is FindingKind.POLICY_CHANGED
    assert "is default, where the placement asks for bind:1" in finding.message


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.DENIED, []),
        (State.UNSUPPORTED, []),
        (State.APPLIED, [FindingKind.POLICY_CHANGED, FindingKind.REMOTE_PAGES]),
    ],
)
def test_memory_that_was_not_bound_is_not_compared(
    tmp_path: Path, state: State, expected: list[FindingKind]
) -> None:
    root = build_process(tmp_path, [Task(HOME)], anonymous("default", N0=50))
    outcome = Outcome(Fact(State.APPLIED), Fact(state))
    assert kinds(look(root, outcome=outcome)) == expected


def test_cpus_that_were_not_bound_are_not_compared(tmp_path: Path) -> None:
    outcome = Outcome(Fact(State.DENIED), Fact(State.OFF))
    assert look(build_process(tmp_path, [Task("0-15")]), outcome=outcome).findings == ()


def test_without_a_placement_there_are_no_findings(tmp_path: Path) -> None:
    assert look(build_process(tmp_path, [Task("0")]), None).findings == ()


def test_what_cannot_be_read_is_absent_with_a_reason(tmp_path: Path) -> None:
    result = look(tmp_path)
    assert result.threads == ()
    assert result.thread_count is None
    assert result.residency is None
    assert result.policy is None
    assert result.share_on((1,)) is None
    assert set(result.absent) == {"threads", "policy", "residency", "sample"}
    assert f"/proc/{PID}/numa_maps cannot be read" in result.absent["residency"]
    assert all(reason.endswith(".") for reason in result.absent.values())


def test_a_refused_get_mempolicy_leaves_the_policy_to_numa_maps(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/numa_maps", anonymous("prefer:1", N1=5))
    kernel = FakeKernel(fails={"get_policy": errno.EPERM})
    assert audit(None, tmp_path, kernel=kernel).policy == "preferred:1"


def test_a_sample_of_pages_is_a_cross_check_where_it_is_allowed(tmp_path: Path) -> None:
    maps = [
        "7f0000000000-7f0000400000 rw-p 00000000 00:00 0",
        "7f0000500000-7f0000600000 r--p 00000000 08:01 77 /lib/x.so",
        "7f0000700000-7f0000800000 rw-s 00000000 00:01 5 /dev/shm/r",
    ]
    write(tmp_path, "proc/self/maps", "\n".join(maps))
    sample = audit(None, tmp_path, kernel=FakeKernel()).sample
    assert sample is not None
    assert sample.pages == {0: 512}
    refused = audit(None, tmp_path, kernel=FakeKernel(fails={"page_nodes": errno.EPERM}))
    assert refused.sample is None
    assert "move_pages failed" in refused.absent["sample"]


def test_an_audit_travels_as_json(tmp_path: Path) -> None:
    result = look(build_process(tmp_path, [Task("4"), Task("1")], anonymous("bind:1", N0=9, N1=7)))
    assert Audit.from_json(json.loads(json.dumps(result.to_json()))) == result


LINUX = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")


@LINUX
def test_this_process_is_seen_with_all_its_threads() -> None:
    release = threading.Event()
    extra = [threading.Thread(target=release.wait, daemon=True) for _ in range(3)]
    for thread in extra:
        thread.start()
    try:
        result = audit()
    finally:
        release.set()
        for thread in extra:
            thread.join()
    seen = {thread.tid for thread in result.threads}
    assert {thread.native_id for thread in extra} <= seen
    assert result.pid == os.getpid()
    assert result.at_s is not None


@LINUX
def test_a_library_that_shrinks_the_mask_of_a_real_process_is_caught() -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    placement = Placement(0, 0, cpus, (), MemoryPolicy.OFF, len(cpus))
    program = (
        "import json, os, sys\n"
        "from envdyno.agent.placement.placement import Placement\n"
        "from envdyno.agent.placement.verify import audit\n"
        "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"
        "placement = Placement.from_json(json.loads(sys.argv[1]))\n"
        "print([finding.kind.value for finding in audit(placement=placement).findings])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, json.dumps(placement.to_json())],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "['mask_shrunk']"


def test_masks_come_from_status_when_the_call_is_refused(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME)])
    kernel = FakeKernel(fails={"get_affinity": errno.EPERM})
    assert look(root, kernel=kernel).threads[0].cpus == (4, 5, 6, 7)


def test_a_moment_that_is_not_told_is_not_known(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME)])
    write(root, "proc/uptime", "soon")
    assert look(root).at_s is None
