"""A kernel in memory that keeps masks and policies the way Linux does, and fails when told to."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Sequence

from envdyno.agent.placement.mempolicy import STATIC_NODES, Mode, Policy
from envdyno.agent.placement.syscalls import Kernel


def refusal(code: int) -> OSError:
    """The error of a system call."""
    return OSError(code, os.strerror(code))


class FakeKernel(Kernel):
    """One thread on a machine with some CPUs and some memory nodes.

    Masks and node sets are trimmed silently to what is allowed; an empty rest is EINVAL. Preferring several
    nodes can be left out, as before Linux 5.15.
    """

    def __init__(
        self,
        cpus: Iterable[int] = range(8),
        mems: Iterable[int] = (0, 1),
        *,
        affinity: Iterable[int] | None = None,
        policy: Policy | None = None,
        fails: dict[str, int] | None = None,
        prefers_many: bool = True,
    ) -> None:
        self.cpus = tuple(cpus)
        self.mems = tuple(mems)
        self.affinity = tuple(affinity) if affinity is not None else self.cpus
        self.policy = policy or Policy(Mode.DEFAULT)
        self.fails = fails or {}
        self.prefers_many = prefers_many
        self.calls: list[str] = []
        self.before_call: Callable[[int, str], None] = lambda index, name: None
        self.after_call: Callable[[int, str], None] = lambda index, name: None

    @property
    def state(self) -> tuple[tuple[int, ...], Policy]:
        """Mask and policy, read without a call."""
        return self.affinity, self.policy

    def get_affinity(self, tid: int = 0) -> tuple[int, ...]:
        return self._run("get_affinity", lambda: self.affinity)

    def set_affinity(self, cpus: Iterable[int], tid: int = 0) -> None:
        def act() -> None:
            kept = tuple(sorted(set(cpus) & set(self.cpus)))
            if not kept:
                raise refusal(errno.EINVAL)
            self.affinity = kept

        self._run("set_affinity", act)

    def get_policy(self) -> Policy:
        return self._run("get_policy", lambda: self.policy)

    def set_policy(self, policy: Policy) -> None:
        def act() -> None:
            if policy.mode == Mode.PREFERRED_MANY and not self.prefers_many:
                raise refusal(errno.EINVAL)
            kept = tuple(node for node in policy.nodes if node in self.mems)
            if policy.nodes and not kept:
                raise refusal(errno.EINVAL)
            static = policy.flags & STATIC_NODES
            self.policy = policy if static else policy._replace(nodes=kept)

        self._run("set_policy", act)

    def mems_allowed(self) -> tuple[int, ...]:
        return self._run("mems_allowed", lambda: self.mems)

    def page_nodes(self, addresses: Sequence[int], pid: int = 0) -> tuple[int, ...]:
        return self._run("page_nodes", lambda: tuple(0 for _ in addresses))

    def _run(self, name: str, act):  # type: ignore[no-untyped-def]
        index = len(self.calls)
        self.calls.append(name)
        self.before_call(index, name)
        if name in self.fails:
            raise refusal(self.fails[name])
        result = act()
        self.after_call(index, name)
        return result
