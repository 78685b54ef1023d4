from __future__ import annotations

from pathlib import Path

import pytest
from fake_kernel import FakeKernel
from machine_tree import write
from process_tree import PID, Task, anonymous, build_process

from envdyno.agent.placement.mempolicy import Mode, Policy
from envdyno.agent.placement.placement import MemoryPolicy, Placement
from envdyno.agent.placement.verify import Audit, FindingKind, audit

PLACEMENT = Placement(0, 1, (4, 5, 6, 7), (1,), MemoryPolicy.BIND, 4)
HOME = "4-7"


def look(root: Path, placement: Placement | None = PLACEMENT, **options: object) -> Audit:
    """Audit of the process in the tree."""
    return audit(PID, root, placement, **options)  # type: ignore[arg-type]


def kinds(result: Audit) -> list[FindingKind]:
    """What was found."""
    return [finding.kind for finding in result.findings]


def test_every_thread_is_listed_with_its_name_mask_and_times(tmp_path: Path) -> None:
    tasks = [Task(HOME), Task("6", "worker-1", ran_s=1.25, waited_s=0.5, start_s=130.5)]
    thread = look(build_process(tmp_path, tasks)).threads[1]
    assert (thread.tid, thread.name, thread.cpus) == (PID + 1, "worker-1", (6,))
    assert (thread.cpu_time_s, thread.wait_time_s, thread.start_s) == (1.25, 0.5, 130.5)


def test_without_schedstat_cpu_time_comes_from_stat_and_waiting_is_not_known(tmp_path: Path) -> None:
    (thread,) = look(build_process(tmp_path, [Task(HOME, ran_s=2.0, waited_s=None)])).threads
    assert (thread.cpu_time_s, thread.wait_time_s) == (2.0, None)


def test_a_library_that_shrinks_the_mask_is_named(tmp_path: Path) -> None:
    result = look(build_process(tmp_path, [Task("4"), Task("4")]))
    assert kinds(result) == [FindingKind.MASK_SHRUNK]
    assert "may run on CPU 4 only, and the placement has 4-7" in result.findings[0].message


def test_threads_outside_the_placement_are_named(tmp_path: Path) -> None:
    tasks = [Task(HOME), Task("0-7", "stray"), Task("2", "odd")]
    (finding,) = look(build_process(tmp_path, tasks)).findings
    assert finding.kind is FindingKind.MASK_WIDENED
    assert "2 of 3 threads may run on CPU 0-3, outside the placement (4-7)" in finding.message
    assert f"stray ({PID + 1}), odd ({PID + 2})" in finding.message


def test_many_stray_threads_are_counted_and_a_few_named(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task("0", f"t{index}", start_s=100 + index) for index in range(9)]]
    finding = look(build_process(tmp_path, tasks)).findings[0]
    assert finding.message.endswith("and 4 more.")


def test_a_mask_that_moved_elsewhere_is_both_shrunk_and_widened(tmp_path: Path) -> None:
    assert kinds(look(build_process(tmp_path, [Task("0-1")]))) == [
        FindingKind.MASK_SHRUNK,
        FindingKind.MASK_WIDENED,
    ]


def test_a_pool_made_for_more_cpus_than_there_are_is_named(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task(HOME, f"omp-{index}", ran_s=0.25, start_s=120) for index in range(16)]]
    (finding,) = look(build_process(tmp_path, tasks)).findings
    assert finding.kind is FindingKind.OVERSUBSCRIBED
    assert "16 threads named 'omp' were started together, on 4 CPUs (4-7)" in finding.message
    assert "4.00 s of CPU time" in finding.message


def test_two_pools_that_each_fit_are_not_oversubscribed(tmp_path: Path) -> None:
    blas = [Task(HOME, start_s=101) for _ in range(4)]
    engine = [Task(HOME, start_s=105) for _ in range(4)]
    assert look(build_process(tmp_path, [Task(HOME), *blas, *engine])).findings == ()


def test_threads_that_start_one_by_one_over_time_are_no_pool(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task(HOME, "io", start_s=100 + index) for index in range(9)]]
    assert look(build_process(tmp_path, tasks)).findings == ()


def test_threads_pinned_on_top_of_each_other_are_named(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task(cpu, start_s=101 + index) for index, cpu in enumerate("44456")]]
    (finding,) = look(build_process(tmp_path, tasks)).findings
    assert finding.kind is FindingKind.OVERSUBSCRIBED
    assert "3 to CPU 4" in finding.message


def test_on_a_single_cpu_threads_cannot_but_share_it(tmp_path: Path) -> None:
    single = PLACEMENT._replace(cpus=(4,))
    tasks = [Task("4"), Task("4", start_s=101), Task("4", start_s=103)]
    assert look(build_process(tmp_path, tasks), single).findings == ()


def later(root: Path, active: int, ran_s: float, waited_s: float) -> Audit:
    """Audit after 10 s in which some threads ran and waited so long each; the main one slept."""
    starts = [100.0 + index for index in range(active)]
    first = [Task(HOME), *[Task(HOME, start_s=start, ran_s=1.0) for start in starts]]
    before = look(build_process(root / "before", first, at_s=200))
    then = [Task(HOME), *[Task(HOME, start_s=start, ran_s=1 + ran_s, waited_s=waited_s) for start in starts]]
    return look(build_process(root / "after", then, at_s=210), since=before)


def test_more_threads_ready_at_once_than_cpus_are_named(tmp_path: Path) -> None:
    (finding,) = later(tmp_path, active=8, ran_s=5.0, waited_s=4.5).findings
    assert finding.kind is FindingKind.OVERSUBSCRIBED
    assert "On average 7.6 of 8 active threads were ready to run at once, on 4 CPUs" in finding.message
    assert "over 10.0 s they ran for 40.0 s and waited for a CPU for 36.0 s" in finding.message


@pytest.mark.parametrize(
    ("active", "ran_s", "waited_s"),
    [(8, 4.5, 0.5), (4, 2.0, 8.0), (8, 1.0, 4.0)],
    ids=["pools that take turns", "a busy machine", "pools that take turns on a busy machine"],
)
def test_other_work_and_pools_that_take_turns_are_no_oversubscription(
    tmp_path: Path, active: int, ran_s: float, waited_s: float
) -> None:
    assert later(tmp_path, active, ran_s, waited_s).findings == ()


def test_a_main_thread_that_is_ready_beside_a_pool_is_no_oversubscription(tmp_path: Path) -> None:
    single = PLACEMENT._replace(cpus=(4,))
    tasks = [Task("4", ran_s=0.0), Task("4", ran_s=0.0, start_s=101)]
    before = look(build_process(tmp_path / "before", tasks, at_s=200), single)
    then = [Task("4", ran_s=1.0, waited_s=8.5), Task("4", ran_s=1.0, waited_s=8.5, start_s=101)]
    assert look(build_process(tmp_path / "after", then, at_s=210), single, since=before).findings == ()


def test_two_looks_at_one_moment_are_not_compared(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME)])
    assert look(root, since=look(root)).findings == ()


def test_an_unbound_placement_is_compared_with_nothing_but_its_own_mask(tmp_path: Path) -> None:
    unbound = Placement(0, None, (), (), MemoryPolicy.OFF, 4)
    root = build_process(tmp_path, [Task("0-3")], anonymous("default", N0=50))
    assert look(root, unbound).findings == ()
    pool = [Task("0-3"), *[Task("0-3", start_s=120) for _ in range(5)]]
    assert kinds(look(build_process(tmp_path, pool), unbound)) == [FindingKind.OVERSUBSCRIBED]


def test_threads_that_end_while_they_are_read_are_left_out(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME)])
    write(root, f"proc/{PID}/task/{PID + 9}/status", "")
    assert look(root).thread_count == 1


def test_the_kernel_is_asked_for_masks_and_for_the_own_policy(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task("0")])
    write(root, "proc/self/task/1/comm", "python")
    kernel = FakeKernel(affinity=(4, 5), policy=Policy(Mode.BIND, 0, (1,)))
    result = audit(None, root, kernel=kernel)
    assert result.threads[0].cpus == (4, 5)
    assert result.policy == "bind:1"


def test_threads_that_do_not_tell_their_start_are_pooled_by_name(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME), *[Task(HOME, f"pool-{index}") for index in range(5)]])
    for tid in range(PID, PID + 6):
        (root / f"proc/{PID}/task/{tid}/stat").unlink()
    assert kinds(look(root)) == [FindingKind.OVERSUBSCRIBED]


def test_a_thread_whose_mask_cannot_be_read_is_not_judged(tmp_path: Path) -> None:
    root = build_process(tmp_path, [Task(HOME), Task("?")])
    result = look(root)
    assert result.threads[1].cpus is None
    assert result.findings == ()


def test_waiting_is_not_judged_without_schedstat(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task(HOME, start_s=100 + index, waited_s=None) for index in range(9)]]
    before = look(build_process(tmp_path / "before", tasks))
    then = [Task(HOME), *[Task(HOME, start_s=100 + index, ran_s=9, waited_s=None) for index in range(9)]]
    after = look(build_process(tmp_path / "after", then, at_s=210), since=before)
    assert after.findings == ()


def test_the_main_thread_is_no_member_of_a_pool_that_starts_with_it(tmp_path: Path) -> None:
    tasks = [Task(HOME), *[Task(HOME) for _ in range(4)]]
    assert look(build_process(tmp_path, tasks)).findings == ()


@pytest.mark.parametrize("name", ["rayon-{}", "Thread-{} (work)", "pool_{}", "w{}", "ThreadPool-0_{}", "{}"])
def test_threads_that_are_told_apart_by_a_number_are_one_pool(tmp_path: Path, name: str) -> None:
    tasks = [Task(HOME, name.format(index), start_s=120 + index / 50) for index in range(6)]
    (pool,) = look(build_process(tmp_path, [Task(HOME), *tasks])).pools
    assert pool.threads == 6


def test_sizes_of_pools_are_recorded(tmp_path: Path) -> None:
    pinned = [Task(str(cpu), f"rayon-{cpu}", ran_s=1.0, start_s=120) for cpu in (4, 5, 6)]
    result = look(build_process(tmp_path, [Task(HOME), Task(HOME, "watch", start_s=110), *pinned]))
    (pool,) = result.pools
    assert (pool.name, pool.threads, pool.cpus, pool.pinned) == ("rayon", 3, (4, 5, 6), 3)
    assert pool.cpu_time_s == 3.0
