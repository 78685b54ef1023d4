"""The canary: a fixed load of CPU and memory, timed just before every run of an experiment.

It needs the standard library only and has nothing to do with the code under test. If its speed moves, the
machine has changed, not the software. It counts CPU time, so that a preempted canary is not a slow one: what
others use is the foreign load's part; the canary tells of clock, caches and memory. Of many short rounds a
fast one counts: what slows a few of them for a moment is no change of the machine.

Run as a script with ``-I -S``; prints loads a second of CPU time.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time

ROUNDS = 40
RANK = 2
"""The third fastest round counts: the very fastest may owe it to luck."""
BLOCK_BYTES = 8 << 20
HASHED_BYTES = 1 << 20
TIMEOUT_S = 60.0


def canary_per_s() -> float | None:
    """Run the canary in a process of its own; return its speed, or ``None`` where it could not be run."""
    command = [sys.executable, "-I", "-S", __file__]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S, start_new_session=True
        )
        return float(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def load_once(block: bytearray, copy: bytearray) -> int:
    """Do the fixed load once: copy memory, hash a part of it, and count in the interpreter.

    The memory of the copy is there already: what fresh pages cost is the kernel's business.
    """
    copy[:] = block
    block[:64] = hashlib.sha256(memoryview(copy)[:HASHED_BYTES]).digest() * 2
    total = 0
    for value in range(20_000):
        total += value & 7
    return total


def main() -> None:
    """Time the load and print how often a second it was done."""
    block, copy = bytearray(BLOCK_BYTES), bytearray(BLOCK_BYTES)
    load_once(block, copy)
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        load_once(block, copy)
        rounds.append(time.process_time() - began)
    print(1 / sorted(rounds)[RANK])  # noqa: T201 (the parent reads it)


if __name__ == "__main__":
    main()
