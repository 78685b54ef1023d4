"""A trainer with several collectors on several NUMA nodes and one learner, placed by ``envdyno.placement``.

    python examples/multi_collector/trainer.py --collectors-per-node 2 --ring-on consumer

Every collector steps a batch of environments on its own CPUs and writes transitions into a ring in shared
memory; the learner reads all rings, updates the policy and broadcasts its weights. What this shows:

* each process is started *inside* its placement, so its first page already comes from the right node;
* a ring is touched first inside the placement of its consumer or of its producer, as asked: pages of shared
  memory lie where they were first touched, whoever uses them later;
* processes are started by "spawn": an engine that has started threads does not survive a fork;
* the figures are what the learner *received* in one window, for each collector and in all;
* nothing is left in /dev/shm or running, however the run ends.

What the processes do is in ``processes.py``. The environments are pendulums and the update is a line of
arithmetic: put yours in their place.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from processes import OBSERVATION, Settings, Shared, SharedArray, collect, train

from envdyno import placement
from envdyno.placement import Placement

STARTUP_S = 60.0


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
