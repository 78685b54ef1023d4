"""Placement when a sandbox refuses the system calls: the kernel's own filter, in a child process."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

FILTER = Path(__file__).parents[2] / "numa_vm"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the filter is for Linux on x86-64"
)

PROGRAM = """
import errno, json, os, sys
sys.path.insert(0, sys.argv[1])
from machine import syscall_filter
from envdyno import placement
calls = {"container": syscall_filter.CONTAINER_DEFAULT, "affinity": ("sched_setaffinity",)}[sys.argv[2]]
cpu = max(os.sched_getaffinity(0))
spot = placement.Placement(0, 0, (cpu,), (0,), placement.MemoryPolicy.BIND, 1)
syscall_filter.refuse(calls, getattr(errno, sys.argv[3]))
with placement.bound(spot) as restorable:
    pass
outcome = placement.apply(spot)
seen = placement.audit(placement=spot, outcome=outcome)
facts = [(fact.state.value, fact.errno_name) for half in (outcome, restorable) for fact in half]
print(json.dumps([facts, sorted(seen.absent), [finding.kind.value for finding in seen.findings]]))
"""


def run(calls: str, code: str) -> tuple[list[list[str | None]], list[str], list[str]]:
    """Facts of binding (for good, then restorably), what the audit lacks, what it found."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(FILTER), calls, code], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    facts, absent, found = json.loads(ran.stdout)
    return facts, absent, found


@pytest.mark.parametrize(("code", "state"), [("EPERM", "denied"), ("ENOSYS", "unsupported")])
def test_refused_policies_leave_cpus_bound_and_nothing_is_printed(code: str, state: str) -> None:
    facts, absent, found = run("container", code)
    assert facts == [["applied", None], [state, code], ["applied", None], [state, code]]
    assert "sample" in absent
    assert found == []


@pytest.mark.parametrize(("code", "state"), [("EPERM", "denied"), ("ENOSYS", "unsupported")])
def test_a_refused_affinity_leaves_memory_bound(code: str, state: str) -> None:
    facts, _, found = run("affinity", code)
    assert [fact[:2] for fact in facts[::2]] == [[state, code], [state, code]]
    assert facts[1][0] in ("applied", "unsupported")
    assert found == []
