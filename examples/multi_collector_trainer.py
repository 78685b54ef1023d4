"""A trainer with several collectors on several NUMA nodes and one learner, placed by ``envdyno.placement``.

    python examples/multi_collector_trainer.py --collectors-per-node 2 --ring-on consumer

Every collector steps a batch of environments on its own CPUs and writes transitions into a ring in shared
memory; the learner reads all rings, updates the policy and broadcasts its weights. What this shows:

* each process is started *inside* its placement, so its first page already comes from the right node;
* a ring is touched first inside the placement of its consumer or of its producer, as asked: pages of shared
  memory lie where they were first touched, whoever uses them later;
* processes are started by "spawn": an engine that has started threads does not survive a fork;
* the figures are what the learner *received* in one window, for each collector and in all;
* nothing is left in /dev/shm or running, however the run ends.

The environments are pendulums and the update is a line of arithmetic: put yours into ``Pendulums`` and
``learn``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple

import numpy as np

from envdyno import placement
from envdyno.placement import Placement

OBSERVATION = 3
COLUMNS = OBSERVATION + 2
"""A transition is a row: observation, action, reward."""
SLOTS = 4
STOP = -1
STARTUP_S = 60.0


class Settings(NamedTuple):
    """What all processes know of the run."""

    num_envs: int
    horizon: int
    duration_s: float

    @property
    def ring_shape(self) -> tuple[int, ...]:
        """Slots, steps, environments, columns."""
        return SLOTS, self.horizon, self.num_envs, COLUMNS


class SharedArray:
    """An array in shared memory: made and at last removed by the parent, attached to by its children."""

    def __init__(self, shape: tuple[int, ...], name: str | None = None) -> None:
        size = int(np.prod(shape)) * np.dtype(np.float32).itemsize
        self._memory = SharedMemory(name, create=name is None, size=size if name is None else 0)
        self._is_mine = name is None
        self.name = self._memory.name
        self.array = np.ndarray(shape, np.float32, buffer=self._memory.buf)
        if self._is_mine:
            self.array.fill(0.0)  # the first touch, which decides the node

    def close(self) -> None:
        """Let go of the memory; the process that made it also removes it."""
        del self.array
        self._memory.close()
        if self._is_mine:
            self._memory.unlink()


class Pendulums:
    """Torque-limited pendulums, all stepped at once; stands for your environment."""

    def __init__(self, num_envs: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._angle = self._random.uniform(-np.pi, np.pi, num_envs)
        self._speed = np.zeros(num_envs)

    def observe(self) -> np.ndarray:
        """Cosine and sine of the angle, speed."""
        return np.stack((np.cos(self._angle), np.sin(self._angle), self._speed), axis=1)

    def step(self, torque: np.ndarray) -> np.ndarray:
        """Advance by 0.05 s and return rewards; an episode begins anew now and then."""
        self._speed += 0.05 * (15.0 * np.sin(self._angle) + 3.0 * np.clip(torque, -2.0, 2.0))
        self._speed = np.clip(self._speed, -8.0, 8.0)
        self._angle += 0.05 * self._speed
        fresh = self._random.random(len(self._angle)) < 0.005
        self._angle[fresh] = self._random.uniform(-np.pi, np.pi, int(fresh.sum()))
        self._speed[fresh] = 0.0
        return np.cos(self._angle) - 0.01 * self._speed**2


def learn(weights: np.ndarray, batch: np.ndarray) -> None:
    """Move the policy towards actions that came with more reward; stands for your update."""
    rows = batch.reshape(-1, COLUMNS)
    advantage = rows[:, -1] - rows[:, -1].mean()
    weights += 1e-3 * (rows[:, :OBSERVATION] * (rows[:, OBSERVATION] * advantage)[:, None]).mean(axis=0)


class Shared(NamedTuple):
    """What a collector and the learner have in common."""

    ring: str
    weights: str
    lock: Any
    """Held while weights are copied."""


def collect(settings: Settings, index: int, spot: Placement, shared: Shared, learner: Connection) -> None:
    """Life of a collector: fill free slots, hand them over, use the newest weights."""
    ring, weights = SharedArray(settings.ring_shape, shared.ring), SharedArray((OBSERVATION,), shared.weights)
    environments, noise = Pendulums(settings.num_envs, index), np.random.default_rng(1000 + index)
    free = list(range(SLOTS))
    try:
        while True:
            while not free or learner.poll():
                slot = learner.recv()
                if slot == STOP:
                    learner.send(describe(spot))
                    return
                free.append(slot)
            with shared.lock:
                policy = weights.array.copy()
            slot = free.pop()
            for row in ring.array[slot]:
                row[:, :OBSERVATION] = environments.observe()
                row[:, OBSERVATION] = row[:, :OBSERVATION] @ policy + noise.normal(0, 1, settings.num_envs)
                row[:, -1] = environments.step(row[:, OBSERVATION])
            learner.send(slot)
    except (EOFError, ConnectionError):
        return  # the learner has gone; the parent says why
    finally:
        ring.close()
        weights.close()


def train(
    settings: Settings, shared: Sequence[Shared], collectors: Sequence[Connection], parent: Connection
) -> None:
    """Life of the learner: take batches from whoever has one, count them in the window, broadcast weights."""
    rings = [SharedArray(settings.ring_shape, item.ring) for item in shared]
    weights = SharedArray((OBSERVATION,), shared[0].weights)
    own = np.zeros(OBSERVATION)
    counts = [0] * len(collectors)
    began = float("inf")
    index = 0
    try:
        while time.monotonic() < began + settings.duration_s:
            for ready in wait([*collectors, parent]):
                if ready is parent:
                    return  # closed: there is nobody to report to
                index = collectors.index(ready)
                slot = ready.recv()
                learn(own, rings[index].array[slot])
                ready.send(slot)
                counts[index] += 1
            if shared[0].lock.acquire(timeout=1.0):  # a collector that was killed may hold it for ever
                weights.array[:] = own
                shared[0].lock.release()
            if began == float("inf") and all(counts):  # everyone delivers: the window begins
                counts, began = [0] * len(collectors), time.monotonic()
        elapsed_s = time.monotonic() - began
        places = []
        for index in range(len(collectors)):
            places.append(stop(collectors[index]))
        parent.send({"batches": counts, "elapsed_s": elapsed_s, "places": places})
    except (EOFError, ConnectionError):
        parent.send({"gone": index})
    finally:
        for array in (*rings, weights):
            array.close()


def stop(collector: Connection) -> str:
    """Tell a collector to end, pass over batches on their way, and return what it says of its placement."""
    collector.send(STOP)
    while isinstance(answer := collector.recv(), int):
        pass
    return str(answer)


def describe(spot: Placement) -> str:
    """What has become of this process's placement, by the kernel's own account."""
    seen = placement.audit(placement=spot)
    share = seen.share_on(spot.memory_nodes)
    memory = "" if share is None or not spot.memory_nodes else f", {share:.1%} of its memory on its node"
    doubts = "".join(f" ! {finding.message}" for finding in seen.findings)
    return f"{seen.thread_count or '?'} threads{memory}{doubts}"


def choose_spots(numa: str, per_node: int, memory: str) -> tuple[Placement, tuple[Placement, ...]]:
    """A placement for the learner, and one for each collector.

    The learner gets the last core of the first node for itself, where that leaves every collector a core.
    """
    machine, limits = placement.topology(), placement.limits()
    home, *others = placement.choose(numa, memory=memory, on=machine, within=limits).placements
    cores = [core for core in machine.siblings if set(core) & set(home.cpus)]
    mine = tuple(cpu for cpu in cores[-1] if cpu in home.cpus) if len(cores) > per_node else ()
    rest = [cpu for spot in (home, *others) for cpu in spot.cpus if cpu not in mine]
    choice = placement.choose(
        numa, workers_per_node=per_node, cpus=rest or None, memory=memory, on=machine, within=limits
    )
    learner = home._replace(cpus=mine, threads=len(mine)) if mine else home
    return learner, choice.placements


class Trainer:
    """The parent: makes rings, starts processes in their placements, and cleans up after all of them."""

    def __init__(self, settings: Settings, learner: Placement, collectors: Sequence[Placement]) -> None:
        self._settings = settings
        self._learner = learner
        self._collectors = collectors
        self._context = multiprocessing.get_context("spawn")
        self._stack = ExitStack()
        self._processes: list[BaseProcess] = []

    def run(self, ring_on: str) -> dict[str, Any]:
        """Train for one window and return what the learner received."""
        with self._stack:
            lock = self._context.Lock()
            weights = self._allocate((OBSERVATION,), self._learner)
            shared = []
            for spot in self._collectors:
                owner = self._learner if ring_on == "consumer" else spot
                shared.append(Shared(self._allocate(self._settings.ring_shape, owner), weights, lock))
            self._stack.callback(self._end_processes)
            result = self._wait_for(self._start(shared))
            for process in self._processes:
                process.join(10.0)
            residency = placement.audit().residency
            return {**result, "ring_bytes_by_node": residency.shared_bytes if residency else None}

    def _wait_for(self, learner: Connection) -> dict[str, Any]:
        """The learner's result; SystemExit, which says who was first to end, when there is none."""
        if not learner.poll(STARTUP_S + 2 * self._settings.duration_s):
            raise SystemExit(f"The learner did not answer within {STARTUP_S:.0f} s beyond the window.")
        try:
            result: dict[str, Any] = learner.recv()
        except EOFError:
            raise SystemExit("The learner ended before the window did.") from None
        if "gone" in result:
            raise SystemExit(f"Collector {result['gone']} ended before the window did.")
        return result

    def _allocate(self, shape: tuple[int, ...], owner: Placement) -> str:
        """Make shared memory on the node of its owner; it stays there when the binding is gone."""
        with placement.bound(owner):
            array = SharedArray(shape)
        self._stack.callback(array.close)
        return array.name

    def _start(self, shared: Sequence[Shared]) -> Connection:
        """Start all processes; the returned connection gives the learner's result, or EOFError."""
        pairs = [self._context.Pipe() for _ in shared]
        answer, to_parent = self._context.Pipe()
        with ignoring_interrupts():
            for index, (spot, item, pair) in enumerate(zip(self._collectors, shared, pairs, strict=True)):
                self._launch(spot, collect, (self._settings, index, spot, item, pair[0]))
            arguments = (self._settings, shared, [pair[1] for pair in pairs], to_parent)
            self._launch(self._learner, train, arguments)
        for connection in (to_parent, *(end for pair in pairs for end in pair)):
            connection.close()  # so that each end sees when the other one goes
        return answer

    def _launch(self, spot: Placement, target: Any, arguments: tuple[Any, ...]) -> None:
        process = self._context.Process(target=target, args=arguments, name=target.__name__)
        with placement.spawn_placement(spot):
            process.start()
        self._processes.append(process)

    def _end_processes(self) -> None:
        for process in self._processes:
            if process.is_alive():
                process.kill()
            process.join()


@contextmanager
def ignoring_interrupts() -> Iterator[None]:
    """Children inherit that Ctrl-C is ignored: the parent alone acts on it, and ends them."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def report(result: dict[str, Any], settings: Settings, spots: Sequence[Placement]) -> dict[str, Any]:
    """Rates from the batches that the learner received in the window."""
    per_batch = settings.horizon * settings.num_envs
    total = sum(result["batches"])
    return {
        "transitions_per_s": total * per_batch / result["elapsed_s"],
        "elapsed_s": result["elapsed_s"],
        "ring_bytes_by_node": result["ring_bytes_by_node"],
        "collectors": [
            {
                "node": spot.node,
                "cpus": placement.format_cpulist(spot.cpus),
                "transitions": batches * per_batch,
                "share": batches / total if total else None,
                "placement": place,
            }
            for spot, batches, place in zip(spots, result["batches"], result["places"], strict=True)
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trainer from the command line."""
    parser = argparse.ArgumentParser(description="Several collectors on several nodes, one learner.")
    parser.add_argument("--numa", default="auto", help="auto, off, a list of nodes, gpu:K, per-l3")
    parser.add_argument("--collectors-per-node", type=int, default=1)
    parser.add_argument("--memory", default="bind", help="bind, preferred, interleave, off")
    parser.add_argument("--ring-on", choices=("consumer", "producer"), default="consumer")
    parser.add_argument("--num-envs", type=int, default=512, help="environments of each collector")
    parser.add_argument("--horizon", type=int, default=16, help="steps in a batch")
    parser.add_argument("--duration", type=float, default=3.0, help="seconds in the window")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    settings = Settings(options.num_envs, options.horizon, options.duration)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        learner, spots = choose_spots(options.numa, options.collectors_per_node, options.memory)
        summary = report(Trainer(settings, learner, spots).run(options.ring_on), settings, spots)
    except placement.PlacementError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted: all processes have ended, shared memory is removed.", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(summary))
        return 0
    print(f"{summary['transitions_per_s']:,.0f} transitions/s received in {summary['elapsed_s']:.1f} s")
    for index, item in enumerate(summary["collectors"]):
        share = f"{item['share']:.1%}" if item["share"] is not None else "-"
        where = f"node {item['node']}, CPUs {item['cpus'] or 'unbound'}"
        print(f"collector {index}: {share}, {where}, {item['placement']}")
    print(f"learner: node {learner.node}, CPUs {placement.format_cpulist(learner.cpus) or 'unbound'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
