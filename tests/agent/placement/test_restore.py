from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from fake_kernel import FakeKernel, refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.placement import restore
from envdyno.agent.placement.errors import PlacementError, RestoreError
from envdyno.agent.placement.mempolicy import NUMA_BALANCING, RELATIVE_NODES, STATIC_NODES, Mode, Policy
from envdyno.agent.placement.outcome import State
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.restore import bound

PLACEMENT = Placement(0, 1, (4, 5), (1,), MemoryPolicy.BIND, 2)

POLICIES = [
    Policy(Mode.DEFAULT),
    Policy(Mode.LOCAL),
    Policy(Mode.PREFERRED, 0, (0,)),
    Policy(Mode.PREFERRED),
    Policy(Mode.BIND, STATIC_NODES, (0, 1, 7)),
    Policy(Mode.BIND, RELATIVE_NODES, (0,)),
    Policy(Mode.BIND, NUMA_BALANCING, (0, 1)),
    Policy(Mode.INTERLEAVE, 0, (0, 1)),
    Policy(Mode.PREFERRED_MANY, 0, (0, 1)),
    Policy(12, STATIC_NODES, (1,)),
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_mask_and_policy_are_put_back_with_their_flags_and_nodes(policy: Policy) -> None:
    kernel = FakeKernel(affinity=(1, 3), policy=policy)
    with bound(PLACEMENT, kernel=kernel) as outcome:
        assert outcome.complete
        assert kernel.state == ((4, 5), Policy(Mode.BIND, 0, (1,)))
    assert kernel.state == ((1, 3), policy)


def test_they_are_put_back_when_the_body_raises() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    before = kernel.state
    with pytest.raises(LookupError), bound(PLACEMENT, kernel=kernel):
        raise LookupError
    assert kernel.state == before


def test_they_are_put_back_when_the_body_changed_them_itself() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    before = kernel.state
    with bound(Placement(0, None, (), (), MemoryPolicy.OFF, 1), kernel=kernel):
        kernel.set_affinity((7,))
        kernel.set_policy(Policy(Mode.BIND, 0, (0,)))
    assert kernel.state == before


@pytest.mark.parametrize("call", ["set_affinity", "set_policy"])
def test_what_was_bound_is_put_back_when_the_other_half_fails(call: str) -> None:
    kernel = FakeKernel(affinity=(1, 3), fails={call: errno.EPERM})
    before = kernel.state
    with bound(PLACEMENT, kernel=kernel) as outcome:
        assert not outcome.complete
        kernel.fails.clear()
    assert kernel.state == before


def test_strict_refuses_a_half_binding_and_leaves_nothing_changed() -> None:
    kernel = FakeKernel(affinity=(1, 3), fails={"set_policy": errno.EPERM})
    before = kernel.state
    with pytest.raises(PlacementError, match=r"memory policy bind:1 was refused.*--mem off"):
        bound(PLACEMENT, strict=True, kernel=kernel).__enter__()
    assert kernel.state == before


def test_strict_refuses_a_trimmed_mask() -> None:
    kernel = FakeKernel(cpus=(0, 4))
    with pytest.raises(PlacementError, match="4-5 were asked for"):
        bound(PLACEMENT, strict=True, kernel=kernel).__enter__()
    assert kernel.affinity == (0, 4)


@pytest.mark.parametrize(
    ("call", "half", "code", "state"),
    [
        ("get_policy", "memory", errno.EPERM, State.DENIED),
        ("get_policy", "memory", errno.ENOSYS, State.UNSUPPORTED),
        ("get_affinity", "cpu", errno.ENOSYS, State.UNSUPPORTED),
    ],
)
def test_what_cannot_be_read_is_left_alone(call: str, half: str, code: int, state: State) -> None:
    kernel = FakeKernel(fails={call: code})
    with bound(PLACEMENT, kernel=kernel) as outcome:
        fact = getattr(outcome, half)
        assert fact.state is state
        assert "left alone" in (fact.message or "")
    assert {"memory": "set_policy", "cpu": "set_affinity"}[half] not in kernel.calls


def test_nested_placements_come_off_one_by_one() -> None:
    kernel = FakeKernel(affinity=(0, 1, 2))
    outer, inner = PLACEMENT, PLACEMENT._replace(cpus=(6,), memory_nodes=(0,))
    before = kernel.state
    with bound(outer, kernel=kernel):
        between = kernel.state
        with bound(inner, kernel=kernel):
            assert kernel.affinity == (6,)
        assert kernel.state == between
    assert kernel.state == before


def test_one_context_manager_cannot_be_entered_twice_at_once() -> None:
    kernel = FakeKernel()
    manager = bound(PLACEMENT, kernel=kernel)
    with manager, pytest.raises(PlacementError, match="in force already"):
        manager.__enter__()
    with manager:
        assert kernel.affinity == (4, 5)


def _inside(kernel: FakeKernel, change: Callable[[], object], body: Exception | None = None) -> None:
    with bound(PLACEMENT, kernel=kernel):
        change()
        if body is not None:
            raise body


def test_a_failing_restore_of_the_policy_tells_what_it_is_and_what_it_was() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    with pytest.raises(RestoreError) as caught:
        _inside(kernel, lambda: kernel.fails.update(set_policy=errno.EPERM))
    assert "its memory policy is bind:1, before it was default (Operation not permitted)" in str(caught.value)
    assert "CPU mask" not in str(caught.value)
    assert kernel.affinity == (1, 3)


def test_a_failing_restore_of_the_mask_still_puts_the_policy_back() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    with pytest.raises(RestoreError, match="its CPU mask is 4-5, before it was 1,3"):
        _inside(kernel, lambda: kernel.fails.update(set_affinity=errno.EPERM))
    assert kernel.policy == Policy(Mode.DEFAULT)


def test_a_mask_that_comes_back_trimmed_is_a_failed_restore() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    with pytest.raises(RestoreError, match="its CPU mask is 1, before it was 1,3"):
        _inside(kernel, lambda: setattr(kernel, "cpus", (0, 1, 2, 4, 5)))


def test_a_failing_restore_keeps_the_bodys_exception_as_its_context() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    with pytest.raises(RestoreError) as caught:
        _inside(kernel, lambda: kernel.fails.update(set_policy=errno.EPERM), LookupError("body"))
    assert isinstance(caught.value.__context__, LookupError)


def test_a_state_that_can_no_longer_be_read_is_called_unknown() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    with pytest.raises(RestoreError, match="its memory policy is unknown, before it was default"):
        _inside(kernel, lambda: kernel.fails.update(get_policy=errno.EPERM, set_policy=errno.EPERM))


def _interrupt_at(index: int, after: bool, kernel: FakeKernel) -> None:
    def hook(call: int, name: str) -> None:
        if call == index:
            raise KeyboardInterrupt

    setattr(kernel, "after_call" if after else "before_call", hook)


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
@pytest.mark.parametrize("index", range(14))
def test_an_interrupt_at_any_system_call_leaves_nothing_bound(index: int, after: bool) -> None:
    kernel = FakeKernel(affinity=(1, 3), policy=Policy(Mode.BIND, STATIC_NODES, (0, 7)))
    before = kernel.state
    _interrupt_at(index, after, kernel)
    interrupted = False
    try:
        with bound(PLACEMENT, kernel=kernel):
            pass
    except KeyboardInterrupt:
        interrupted = True
    assert kernel.state == before
    assert interrupted or len(kernel.calls) <= index


@pytest.mark.parametrize("nth", range(6))
def test_an_interrupt_during_the_restore_is_raised_when_everything_is_back(nth: int) -> None:
    kernel = FakeKernel(affinity=(1, 3))
    before = kernel.state
    with pytest.raises(KeyboardInterrupt):
        _inside(kernel, lambda: _interrupt_at(len(kernel.calls) + nth, True, kernel))
    assert kernel.state == before


def test_interrupts_without_end_are_a_failed_restore() -> None:
    kernel = FakeKernel(affinity=(1, 3))

    def always(call: int, name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(RestoreError, match="was interrupted 8 times in a row"):
        _inside(kernel, lambda: setattr(kernel, "before_call", always))


def _enter_and_leave(kernel: FakeKernel) -> None:
    with bound(PLACEMENT, kernel=kernel):
        pass


def _lines_run(kernel: FakeKernel, stop_at: int | None) -> int:
    """Run a placement while counting lines of the module; raise KeyboardInterrupt at one of them."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename != restore.__file__ or frame.f_code.co_name == "__del__":
            return None  # nobody sees what a finalizer raises
        if event == "line":
            count += 1
            if count == stop_at:
                raise KeyboardInterrupt
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        _enter_and_leave(kernel)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(previous)
    return count


def test_an_interrupt_at_any_line_leaves_nothing_bound() -> None:
    total = _lines_run(FakeKernel(affinity=(1, 3)), None)
    assert total > 30
    for line in range(1, total + 1):
        kernel = FakeKernel(affinity=(1, 3), policy=Policy(Mode.INTERLEAVE, 0, (0, 1)))
        before = kernel.state
        _lines_run(kernel, line)
        assert kernel.state == before, f"interrupted at line event {line}"


def test_leaving_in_another_thread_is_refused_and_told() -> None:
    kernel = FakeKernel(affinity=(1, 3))
    manager = bound(PLACEMENT, kernel=kernel)
    errors: list[Exception] = []
    manager.__enter__()

    def leave() -> None:
        try:
            manager.put_back()
        except RestoreError as error:
            errors.append(error)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert "left in another" in str(errors[0])
    assert "It was CPU 1,3, memory policy default" in str(errors[0])


@settings(max_examples=50)
@given(
    st.frozensets(st.integers(0, 7), min_size=1),
    st.sampled_from(POLICIES),
    st.frozensets(st.integers(0, 9), min_size=1),
    st.sampled_from(MemoryPolicy),
    st.sets(st.sampled_from(["set_affinity", "set_policy", "get_policy", "get_affinity"]), max_size=2),
)
def test_whatever_fails_on_entry_the_state_comes_back(
    affinity: frozenset[int], policy: Policy, cpus: frozenset[int], memory: MemoryPolicy, fails: set[str]
) -> None:
    kernel = FakeKernel(affinity=sorted(affinity), policy=policy, fails=dict.fromkeys(fails, errno.EPERM))
    before = kernel.state
    with bound(PLACEMENT._replace(cpus=tuple(sorted(cpus)), policy=memory), kernel=kernel):
        kernel.fails.clear()
    assert kernel.state == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_a_real_thread_is_bound_and_put_back() -> None:
    before = os.sched_getaffinity(0)
    placement = Placement(0, 0, (max(before),), (0,), MemoryPolicy.BIND, 1)
    with bound(placement) as outcome:
        assert os.sched_getaffinity(0) == {max(before)}
        assert outcome.cpu.state is State.APPLIED
    assert os.sched_getaffinity(0) == before


def test_a_refusal_carries_the_kernels_number() -> None:
    assert refusal(errno.EPERM).errno == errno.EPERM
