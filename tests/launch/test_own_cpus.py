"""The control keeps off the CPUs of its workers, and gets its own back."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.launch.own_cpus import free_cpus, kept_apart

CORES = ((0, 4), (1, 5), (2, 6), (3, 7))

cpus = st.sets(st.integers(min_value=0, max_value=7))


def test_the_control_goes_to_a_core_without_a_worker() -> None:
    assert free_cpus(range(8), (0, 1), CORES) == (2, 3, 6, 7)


def test_the_other_thread_of_a_workers_core_is_better_than_the_workers_own() -> None:
    assert free_cpus(range(8), range(4), CORES) == (4, 5, 6, 7)


def test_where_the_workers_have_everything_nothing_is_free() -> None:
    assert free_cpus((0, 1), (0, 1, 2), CORES) == ()


@given(cpus, cpus)
def test_what_is_free_is_allowed_and_no_workers(allowed: set[int], workers: set[int]) -> None:
    free = set(free_cpus(allowed, workers, CORES))
    assert free <= allowed - workers
    assert bool(free) == bool(allowed - workers)


@pytest.fixture
def two_cpus() -> Iterator[tuple[int, int]]:
    """Two CPUs that this process may use; its own affinity is put back."""
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two CPUs are needed")
    before = os.sched_getaffinity(0)
    first, second, *_ = sorted(before)
    yield first, second
    os.sched_setaffinity(0, before)


def test_every_thread_of_the_control_moves_and_comes_back(two_cpus: tuple[int, int]) -> None:
    _first, second = two_cpus
    before = os.sched_getaffinity(0)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        with kept_apart(before - {second}, ()) as own:
            assert own == (second,)
            assert os.sched_getaffinity(0) == os.sched_getaffinity(thread.native_id) == {second}
        assert os.sched_getaffinity(0) == os.sched_getaffinity(thread.native_id) == before
    finally:
        done.set()
        thread.join()


def test_it_comes_back_from_an_error_too(two_cpus: tuple[int, int]) -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(RuntimeError), kept_apart(before - {two_cpus[1]}, ()):
        raise RuntimeError
    assert os.sched_getaffinity(0) == before


def test_nothing_changes_where_no_cpu_is_free(two_cpus: tuple[int, int]) -> None:
    before = os.sched_getaffinity(0)
    with kept_apart(before, ()) as own:
        assert own is None
        assert os.sched_getaffinity(0) == before
