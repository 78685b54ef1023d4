"""The machines that the guests are: which CPUs and how much memory on which node, how far apart."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """One NUMA node of a machine."""

    id: int
    cpus: tuple[int, ...] = ()
    """CPU numbers as the guest's kernel gives them. Empty: a memory-only node, as CXL memory is."""
    memory_mib: int = 0
    slots: tuple[int, ...] | None = None
    """Numbers of the machine's CPU slots, where they differ from the kernel's CPU numbers."""

    @property
    def is_there(self) -> bool:
        """Whether the guest's kernel brings this node online: it has CPUs or memory."""
        return bool(self.cpus or self.memory_mib)


@dataclass(frozen=True)
class Topology:
    """One machine: what QEMU builds, and what the checks inside may rely on.

    Nodes that have no entry in `distances` are 20 apart; an entry holds for both directions unless the
    other direction has its own.
    """

    name: str
    meaning: str
    nodes: tuple[Node, ...]
    distances: dict[tuple[int, int], int] = field(default_factory=dict)
    sockets: int = 1
    threads_per_core: int = 1
    plugged_later: tuple[int, ...] = ()
    """Slots whose CPUs are plugged in as devices rather than by -smp, in order."""
    machine_options: str = ""
    kernel_arguments: str = ""

    @property
    def online(self) -> tuple[Node, ...]:
        """The nodes that the guest's kernel shows, by id."""
        return tuple(node for node in self.nodes if node.is_there)

    @property
    def cpus(self) -> tuple[int, ...]:
        """Every CPU of the machine."""
        return tuple(sorted(cpu for node in self.nodes for cpu in node.cpus))

    @property
    def memory_nodes(self) -> tuple[int, ...]:
        """Ids of the nodes that have memory."""
        return tuple(node.id for node in self.nodes if node.memory_mib)

    @property
    def cpu_nodes(self) -> tuple[int, ...]:
        """Ids of the nodes that have CPUs."""
        return tuple(node.id for node in self.nodes if node.cpus)

    def node(self, node_id: int) -> Node:
        """Return the node with this id."""
        return next(node for node in self.nodes if node.id == node_id)

    def distance(self, source: int, target: int) -> int:
        """Return the distance that the firmware table states, 10 for a node to itself."""
        if source == target:
            return 10
        stated = self.distances.get((source, target), self.distances.get((target, source)))
        return 20 if stated is None else stated

    def qemu_arguments(self) -> list[str]:
        """The part of QEMU's command line that makes this machine."""
        return [*self._processors(), *self._memory(), *self._distances()]

    def _processors(self) -> list[str]:
        slots = sum(len(_slots(node)) for node in self.nodes)
        plugged_now = len(self.cpus) - len(self.plugged_later)
        cores = slots // (self.sockets * self.threads_per_core)
        shape = f"sockets={self.sockets},cores={cores},threads={self.threads_per_core}"
        devices: list[str] = []
        for slot in self.plugged_later:
            devices += ["-device", f"max-x86_64-cpu,socket-id={slot},core-id=0,thread-id=0"]
        return ["-smp", f"{plugged_now},maxcpus={slots},{shape}", *devices]

    def _memory(self) -> list[str]:
        total = sum(node.memory_mib for node in self.nodes)
        arguments = ["-m", f"{total}M"]
        for node in self.nodes:
            entry = f"node,nodeid={node.id}" + "".join(f",cpus={slot}" for slot in _slots(node))
            if node.memory_mib:
                arguments += ["-object", f"memory-backend-ram,id=ram{node.id},size={node.memory_mib}M"]
                entry += f",memdev=ram{node.id}"
            arguments += ["-numa", entry]
        return arguments

    def _distances(self) -> list[str]:
        if not self.distances:
            return []
        ids = [node.id for node in self.nodes]
        pairs = [(source, target) for source in ids for target in ids if source != target]
        return [
            argument
            for source, target in pairs
            for argument in ("-numa", f"dist,src={source},dst={target},val={self.distance(source, target)}")
        ]


def _slots(node: Node) -> tuple[int, ...]:
    return node.cpus if node.slots is None else node.slots


FLAT = Topology(
    name="flat",
    meaning="one node, as on a laptop",
    nodes=(Node(0, cpus=(0, 1), memory_mib=512),),
)

TWO = Topology(
    name="two",
    meaning="two sockets, one node each",
    nodes=(Node(0, cpus=(0, 1), memory_mib=640), Node(1, cpus=(2, 3), memory_mib=640)),
    distances={(0, 1): 21},
    sockets=2,
)

FOUR = Topology(
    name="four",
    meaning="two sockets of two nodes: near inside the socket, far across",
    nodes=tuple(Node(node, cpus=(2 * node, 2 * node + 1), memory_mib=256) for node in range(4)),
    distances={(0, 1): 12, (2, 3): 12, (0, 2): 32, (0, 3): 32, (1, 2): 32, (1, 3): 32},
    sockets=2,
)

UNEVEN = Topology(
    name="uneven",
    meaning="interleaved CPU lists, nodes of three sizes, distances that differ by direction",
    nodes=(
        Node(0, cpus=(0, 2, 3), memory_mib=384),
        Node(1, cpus=(1, 4), memory_mib=256),
        Node(2, cpus=(5,), memory_mib=128),
    ),
    distances={(0, 1): 15, (1, 0): 25, (0, 2): 40, (2, 0): 31, (1, 2): 17, (2, 1): 60},
    sockets=6,
)

CXL = Topology(
    name="cxl",
    meaning="two sockets and a node of memory alone, nearer than the other socket",
    nodes=(
        Node(0, cpus=(0, 1), memory_mib=384),
        Node(1, cpus=(2, 3), memory_mib=384),
        Node(2, memory_mib=256),
    ),
    distances={(0, 1): 21, (0, 2): 14, (1, 2): 24},
    sockets=2,
)

MEMLESS = Topology(
    name="memless",
    meaning="two sockets, memory in the first alone",
    nodes=(Node(0, cpus=(0, 1), memory_mib=512), Node(1, cpus=(2, 3))),
    distances={(0, 1): 21},
    sockets=2,
)

# The kernel numbers nodes without CPUs after those with: node 3 comes last whatever the firmware says.
BOTH = Topology(
    name="both",
    meaning="one node without memory, nearest to the third of three, and one without CPUs",
    nodes=(
        Node(0, cpus=(0, 1), memory_mib=384),
        Node(1, cpus=(2,)),
        Node(2, cpus=(3,), memory_mib=256),
        Node(3, memory_mib=256),
    ),
    distances={(0, 1): 31, (0, 2): 21, (0, 3): 14, (1, 2): 16, (1, 3): 41, (2, 3): 24},
    sockets=4,
)

SMT = Topology(
    name="smt",
    meaning="two sockets of two cores with two threads each",
    nodes=(Node(0, cpus=(0, 1, 2, 3), memory_mib=384), Node(1, cpus=(4, 5, 6, 7), memory_mib=384)),
    sockets=2,
    threads_per_core=2,
)

# QEMU refuses to leave a node id out. So node 1 owns slots that stay empty, and nr_cpus keeps the kernel
# from expecting CPUs in them: no CPU, no memory, no node. The OEM ids are those of a machine for which
# Linux addresses interrupt controllers one by one; QEMU 7.2 loses the grouped kind behind a gap.
SPARSE = Topology(
    name="sparse",
    meaning="node ids 0, 2 and 3, the last of memory alone",
    nodes=(
        Node(0, cpus=(0, 1), memory_mib=384),
        Node(1, slots=(2, 3)),
        Node(2, cpus=(2, 3), slots=(4, 5), memory_mib=384),
        Node(3, memory_mib=128),
    ),
    sockets=6,
    plugged_later=(4, 5),
    machine_options=",x-oem-id=IBM,x-oem-table-id=EXA",
    kernel_arguments="nr_cpus=4",
)

WIDE = Topology(
    name="wide",
    meaning="more CPUs than one word of a mask has bits",
    nodes=(
        Node(0, cpus=tuple(range(34)), memory_mib=512),
        Node(1, cpus=tuple(range(34, 68)), memory_mib=512),
    ),
    sockets=2,
)

# The kernel starts every process off isolated CPUs, so what is checked of ALL does not hold here.
ISOLATED = Topology(
    name="isolated",
    meaning="two sockets, one CPU of each kept free of ordinary work",
    nodes=(Node(0, cpus=(0, 1), memory_mib=384), Node(1, cpus=(2, 3), memory_mib=384)),
    sockets=2,
    kernel_arguments="isolcpus=1,3",
)

ALL = (FLAT, TWO, FOUR, UNEVEN, CXL, MEMLESS, BOTH, SMT, SPARSE, WIDE)
BY_NAME = {topology.name: topology for topology in (*ALL, ISOLATED)}
