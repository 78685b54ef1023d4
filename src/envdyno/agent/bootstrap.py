"""First life of a worker process: bind, report, and become the worker proper.

Run as a script by the interpreter of the side under test with ``-I -S``: no site packages, no ``.pth``
files, no ``sitecustomize``, no working directory on the path. It applies the placement and then replaces
itself by the same interpreter without these flags. Affinity and memory policy pass through ``execve``
(sched_setaffinity(2), set_mempolicy(2)), so even the interpreter's own start-up memory and whatever a
``.pth`` file imports are placed.

Arguments: the interpreter, the file descriptors to read from and to write to, and the placement as JSON.
"""

import os
import sys

PR_SET_PDEATHSIG = 1
SIGKILL = 9


def end_with_parent() -> None:
    """Ask the kernel to kill this process when the control dies (prctl(2), PR_SET_PDEATHSIG).

    The setting survives ``execve``. Where there is no prctl, the control's sentinel does it alone.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def bootstrap(argv: "list[str]") -> None:
    """Apply the placement of ``argv`` and execute the worker; does not return."""
    interpreter, read_fd, write_fd, placement_json = argv
    package_root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, package_root)
    end_with_parent()

    import json
    import time

    from envdyno.agent.placement.bind import apply
    from envdyno.agent.placement.placement import Placement
    from envdyno.agent.protocol import FromWorker, encode

    began_ns = time.monotonic_ns()
    outcome = apply(Placement.from_json(json.loads(placement_json)))
    body = {
        "pid": os.getpid(),
        "outcome": outcome.to_json(),
        "seconds": (time.monotonic_ns() - began_ns) / 1e9,
        "modules": sorted(sys.modules),
        "python": sys.version.split()[0],
    }
    os.write(int(write_fd), encode(FromWorker.PLACED, body))
    worker = os.path.join(package_root, "envdyno", "agent", "start.py")
    arguments = [read_fd, write_fd, placement_json, json.dumps(body["outcome"])]
    os.execv(interpreter, [interpreter, worker, *arguments])


if __name__ == "__main__":
    bootstrap(sys.argv[1:])
