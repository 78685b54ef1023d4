from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_kernel import FakeKernel

import envdyno
from envdyno.agent.placement import bind
from envdyno.agent.placement.mempolicy import Mode, Policy
from envdyno.agent.placement.outcome import Fact, Outcome, State
from envdyno.agent.placement.placement import MemoryPolicy, Placement

PLACEMENT = Placement(0, 1, (4, 5), (1,), MemoryPolicy.BIND, 2)


def test_both_halves_are_applied_and_read_back() -> None:
    kernel = FakeKernel()
    outcome = bind.apply(PLACEMENT, kernel)
    assert outcome == Outcome(Fact(State.APPLIED, (4, 5)), Fact(State.APPLIED, (1,)))
    assert outcome.complete
    assert kernel.state == ((4, 5), Policy(Mode.BIND, 0, (1,)))


def test_affinity_comes_before_the_policy() -> None:
    kernel = FakeKernel()
    bind.apply(PLACEMENT, kernel)
    assert kernel.calls.index("set_affinity") < kernel.calls.index("set_policy")


def test_an_unbound_placement_touches_nothing() -> None:
    kernel = FakeKernel()
    outcome = bind.apply(Placement(0, None, (), (), MemoryPolicy.OFF, 8), kernel)
    assert (outcome.cpu.state, outcome.memory.state) == (State.OFF, State.OFF)
    assert outcome.complete
    assert kernel.calls == []


@pytest.mark.parametrize(
    ("policy", "nodes", "expected"),
    [
        (MemoryPolicy.BIND, (1,), Policy(Mode.BIND, 0, (1,))),
        (MemoryPolicy.PREFERRED, (1,), Policy(Mode.PREFERRED, 0, (1,))),
        (MemoryPolicy.PREFERRED, (0, 1), Policy(Mode.PREFERRED_MANY, 0, (0, 1))),
        (MemoryPolicy.INTERLEAVE, (0, 1), Policy(Mode.INTERLEAVE, 0, (0, 1))),
    ],
)
def test_each_policy_is_its_kernel_mode(
    policy: MemoryPolicy, nodes: tuple[int, ...], expected: Policy
) -> None:
    kernel = FakeKernel()
    assert bind.apply(PLACEMENT._replace(policy=policy, memory_nodes=nodes), kernel).complete
    assert kernel.policy == expected


def test_a_kernel_that_prefers_one_node_only_prefers_the_first() -> None:
    kernel = FakeKernel(prefers_many=False)
    wanted = PLACEMENT._replace(policy=MemoryPolicy.PREFERRED, memory_nodes=(1, 0))
    assert bind.apply(wanted, kernel).memory.state is State.APPLIED
    assert kernel.policy == Policy(Mode.PREFERRED, 0, (1,))


def test_a_refused_policy_leaves_the_cpus_bound_and_tells_both_remedies() -> None:
    kernel = FakeKernel(fails={"set_policy": errno.EPERM, "mems_allowed": errno.EPERM})
    outcome = bind.apply(PLACEMENT, kernel)
    assert outcome.cpu.state is State.APPLIED
    memory = outcome.memory
    assert (memory.state, memory.errno, memory.errno_name) == (State.DENIED, errno.EPERM, "EPERM")
    assert "seccomp" in (memory.message or "")
    assert "--cap-add SYS_NICE" in (memory.remedy or "")
    assert "--mem off" in (memory.remedy or "")
    assert not outcome.complete


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_system_without_policies_is_unsupported(code: int) -> None:
    fact = bind.apply(PLACEMENT, FakeKernel(fails={"set_policy": code})).memory
    assert (fact.state, fact.errno) == (State.UNSUPPORTED, code)


def test_a_system_without_affinity_is_unsupported_and_memory_goes_on() -> None:
    outcome = bind.apply(PLACEMENT, FakeKernel(fails={"set_affinity": errno.ENOSYS}))
    assert outcome.cpu.state is State.UNSUPPORTED
    assert outcome.memory.state is State.APPLIED


def test_without_sched_setaffinity_nothing_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    outcome = bind.apply(PLACEMENT)
    assert (outcome.cpu.state, outcome.memory.state) == (State.UNSUPPORTED, State.UNSUPPORTED)


def test_without_memory_nodes_memory_is_unsupported_without_a_call() -> None:
    kernel = FakeKernel()
    fact = bind.apply(PLACEMENT._replace(memory_nodes=()), kernel).memory
    assert fact.state is State.UNSUPPORTED
    assert "shows no memory nodes" in (fact.message or "")
    assert "set_policy" not in kernel.calls


def test_a_node_outside_the_cpuset_is_diagnosed() -> None:
    fact = bind.apply(PLACEMENT, FakeKernel(mems=(0, 2))).memory
    assert (fact.state, fact.errno_name) == (State.FAILED, "EINVAL")
    assert "node 1" in (fact.message or "")
    assert "allowed: 0,2" in (fact.message or "")
    assert "cpuset.mems" in (fact.remedy or "")


def test_an_invalid_policy_on_an_allowed_node_is_told_apart() -> None:
    fact = bind.apply(PLACEMENT, FakeKernel(fails={"set_policy": errno.EINVAL})).memory
    assert fact.state is State.FAILED
    assert "does not accept the memory policy bind:1" in (fact.message or "")


def test_the_cpuset_is_read_from_procfs_when_the_call_is_refused() -> None:
    kernel = FakeKernel(fails={"set_policy": errno.EINVAL, "mems_allowed": errno.EPERM})
    fact = bind.apply(PLACEMENT._replace(memory_nodes=(977,)), kernel).memory
    assert "Memory cannot come from node 977" in (fact.message or "")


def test_nodes_that_the_kernel_trims_away_are_seen_by_reading_back() -> None:
    kernel = FakeKernel(mems=(0,))
    fact = bind.apply(PLACEMENT._replace(policy=MemoryPolicy.INTERLEAVE, memory_nodes=(0, 1)), kernel).memory
    assert (fact.state, fact.actual) == (State.PARTIAL, (0,))
    assert "interleave:0-1 was asked for; the kernel keeps interleave:0" in (fact.message or "")


def test_cpus_that_the_kernel_trims_away_are_seen_by_reading_back() -> None:
    fact = bind.apply(PLACEMENT, FakeKernel(cpus=(0, 1, 4))).cpu
    assert (fact.state, fact.actual) == (State.PARTIAL, (4,))
    assert "4-5 were asked for; the kernel allows 4 of them" in (fact.message or "")


def test_cpus_that_may_not_be_used_at_all_are_diagnosed_with_those_that_may() -> None:
    fact = bind.apply(PLACEMENT, FakeKernel(cpus=(0, 1))).cpu
    assert (fact.state, fact.errno_name) == (State.FAILED, "EINVAL")
    assert "None of the CPUs 4-5 may be used" in (fact.message or "")
    assert "now 0-1" in (fact.message or "")


def test_a_refused_affinity_is_denied_and_memory_goes_on() -> None:
    outcome = bind.apply(PLACEMENT, FakeKernel(fails={"set_affinity": errno.EPERM}))
    assert (outcome.cpu.state, outcome.cpu.errno_name) == (State.DENIED, "EPERM")
    assert "--numa off" in (outcome.cpu.remedy or "")
    assert outcome.memory.state is State.APPLIED


@pytest.mark.parametrize(("call", "half"), [("get_affinity", "cpu"), ("get_policy", "memory")])
def test_what_was_set_and_cannot_be_read_back_is_said(call: str, half: str) -> None:
    fact = getattr(bind.apply(PLACEMENT, FakeKernel(fails={call: errno.EPERM})), half)
    assert (fact.state, fact.actual) == (State.APPLIED, None)
    assert "cannot be read back" in (fact.message or "")


@pytest.mark.parametrize("call", ["set_affinity", "set_policy"])
def test_any_other_error_is_failed_with_its_text(call: str) -> None:
    outcome = bind.apply(PLACEMENT, FakeKernel(fails={call: errno.ENOMEM}))
    fact = outcome.cpu if call == "set_affinity" else outcome.memory
    assert (fact.state, fact.errno_name) == (State.FAILED, "ENOMEM")
    assert (fact.message or "").endswith(".")


def test_placements_and_outcomes_travel_as_json() -> None:
    outcome = bind.apply(PLACEMENT, FakeKernel(fails={"set_policy": errno.EPERM}))
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
    assert Placement.from_json(json.loads(json.dumps(PLACEMENT.to_json()))) == PLACEMENT
    assert Fact.from_json(outcome.memory.to_json()) == outcome.memory


@pytest.mark.parametrize(
    "data", [{}, [], None, {**PLACEMENT.to_json(), "cpus": "0"}, {**PLACEMENT.to_json(), "policy": "x"}]
)
def test_a_malformed_placement_is_a_value_error(data: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        Placement.from_json(data)


BOOTSTRAP = """
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
from envdyno.agent.placement.bind import apply
from envdyno.agent.placement.placement import Placement
apply(Placement.from_json(dict(worker=0, node=0, cpus=[0], memory_nodes=[0], policy="bind", threads=1)))
print(" ".join(sorted(set(sys.modules) - before)))
"""


def test_binding_imports_few_modules_and_only_of_the_standard_library() -> None:
    source = Path(envdyno.__file__).parents[1]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BOOTSTRAP, str(source)], capture_output=True, text=True, check=True
    )
    loaded = ran.stdout.split()
    outside = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert outside == {"envdyno"}
    assert not {"dataclasses", "inspect", "pathlib", "subprocess", "threading"} & set(loaded)
    ours = {name for name in loaded if name.startswith("envdyno.agent.placement.")}
    assert "envdyno.agent.placement.topology" not in ours
    assert len(ours) <= 9


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_a_process_that_is_bound_on_this_machine_runs_where_it_was_told() -> None:
    cpu = max(os.sched_getaffinity(0))
    placement = Placement(0, 0, (cpu,), (), MemoryPolicy.OFF, 1)
    program = (
        "import json, os, sys\n"
        "from envdyno.agent.placement.bind import apply\n"
        "from envdyno.agent.placement.placement import Placement\n"
        "outcome = apply(Placement.from_json(json.loads(sys.argv[1])))\n"
        "print(outcome.cpu.state.value, sorted(os.sched_getaffinity(0)))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, json.dumps(placement.to_json())],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == f"applied [{cpu}]"


def test_a_failed_mask_that_cannot_be_compared_is_still_explained() -> None:
    kernel = FakeKernel(cpus=(0, 1), fails={"get_affinity": errno.EPERM})
    fact = bind.apply(PLACEMENT, kernel).cpu
    assert (fact.message or "").endswith("outside the process's cpuset.")
