"""System calls by number, through libc's ``syscall``: for those that the standard library does not offer.

Where a call does not exist (another system, another processor, no ``ctypes``) it raises ``OSError`` with
``ENOSYS``, as an old kernel or a sandbox does.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
_X86_64 = {
    "mbind": 237,
    "set_mempolicy": 238,
    "get_mempolicy": 239,
    "move_pages": 279,
    "perf_event_open": 298,
}
_GENERIC = {
    "mbind": 235,
    "get_mempolicy": 236,
    "set_mempolicy": 237,
    "move_pages": 239,
    "perf_event_open": 241,
}
_NUMBERS = {"x86_64": _X86_64, "amd64": _X86_64, "aarch64": _GENERIC, "arm64": _GENERIC}


def system_call(name: str, *arguments: Any) -> int:
    """Make one system call and return what it returns.

    Args:
        name: of the call, as in the kernel's table.
        arguments: whole numbers, ``ctypes`` objects, or ``None`` for a null pointer.

    Raises:
        OSError: the call failed, with the kernel's error number.
    """
    ctypes = ctypes_for(name)
    number = _NUMBERS[os.uname().machine][name]
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
    return result


def ctypes_for(name: str) -> Any:
    """Return the module ``ctypes``, imported late: few calls need it, and some interpreters lack it.

    Raises:
        OSError: with ``ENOSYS``, the call ``name`` cannot be made here.
    """
    # A 32-bit interpreter on a 64-bit kernel has other call numbers.
    supported = sys.platform == "linux" and sys.maxsize > 1 << 32 and os.uname().machine in _NUMBERS
    if not supported:
        raise unsupported(name)
    try:
        import ctypes
    except ImportError as error:
        raise unsupported(name) from error
    return ctypes


def unsupported(name: str) -> OSError:
    """Return the error of a call that does not exist."""
    return OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
