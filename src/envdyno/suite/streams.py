"""Named random streams, so that one consumer of random numbers never shifts those of another."""

from __future__ import annotations

import zlib

import numpy as np


class Streams:
    """One random generator for every purpose (``"command"``, ``"reset_base"``, ...), all from one seed.

    A stream depends on the seed and on its name alone: not on which other streams exist, in which order
    they are asked for, or how many threads the engine uses. So two runtimes that draw the same shapes from
    equally named streams see the same numbers.
    """

    def __init__(self, seed: int) -> None:
        """Derive all streams from ``seed``, a non-negative integer."""
        self._seed = seed
        self._generators: dict[str, np.random.Generator] = {}

    def __getitem__(self, name: str) -> np.random.Generator:
        """Return the generator of the stream called ``name``."""
        generator = self._generators.get(name)
        if generator is None:
            # SFC64: the quickest of NumPy's generators for blocks of uniform numbers.
            sequence = np.random.SeedSequence(self._seed, spawn_key=(zlib.crc32(name.encode()),))
            generator = self._generators[name] = np.random.Generator(np.random.SFC64(sequence))
        return generator


def uniform(
    generator: np.random.Generator, low: float, high: float, shape: int | tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Draw 32-bit uniform numbers in [low, high)."""
    drawn = generator.random(shape, dtype=np.float32)
    drawn *= np.float32(high - low)
    drawn += np.float32(low)
    return drawn
