"""Running totals of nested phases, one tree for each thread.

The recorder is the part of :mod:`envdyno.agent.measure.phases` that counts; it knows nothing of ``with``
or of being switched off. Its rules:

* **Nesting makes the path.** A phase entered while another is open on the same thread is its child.
* **Threads never mix.** Every thread has a tree of its own; the thread that steps is read by
  :meth:`PhaseRecorder.totals`, the others by :meth:`PhaseRecorder.other_threads`.
* **Recursion adds calls, not time.** A phase entered while it is already open on that thread counts a
  call; its time is already running, so nothing is counted twice and the tree stays finite.
* **A phase that ends out of turn ends what it encloses.** This happens when a phase is held across a
  ``yield`` or an ``await``. Everything entered after it is ended at the same moment, so a tree always
  nests and children never sum to more than their parent; the late end that follows is ignored.
  :meth:`PhaseRecorder.misnested` counts both.

Every read is exact at the moment it is made: a phase that is open counts with the part that has passed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from enum import Enum

from envdyno.agent.measure.phase_totals import added
from envdyno.agent.workloads.contract import PhaseTotal

Clock = Callable[[], int]
"""A clock in nanoseconds."""


class CpuTiming(str, Enum):
    """Whether phases also measure CPU time."""

    OFF = "off"
    PROCESS = "process"
    """CPU time of all threads of this process (``CLOCK_PROCESS_CPUTIME_ID``). Reading it is a system
    call, so a phase costs about a microsecond more. CPU over wall time is the phase's equivalent cores."""


_Record = tuple[int, int, int, "int | None", "int | None"]
"""Wall ns, CPU ns and calls so far; begin of the open call on both clocks, or None.

A plain tuple, replaced as a whole, so that another thread never reads half an update."""


class _Node:
    """One path in one thread's tree."""

    __slots__ = ("children", "name", "parent", "record", "reentries")

    def __init__(self, name: str, parent: _Node | None) -> None:
        self.name = name
        self.parent = parent
        self.children: dict[str, _Node] = {}
        self.record: _Record = (0, 0, 0, None, None)
        self.reentries = 0

    def path(self) -> str:
        names: list[str] = []
        node: _Node | None = self
        while node is not None and node.parent is not None:
            names.append(node.name)
            node = node.parent
        return "/".join(reversed(names))


class _Tree:
    """Phases of one thread. ``top`` is the innermost open phase; the root stands for "none is open"."""

    __slots__ = ("baseline", "misnested", "root", "thread_name", "top")

    def __init__(self, thread_name: str) -> None:
        self.thread_name = thread_name
        self.root = _Node("", None)
        self.top = self.root
        self.misnested = 0
        self.baseline: dict[str, PhaseTotal] = {}

    def open_node(self, name: str) -> _Node | None:
        """The open phase of this name, innermost first, or None."""
        node: _Node | None = self.top
        while node is not None and node.parent is not None:
            if node.name == name:
                return node
            node = node.parent
        return None

    def nodes(self) -> Iterator[_Node]:
        """Depth first, in the order of first entry, without the root. Safe while the owner adds nodes."""
        pending = list(self.root.children.values())[::-1]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(list(node.children.values())[::-1])


class PhaseRecorder:
    """Counts phases of every thread that enters one."""

    def __init__(
        self,
        wall_clock: Clock = time.monotonic_ns,
        cpu_clock: Clock = time.process_time_ns,
    ) -> None:
        self._wall_clock = wall_clock
        self._cpu_clock = cpu_clock
        self._cpu = CpuTiming.OFF
        self._lock = threading.Lock()
        self._trees: list[_Tree] = []
        self._own = threading.local()
        self._stepping: _Tree | None = None

    @property
    def cpu(self) -> CpuTiming:
        """Whether phases that begin now measure CPU time."""
        return self._cpu

    def start(self, cpu: CpuTiming) -> None:
        """Make the calling thread the one whose phases :meth:`totals` reads, and choose what is measured.

        A change of ``cpu`` resets the totals, for they would otherwise mix calls with and without CPU time.
        """
        self._stepping = self._tree()
        if cpu is not self._cpu:
            self._cpu = cpu
            self.reset()

    def begin(self, name: str) -> None:
        """Enter the phase ``name`` on the calling thread."""
        try:
            tree = self._own.tree
        except AttributeError:
            tree = self._tree()
        top = tree.top
        node = top.children.get(name)
        if node is None:
            node = tree.open_node(name)
            if node is not None:
                node.reentries += 1
                wall_ns, cpu_ns, calls, began, began_cpu = node.record
                node.record = (wall_ns, cpu_ns, calls + 1, began, began_cpu)
                return
            node = top.children[name] = _Node(name, top)
        tree.top = node
        wall_ns, cpu_ns, calls, _, _ = node.record
        began_cpu = self._cpu_clock() if self._cpu is CpuTiming.PROCESS else None
        node.record = (wall_ns, cpu_ns, calls + 1, self._wall_clock(), began_cpu)

    def end(self, name: str) -> None:
        """Leave the phase ``name`` on the calling thread."""
        now = self._wall_clock()
        now_cpu = self._cpu_clock() if self._cpu is CpuTiming.PROCESS else None
        tree = self._tree()
        node = tree.top if tree.top.name == name else tree.open_node(name)
        if node is None:
            tree.misnested += 1
        elif node.reentries:
            node.reentries -= 1
        else:
            if node is not tree.top:
                tree.misnested += 1
                _close_above(node, tree.top, now, now_cpu)
            _close(node, now, now_cpu)
            tree.top = node.parent or tree.root

    def totals(self) -> tuple[PhaseTotal, ...]:
        """Totals of the stepping thread since the last reset; parents before children.

        A phase that has run before the reset and not since has 0 calls. An open phase counts with the time
        that has passed. ``calls`` counts entries. So the difference of two reads is exactly what happened
        between them.
        """
        return () if self._stepping is None else self._read(self._stepping)

    def other_threads(self) -> dict[str, tuple[PhaseTotal, ...]]:
        """Totals of all threads but the stepping one, by thread name; threads of equal name are summed."""
        with self._lock:
            trees = [tree for tree in self._trees if tree is not self._stepping]
        by_name: dict[str, dict[str, PhaseTotal]] = {}
        for tree in trees:
            merged = by_name.setdefault(tree.thread_name, {})
            for total in self._read(tree):
                known = merged.get(total.path)
                merged[total.path] = total if known is None else added(known, total)
        return {name: tuple(merged.values()) for name, merged in by_name.items() if merged}

    def misnested(self) -> int:
        """How often, since the start of the process, a phase ended that was not the innermost open one."""
        with self._lock:
            return sum(tree.misnested for tree in self._trees)

    def reset(self) -> None:
        """Begin again at zero. Of an open phase, only what is still to come will count."""
        with self._lock:
            for tree in self._trees:
                tree.baseline = {}
                tree.baseline = {total.path: total for total in self._read(tree)}

    def _tree(self) -> _Tree:
        tree: _Tree | None = getattr(self._own, "tree", None)
        if tree is None:
            tree = self._own.tree = _Tree(threading.current_thread().name)
            with self._lock:
                self._trees.append(tree)
        return tree

    def _read(self, tree: _Tree) -> tuple[PhaseTotal, ...]:
        now = self._wall_clock()
        with_cpu = self._cpu is CpuTiming.PROCESS
        now_cpu = self._cpu_clock() if with_cpu else None
        totals = []
        for node in tree.nodes():
            wall_ns, cpu_ns, calls, began, began_cpu = node.record
            if began is not None:
                wall_ns += max(0, now - began)
            if began_cpu is not None and now_cpu is not None:
                cpu_ns += max(0, now_cpu - began_cpu)
            base = tree.baseline.get(path := node.path(), PhaseTotal(path, 0, 0, 0))
            cpu = cpu_ns - (base.cpu_ns or 0) if with_cpu else None
            totals.append(PhaseTotal(path, wall_ns - base.wall_ns, calls - (base.calls or 0), cpu))
        return tuple(totals)


def _close(node: _Node, now: int, now_cpu: int | None) -> None:
    wall_ns, cpu_ns, calls, began, began_cpu = node.record
    if began is not None:
        wall_ns += now - began
    if began_cpu is not None and now_cpu is not None:
        cpu_ns += now_cpu - began_cpu
    node.reentries = 0
    node.record = (wall_ns, cpu_ns, calls, None, None)


def _close_above(node: _Node, top: _Node, now: int, now_cpu: int | None) -> None:
    while top is not node and top.parent is not None:
        _close(top, now, now_cpu)
        top = top.parent
