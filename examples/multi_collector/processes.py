"""The lives of a collector and of the learner, and the shared memory between them.

Put your environment into ``Pendulums`` and your update into ``learn``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
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
    count = seen.thread_count
    threads = f"{count or '?'} thread{'s' * (count != 1)}"
    return f"{threads}{memory}{doubts}"
