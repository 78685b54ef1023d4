"""Why a hardware counter cannot be had, and what to do: from the error of perf_event_open(2) to words."""

from __future__ import annotations

import errno
from pathlib import Path

_PARANOID = "proc/sys/kernel/perf_event_paranoid"
_USER_SPACE = 2
"""The highest setting that lets everybody count in user space; some distributions have higher ones."""
_NO_COUNTER = frozenset({errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP})
_REFUSED = frozenset({errno.EACCES, errno.EPERM})


def refusal_text(error: OSError, root: Path = Path("/")) -> str:
    """Return a clause that says what the kernel answered, what that means and the remedy.

    Args:
        error: of ``perf_event_open``, or of reading a counter.
        root: of procfs.
    """
    code = error.errno or 0
    name = errno.errorcode.get(code, str(code))
    return f"{_meaning(code, root)} (perf_event_open: {name})"


def _meaning(code: int, root: Path) -> str:
    if code in _NO_COUNTER:
        return (
            "this machine has no counter for it, as most virtual machines; measure on the machine itself, or "
            "let its host pass the performance monitoring unit through"
        )
    if code in _REFUSED:
        return _refused(root)
    return {
        errno.ENOSYS: "the kernel, or the sandbox around this process, has no perf_event_open",
        errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
        errno.EBUSY: "another program holds the counters for itself; end the profiler that runs",
        errno.ESRCH: "the worker had ended",
    }.get(code, "the counter cannot be opened")


def _refused(root: Path) -> str:
    try:
        paranoid = int((root / _PARANOID).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return "this user may not count; give the capability CAP_PERFMON"
    if paranoid > _USER_SPACE:
        return (
            f"kernel.perf_event_paranoid is {paranoid}, and counting needs {_USER_SPACE} or less "
            f"(sysctl kernel.perf_event_paranoid={_USER_SPACE}), or the capability CAP_PERFMON"
        )
    return (
        f"kernel.perf_event_paranoid is {paranoid} and would allow it, so a sandbox does not: let the "
        "container's seccomp profile pass perf_event_open"
    )
