"""Start child processes in a placement from a parent that stays where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from types import TracebackType

from envdyno.agent.placement.errors import PlacementError, RestoreError
from envdyno.agent.placement.outcome import Outcome
from envdyno.agent.placement.placement import Placement
from envdyno.agent.placement.pools import thread_variables
from envdyno.agent.placement.restore import Bound
from envdyno.agent.placement.syscalls import Kernel


class SpawnPlacement:
    """Context manager in which started processes inherit a placement; see :func:`spawn_placement`."""

    def __init__(self, bound: Bound, threads: int, environ: MutableMapping[str, str]) -> None:
        self._bound = bound
        self._threads = threads
        self._environ = environ
        self._before: dict[str, str | None] = {}

    def __enter__(self) -> Outcome:
        if _fork_server() is not None:
            raise PlacementError(
                "A fork server of multiprocessing is running, and its children get its placement, whatever "
                'this one is. Start them with multiprocessing.get_context("spawn").'
            )
        try:
            outcome = self._bound.__enter__()
            for name, value in thread_variables(self._threads, self._environ).set.items():
                self._before[name] = self._environ.get(name)
                self._environ[name] = value
        except BaseException:
            self._leave()
            raise
        return outcome

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        server = _fork_server()
        if server is not None and error is None:
            raise RestoreError(
                f"A fork server of multiprocessing (process {server}) was started in this placement and "
                "keeps it: whatever it starts later is placed there too. Start children with "
                'multiprocessing.get_context("spawn").'
            )

    def _leave(self) -> None:
        """Put back the environment, then mask and policy."""
        try:
            for name, value in self._before.items():
                if value is None:
                    self._environ.pop(name, None)
                else:
                    self._environ[name] = value
        finally:
            self._bound.put_back()


def spawn_placement(
    placement: Placement,
    *,
    strict: bool = False,
    environ: MutableMapping[str, str] | None = None,
    kernel: Kernel | None = None,
) -> SpawnPlacement:
    """Bind the calling thread while it starts child processes, which inherit the placement.

    So a child's very first page, its interpreter's too, comes from the right node. Inside, the variables that
    size thread pools are set for the placement as well (those that the user has set are left alone).

    Use it around ``Process.start()`` of the ``spawn`` start method, or ``subprocess.Popen``. Children of a
    fork server inherit from the server, so that is refused.

    Args:
        placement: Where the children run and where their memory comes from.
        strict: Raise when anything that was asked for is not in place.
        environ: The environment that the children inherit; ``os.environ`` by default.
        kernel: The system calls; those of this machine by default.

    Raises:
        PlacementError: On entry, when a fork server is running; with ``strict``, when a half was not applied.
        RestoreError: On exit, when mask or policy could not be put back, or a fork server was started inside.
    """
    bound = Bound(placement, strict, kernel or Kernel())
    return SpawnPlacement(bound, placement.threads, os.environ if environ is None else environ)


def _fork_server() -> int | None:
    """Process id of multiprocessing's fork server, or None. It is kept in a private attribute."""
    module = sys.modules.get("multiprocessing.forkserver")
    server = getattr(module, "_forkserver", None)
    pid = getattr(server, "_forkserver_pid", None)
    return pid if isinstance(pid, int) else None
