from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_counters import FakeCounters
from hypothesis import given
from hypothesis import strategies as st

from envdyno.host.hardware_counters import HARDWARE_EVENTS, HardwareCounters, HardwareUse
from envdyno.host.perf_events import EventType, PerfEvent, PerfEvents, Reading, Scope

INSTRUCTIONS, CYCLES = HARDWARE_EVENTS["instructions"].config, HARDWARE_EVENTS["cycles"].config
TWO = {name: HARDWARE_EVENTS[name] for name in ("instructions", "cycles")}
SOFTWARE = {
    "task_clock_ns": PerfEvent(EventType.SOFTWARE, 1),
    "page_faults": PerfEvent(EventType.SOFTWARE, 2, Scope.ALL),
    "context_switches": PerfEvent(EventType.SOFTWARE, 3, Scope.ALL),
}
SECOND = 10**9


def use_between(kernel: FakeCounters, after: dict[tuple[int, int], Reading], root: Path) -> HardwareUse:
    """Count the two events of two workers, 10 and 20, from what the kernel has to what it is given."""
    counters = HardwareCounters([10, 20], TWO, kernel, root)
    before = counters.read()
    kernel.readings = after
    found = counters.between(before, counters.read())
    counters.close()
    assert not kernel.fds
    return found


def process_with_threads(root: Path, pid: int, *tids: int) -> None:
    """Give a process threads in a made-up procfs."""
    for tid in (pid, *tids):
        (root / f"proc/{pid}/task/{tid}").mkdir(parents=True)


def test_a_count_is_the_difference_of_two_readings_for_each_worker(tmp_path: Path) -> None:
    kernel = FakeCounters(readings={(INSTRUCTIONS, 10): Reading(1000, SECOND, SECOND)})
    after = {
        (INSTRUCTIONS, 10): Reading(5000, 3 * SECOND, 3 * SECOND),
        (INSTRUCTIONS, 20): Reading(700, SECOND, SECOND),
    }
    first, second = use_between(kernel, after, tmp_path).workers
    assert (first["instructions"].count, first["instructions"].counted_share) == (4000, 1.0)
    assert second["instructions"].count == 700
    assert second["cycles"].count == 0


@given(st.integers(0, 10**12), st.integers(1, 10**10), st.integers(1, 10**10))
def test_events_that_take_turns_are_scaled_by_the_time_of_the_window_alone(
    count: int, enabled: int, running: int
) -> None:
    """What was counted before the window, all of the time, does not change the share within it."""
    enabled, running = max(enabled, running), min(enabled, running)
    kernel = FakeCounters(readings={(CYCLES, 10): Reading(7, 9 * SECOND, 9 * SECOND)})
    after = {(CYCLES, 10): Reading(7 + count, 9 * SECOND + enabled, 9 * SECOND + running)}
    found = use_between(kernel, after, Path("/nowhere")).workers[0]["cycles"]
    assert found.counted_share == pytest.approx(running / enabled)
    assert found.count == pytest.approx(count * enabled / running, rel=1e-9, abs=1)


def test_an_event_that_never_got_a_counter_is_absent_and_not_zero(tmp_path: Path) -> None:
    found = use_between(FakeCounters(), {(CYCLES, 20): Reading(0, SECOND, 0)}, tmp_path)
    assert "nmi_watchdog" in found.missing["cycles"]
    assert [list(worker) for worker in found.workers] == [["instructions"], ["instructions"]]


def test_every_thread_of_a_process_is_counted_also_one_that_starts_meanwhile(tmp_path: Path) -> None:
    process_with_threads(tmp_path, 10, 11)
    process_with_threads(tmp_path, 20)

    class Starting(FakeCounters):
        def open(self, event: PerfEvent, tid: int) -> int:
            (tmp_path / "proc/10/task/12").mkdir(exist_ok=True)
            return super().open(event, tid)

    after = {(INSTRUCTIONS, tid): Reading(tid, SECOND, SECOND) for tid in (10, 11, 12)}
    found = use_between(Starting(), after, tmp_path)
    assert found.workers[0]["instructions"].count == 10 + 11 + 12


def test_a_thread_that_ended_meanwhile_is_passed_over(tmp_path: Path) -> None:
    process_with_threads(tmp_path, 10, 11)
    process_with_threads(tmp_path, 20)
    kernel = FakeCounters(refuses={(None, 11): errno.ESRCH})
    found = use_between(kernel, {(CYCLES, 10): Reading(5, SECOND, SECOND)}, tmp_path)
    assert found.workers[0]["cycles"].count == 5
    assert not found.missing


@pytest.mark.parametrize("where", [(CYCLES, None), (CYCLES, 20)])
def test_an_event_that_one_worker_cannot_count_is_told_of_none(
    tmp_path: Path, where: tuple[int, int | None]
) -> None:
    found = use_between(FakeCounters(refuses={where: errno.EMFILE}), {}, tmp_path)
    assert [list(worker) for worker in found.workers] == [["instructions"], ["instructions"]]
    assert "EMFILE" in found.missing["cycles"]


def test_a_worker_that_has_ended_is_no_error(tmp_path: Path) -> None:
    found = use_between(FakeCounters(refuses={(None, 20): errno.ESRCH}), {}, tmp_path)
    assert found.workers == ({}, {})
    assert set(found.missing) == set(TWO)


def test_a_counter_that_cannot_be_read_any_more_is_absent_with_its_reason(tmp_path: Path) -> None:
    found = use_between(FakeCounters(fails_to_read={CYCLES: errno.EIO}), {}, tmp_path)
    assert "EIO" in found.missing["cycles"]
    assert list(found.workers[1]) == ["instructions"]


def test_on_a_hybrid_processor_each_kind_of_core_counts_and_their_times_are_one(tmp_path: Path) -> None:
    for name, kind in (("cpu_core", 4), ("cpu_atom", 10)):
        unit = tmp_path / "sys/bus/event_source/devices" / name
        unit.mkdir(parents=True)
        (unit / "cpus").write_text("0-7\n")
        (unit / "type").write_text(f"{kind}\n")
    performance, efficiency = 4 << 32 | CYCLES, 10 << 32 | CYCLES
    after = {
        (performance, 10): Reading(3000, 4 * SECOND, 3 * SECOND),
        (efficiency, 10): Reading(500, 4 * SECOND, SECOND),
    }
    found = use_between(FakeCounters(), after, tmp_path).workers[0]["cycles"]
    assert (found.count, found.counted_share) == (3500, 1.0)


@contextmanager
def counted_process(
    program: str, kernel: PerfEvents
) -> Iterator[tuple[HardwareCounters, subprocess.Popen[str]]]:
    """A process that waits for a line before it does anything, with counters on it."""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        counters = HardwareCounters([process.pid], {**SOFTWARE, **HARDWARE_EVENTS}, kernel)
        try:
            yield counters, process
        finally:
            counters.close()


POOL = """
import hashlib, resource, subprocess, sys, threading
sys.stdin.readline()

def accounts():
    totals = [0.0, 0, 0]
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        totals[0] += used.ru_utime + used.ru_stime
        totals[1] += used.ru_minflt + used.ru_majflt
        totals[2] += used.ru_nvcsw + used.ru_nivcsw
    return totals

begun = accounts()
data = bytes(1 << 20)

def work():
    for _ in range(100):
        hashlib.sha256(data).digest()
    nested.append(threading.Thread(target=hashlib.sha256, args=(data * 30,)))
    nested[-1].start()

nested = []
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads + nested: thread.join()
subprocess.run([sys.executable, "-c", "import hashlib; hashlib.sha256(bytes(60 << 20))"], check=True)
print(*(after - before for before, after in zip(begun, accounts())), flush=True)
sys.stdin.readline()
"""


def ask(process: subprocess.Popen[str]) -> str:
    """Let the process go on, and return what it says next."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.skipif(sys.platform != "linux", reason="asks this machine's kernel")
def test_threads_their_threads_and_child_processes_are_counted_as_the_kernel_accounts_them() -> None:
    """Events of software go the same way, and procfs has figures for them to be held against."""
    with counted_process(POOL, PerfEvents()) as (counters, process):
        before = counters.read()
        cpu_s, faults, switches = map(float, ask(process).split())
        use = counters.between(before, counters.read())
        if missing := set(SOFTWARE) & set(use.missing):
            pytest.skip(f"this kernel refuses to count: {use.missing[missing.pop()]}")
        found = {name: use.workers[0][name] for name in SOFTWARE}
        process.communicate("\n")
    assert found["task_clock_ns"].count / 1e9 == pytest.approx(cpu_s, rel=0.1, abs=0.02)
    assert found["page_faults"].count == pytest.approx(faults, rel=0.1, abs=50)
    # The counters are read before the process looks at its accounts and after; on a busy machine it is
    # switched in between as well.
    assert found["context_switches"].count >= 0.9 * switches
    assert {count.counted_share for count in found.values()} == {1.0}
    assert set(use.missing) | set(use.workers[0]) == set(SOFTWARE) | set(HARDWARE_EVENTS)


@pytest.mark.skipif(sys.platform != "linux", reason="asks this machine's kernel")
def test_what_came_before_the_window_is_not_counted() -> None:
    program = (
        "import hashlib, sys\n"
        "for _ in range(3):\n"
        "    sys.stdin.readline(); hashlib.sha256(bytes(40 << 20)); print('done', flush=True)\n"
    )
    with counted_process(program, PerfEvents()) as (counters, process):
        ask(process)
        first = counters.read()
        second = counters.read()
        ask(process)
        idle, busy = counters.between(first, second), counters.between(second, counters.read())
        if "task_clock_ns" in idle.missing:
            pytest.skip(f"this kernel refuses to count: {idle.missing['task_clock_ns']}")
        process.communicate("\n")
    assert idle.workers[0]["page_faults"].count < 10
    # So few where the kernel gives huge pages of 2 MiB.
    assert busy.workers[0]["page_faults"].count >= 15
    assert busy.workers[0]["task_clock_ns"].count > 10 * idle.workers[0]["task_clock_ns"].count
