"""Bind the calling thread to a placement: affinity first, then memory policy, both read back.

Runs in the small interpreter that starts a worker, before anything else is imported; so this module and what
it imports stay few and light.
"""

from __future__ import annotations

import errno

from envdyno.agent.placement.cpulist import format_cpulist, parse_cpulist
from envdyno.agent.placement.mempolicy import Mode, Policy, policy_for
from envdyno.agent.placement.outcome import Fact, Outcome, State
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.syscalls import Kernel

_DENIED = (errno.EPERM, errno.EACCES)
_ABSENT = (errno.ENOSYS, errno.EOPNOTSUPP)

SECCOMP_REMEDY = (
    "In a container, allow the call: add the capability (docker run --cap-add SYS_NICE; in Kubernetes "
    'securityContext.capabilities.add: ["SYS_NICE"]) or a seccomp profile that allows it '
    "(--security-opt seccomp=PROFILE). Or run without memory binding: --mem off."
)
AFFINITY_REMEDY = "Allow sched_setaffinity in the sandbox's system-call filter, or run unbound: --numa off."


def apply(placement: Placement, kernel: Kernel | None = None) -> Outcome:
    """Bind the calling thread, and so every thread and process that it starts afterwards.

    Threads that run already keep their mask and policy: call this before any other thread starts.

    Args:
        placement: Where to run and where memory comes from.
        kernel: The system calls; those of this machine by default.

    Returns:
        What came of it, CPU and memory apart. No failure raises: the caller decides what it means.
    """
    kernel = kernel or Kernel()
    return Outcome(cpu=bind_cpus(placement, kernel), memory=bind_memory(placement, kernel))


def bind_cpus(placement: Placement, kernel: Kernel) -> Fact:
    """Set the affinity of the calling thread and read it back."""
    wanted = placement.cpus
    if not wanted:
        return Fact(State.OFF)
    try:
        kernel.set_affinity(wanted)
    except OSError as error:
        return _cpu_error(error, wanted, kernel)
    try:
        actual = kernel.get_affinity()
    except OSError as error:
        return Fact.from_error(State.APPLIED, error, "The CPU mask was set, but it cannot be read back.")
    if set(actual) == set(wanted):
        return Fact(State.APPLIED, actual)
    return Fact(
        State.PARTIAL,
        actual,
        message=(
            f"The CPUs {format_cpulist(wanted)} were asked for; "
            f"the kernel allows {format_cpulist(actual)} of them."
        ),
        remedy="Ask for CPUs that are online and inside the process's cpuset: --cpus LIST.",
    )


def bind_memory(placement: Placement, kernel: Kernel) -> Fact:
    """Set the memory policy of the calling thread and read it back."""
    if placement.policy is MemoryPolicy.OFF:
        return Fact(State.OFF)
    if not placement.memory_nodes:
        return Fact(
            State.UNSUPPORTED,
            message="Memory is not bound, for this system shows no memory nodes.",
        )
    policy = policy_for(placement.policy, placement.memory_nodes)
    try:
        policy = _set_policy(policy, placement.memory_nodes[0], kernel)
    except OSError as error:
        return _memory_error(error, policy, kernel)
    return _read_policy_back(policy, kernel)


def _set_policy(policy: Policy, nearest: int, kernel: Kernel) -> Policy:
    """Set a policy; on kernels before 5.15, which prefer one node only, prefer the nearest."""
    try:
        kernel.set_policy(policy)
    except OSError as error:
        if policy.mode != Mode.PREFERRED_MANY or error.errno != errno.EINVAL:
            raise
        policy = Policy(Mode.PREFERRED, 0, (nearest,))
        kernel.set_policy(policy)
    return policy


def _read_policy_back(policy: Policy, kernel: Kernel) -> Fact:
    try:
        actual = kernel.get_policy()
    except OSError as error:
        return Fact.from_error(State.APPLIED, error, "The memory policy was set, but it cannot be read back.")
    if actual.mode == policy.mode and actual.nodes == policy.nodes:
        return Fact(State.APPLIED, actual.nodes)
    return Fact(
        State.PARTIAL,
        actual.nodes,
        message=f"The memory policy {policy} was asked for; the kernel keeps {actual}.",
        remedy="Allow these memory nodes in the cpuset (cpuset.mems), or choose others: --numa LIST.",
    )


def _cpu_error(error: OSError, wanted: tuple[int, ...], kernel: Kernel) -> Fact:
    cpus = format_cpulist(wanted)
    if error.errno in _ABSENT:
        return Fact.from_error(
            State.UNSUPPORTED, error, "This system cannot bind a process to CPUs (no sched_setaffinity)."
        )
    if error.errno in _DENIED:
        return Fact.from_error(
            State.DENIED, error, f"Binding to the CPUs {cpus} was refused.", AFFINITY_REMEDY
        )
    if error.errno == errno.EINVAL:
        return Fact.from_error(
            State.FAILED,
            error,
            f"None of the CPUs {cpus} may be used: they are offline or outside the process's cpuset"
            f"{_allowed_now(kernel)}.",
            "Ask for CPUs that are online and inside the process's cpuset: --cpus LIST.",
        )
    return Fact.from_error(State.FAILED, error, f"Binding to the CPUs {cpus} failed: {error.strerror}.")


def _allowed_now(kernel: Kernel) -> str:
    try:
        return f" (now {format_cpulist(kernel.get_affinity())})"
    except OSError:
        return ""


def _memory_error(error: OSError, policy: Policy, kernel: Kernel) -> Fact:
    if error.errno in _ABSENT:
        return Fact.from_error(
            State.UNSUPPORTED, error, "This system has no memory policies (no set_mempolicy)."
        )
    if error.errno in _DENIED:
        return Fact.from_error(
            State.DENIED,
            error,
            f"Setting the memory policy {policy} was refused; a container's seccomp profile does that "
            "unless the process has CAP_SYS_NICE.",
            SECCOMP_REMEDY,
        )
    if error.errno == errno.EINVAL:
        return _invalid_nodes(error, policy, kernel)
    return Fact.from_error(
        State.FAILED, error, f"Setting the memory policy {policy} failed: {error.strerror}."
    )


def _invalid_nodes(error: OSError, policy: Policy, kernel: Kernel) -> Fact:
    """EINVAL does not tell its cause; the nodes that the cpuset allows do."""
    allowed = _mems_allowed(kernel)
    nodes = format_cpulist(policy.nodes)
    if allowed is not None and not set(allowed) & set(policy.nodes):
        message = (
            f"Memory cannot come from node {nodes}: it has no memory, is not there, or the process's "
            f"cpuset does not allow it (allowed: {format_cpulist(allowed)})."
        )
        remedy = "Allow the node in the cpuset (cpuset.mems), or choose other nodes: --numa LIST."
        return Fact.from_error(State.FAILED, error, message, remedy)
    return Fact.from_error(
        State.FAILED, error, f"The kernel does not accept the memory policy {policy}.", "Try --mem preferred."
    )


def _mems_allowed(kernel: Kernel) -> tuple[int, ...] | None:
    """Nodes that the cpuset allows for memory, from the system call or else from procfs."""
    try:
        return kernel.mems_allowed()
    except OSError:
        pass
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("Mems_allowed_list:"):
                    return parse_cpulist(line.partition(":")[2])
    except (OSError, ValueError):
        pass
    return None
