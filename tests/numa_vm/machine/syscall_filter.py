"""Has the kernel refuse chosen system calls, as a container's seccomp profile does."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

# asm/unistd_64.h
_NUMBERS = {
    "sched_setaffinity": 203,
    "sched_getaffinity": 204,
    "mbind": 237,
    "set_mempolicy": 238,
    "get_mempolicy": 239,
    "migrate_pages": 256,
    "move_pages": 279,
    "perf_event_open": 298,
    "set_mempolicy_home_node": 450,
}

# What Docker's default profile refuses a container that has no capability (profiles/seccomp/default.json of
# github.com/moby/moby): the first group wants CAP_SYS_NICE, the next two calls are in no list at all.
CONTAINER_DEFAULT = (
    *("get_mempolicy", "mbind", "set_mempolicy", "set_mempolicy_home_node"),
    *("migrate_pages", "move_pages"),
    "perf_event_open",
)
# The same with CAP_SYS_NICE, the capability that guides say to add.
CONTAINER_WITH_SYS_NICE = ("migrate_pages", "move_pages", "perf_event_open")

# linux/bpf_common.h, linux/seccomp.h, linux/audit.h, linux/prctl.h
_LOAD_WORD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_OFFSET_OF_NUMBER, _OFFSET_OF_ARCHITECTURE, _X86_64 = 0, 4, 0xC000003E
_PR_SET_SECCOMP, _MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def refuse(calls: Sequence[str], code: int = errno.EPERM) -> None:
    """Let these system calls fail with `code`, in this thread and all that it starts, for good."""
    instructions = [
        struct.pack("HBBI", _LOAD_WORD, 0, 0, _OFFSET_OF_ARCHITECTURE),
        struct.pack("HBBI", _JUMP_IF_EQUAL, 1, 0, _X86_64),
        struct.pack("HBBI", _RETURN, 0, 0, _ALLOW),
        struct.pack("HBBI", _LOAD_WORD, 0, 0, _OFFSET_OF_NUMBER),
    ]
    for call in calls:
        # Equal: go on to the refusal; else jump over it.
        instructions.append(struct.pack("HBBI", _JUMP_IF_EQUAL, 0, 1, _NUMBERS[call]))
        instructions.append(struct.pack("HBBI", _RETURN, 0, 0, _ERRNO | code))
    instructions.append(struct.pack("HBBI", _RETURN, 0, 0, _ALLOW))
    program = _Program(len(instructions), b"".join(instructions))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, 0)
    _prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program))


def _prctl(option: int, first: int, second: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(option, ctypes.c_ulong(first), ctypes.c_ulong(second), zero, zero):
        code = ctypes.get_errno()
        raise OSError(code, f"prctl: {os.strerror(code)}")
