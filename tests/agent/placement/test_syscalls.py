from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from envdyno.agent.placement import syscalls
from envdyno.agent.placement.mempolicy import STATIC_NODES, Mode, Policy
from envdyno.agent.placement.syscalls import Kernel

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks this machine's kernel")


class _Libc:
    """Records system calls, and answers as told."""

    def __init__(self, result: int = 0, code: int = 0) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._result = result
        self._code = code

    def syscall(self, *arguments: Any) -> int:
        self.calls.append(arguments)
        ctypes.set_errno(self._code)
        return self._result


def _bits(mask: Any, maxnode: int) -> set[int]:
    """Nodes that the kernel sees: ``get_nodes`` of mm/mempolicy.c reads ``maxnode - 1`` bits."""
    return {bit for bit in range(maxnode - 1) if mask[bit // 64] >> bit % 64 & 1}


@pytest.fixture
def libc(monkeypatch: pytest.MonkeyPatch) -> _Libc:
    """A C library that only records."""
    recorder = _Libc()
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: recorder)
    return recorder


@LINUX
@pytest.mark.parametrize("node", [0, 1, 62, 63, 64, 127, 128, 1023])
def test_every_node_id_reaches_the_kernel(libc: _Libc, node: int) -> None:
    Kernel().set_policy(Policy(Mode.BIND, STATIC_NODES, (node,)))
    ((_, word, mask, maxnode),) = libc.calls
    assert word.value == Mode.BIND | STATIC_NODES
    assert _bits(mask, maxnode.value) == {node}


@LINUX
def test_a_policy_without_nodes_has_no_mask(libc: _Libc) -> None:
    Kernel().set_policy(Policy(Mode.DEFAULT))
    ((_, word, mask, maxnode),) = libc.calls
    assert (word.value, mask, maxnode.value) == (0, None, 0)


@LINUX
@pytest.mark.parametrize(
    ("machine", "numbers"),
    [("x86_64", (238, 239, 237, 279)), ("aarch64", (237, 236, 235, 239))],
)
def test_each_processor_has_its_own_call_numbers(
    libc: _Libc, monkeypatch: pytest.MonkeyPatch, machine: str, numbers: tuple[int, ...]
) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    kernel = Kernel()
    kernel.set_policy(Policy(Mode.BIND, 0, (0,)))
    kernel.get_policy()
    kernel.bind_range(4096, 4096, Policy(Mode.BIND, 0, (0,)))
    kernel.page_nodes([4096])
    assert tuple(call[0].value for call in libc.calls) == numbers


@LINUX
@pytest.mark.parametrize("code", [errno.EPERM, errno.EINVAL, errno.ENOSYS])
def test_a_refusal_is_an_oserror_with_the_kernels_number(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: _Libc(-1, code))
    with pytest.raises(OSError, match=r".") as caught:
        Kernel().set_policy(Policy(Mode.BIND, 0, (0,)))
    assert caught.value.errno == code


CALLS = {
    "get_policy": lambda kernel: kernel.get_policy(),
    "set_policy": lambda kernel: kernel.set_policy(Policy(Mode.BIND, 0, (0,))),
    "mems_allowed": lambda kernel: kernel.mems_allowed(),
    "bind_range": lambda kernel: kernel.bind_range(0, 4096, Policy(Mode.BIND, 0, (0,))),
    "page_nodes": lambda kernel: kernel.page_nodes([0]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("lack", ["platform", "processor", "ctypes", "64 bits"])
def test_calls_that_do_not_exist_fail_like_an_old_kernel(
    monkeypatch: pytest.MonkeyPatch, name: str, lack: str
) -> None:
    if lack == "platform":
        monkeypatch.setattr(sys, "platform", "darwin")
    elif lack == "processor":
        monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="riscv64"))
    elif lack == "ctypes":
        monkeypatch.setitem(sys.modules, "ctypes", None)
    else:
        monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    with pytest.raises(OSError, match=r".") as caught:
        CALLS[name](Kernel())
    assert caught.value.errno == errno.ENOSYS


def test_without_affinity_calls_both_fail_like_an_old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    for call in (Kernel().get_affinity, lambda: Kernel().set_affinity((0,))):
        with pytest.raises(OSError, match=r".") as caught:
            call()
        assert caught.value.errno == errno.ENOSYS


@LINUX
def test_this_kernel_tells_its_policy_its_nodes_and_the_node_of_a_page() -> None:
    kernel = Kernel()
    try:
        allowed = kernel.mems_allowed()
        policy = kernel.get_policy()
    except OSError as error:
        pytest.skip(f"this system refuses get_mempolicy: {error}")
    assert allowed
    assert policy.mode in set(Mode)
    page = ctypes.create_string_buffer(b"x" * 4096)
    try:
        (node,) = kernel.page_nodes([ctypes.addressof(page)])
    except OSError as error:
        pytest.skip(f"this system refuses move_pages: {error}")
    assert node in allowed or node < 0


def test_ids_of_a_mask_are_the_bits_over_all_words() -> None:
    assert syscalls._ids([0b101, 0, 1]) == (0, 2, 128)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_masks_reach_beyond_1024_cpus() -> None:
    cpu = max(os.sched_getaffinity(0))
    program = (
        "from envdyno.agent.placement.syscalls import Kernel\n"
        f"kernel = Kernel(); kernel.set_affinity(({cpu}, 1152, 4095)); print(kernel.get_affinity())\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == f"({cpu},)"
