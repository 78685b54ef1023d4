"""Random streams depend on seed and name, and on nothing else."""

from __future__ import annotations

import numpy as np

from envdyno.suite.streams import Streams, uniform


def test_a_stream_does_not_depend_on_the_others():
    alone, crowded = Streams(4), Streams(4)
    crowded["noise"].random(1000)
    crowded["push"].random(3)
    np.testing.assert_array_equal(alone["command"].random(8), crowded["command"].random(8))


def test_streams_of_one_seed_differ_by_name_and_streams_of_one_name_by_seed():
    values = {
        (seed, name): Streams(seed)[name].random() for seed in (0, 1) for name in ("noise", "push", "command")
    }
    assert len(set(values.values())) == len(values)


def test_uniform_numbers_are_32_bit_and_within_their_range():
    drawn = uniform(Streams(0)["reset_base"], -0.3, 0.7, (1000, 2))
    assert drawn.dtype == np.float32
    assert drawn.min() >= -0.3
    assert drawn.max() < 0.7
    assert abs(drawn.mean() - 0.2) < 0.05
