from __future__ import annotations

from pathlib import Path

import pytest
from choosing import choose_on, cpus_of, notes_of
from machine_tree import Machine, cgroup_v2

from envdyno.agent.placement.errors import PlacementError
from envdyno.agent.placement.notes import NoteKind
from envdyno.agent.placement.request import Smt

TWO = {0: "0-3", 1: "4-7"}


SMT = Machine({0: "0-3,8-11", 1: "4-7,12-15"}, siblings=[f"{cpu},{cpu + 8}" for cpu in range(8)])


def test_siblings_stay_together_when_a_node_is_shared_out(tmp_path: Path) -> None:
    choice = choose_on(SMT, tmp_path, workers_per_node=2)
    assert cpus_of(choice) == [(0, 1, 8, 9), (2, 3, 10, 11), (4, 5, 12, 13), (6, 7, 14, 15)]


def test_smt_off_uses_one_thread_of_each_core(tmp_path: Path) -> None:
    choice = choose_on(SMT, tmp_path, smt=Smt.OFF)
    assert cpus_of(choice) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert choice.idle_cpus == tuple(range(8, 16))


def test_smt_off_takes_the_sibling_that_is_allowed(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-3"}, siblings=["0-1", "2-3"], allowed="1-3"), tmp_path, smt=Smt.OFF)
    assert cpus_of(choice) == [(1, 2)]


def test_cores_are_shared_out_as_evenly_as_can_be(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-6"}), tmp_path, workers_per_node=3)
    assert cpus_of(choice) == [(0, 1, 2), (3, 4), (5, 6)]


def test_more_workers_than_cores_are_refused_for_a_core_is_never_split(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, siblings=["0,2", "1,3"])
    with pytest.raises(PlacementError, match=r"3 workers.*node 0, which has 2 usable cores \(CPUs 0-3\)"):
        choose_on(machine, tmp_path, workers_per_node=3)


def test_workers_get_cores_that_share_a_cache(tmp_path: Path) -> None:
    machine = Machine({0: "0-7"}, l3=["0-1,4-5", "2-3,6-7"])
    assert cpus_of(choose_on(machine, tmp_path, workers_per_node=2)) == [(0, 1, 4, 5), (2, 3, 6, 7)]


def test_per_l3_gives_every_cache_a_worker(tmp_path: Path) -> None:
    machine = Machine(TWO, l3=["0-1", "2-3", "4-5", "6-7"])
    choice = choose_on(machine, tmp_path, numa="per-l3")
    assert [(item.node, item.cpus) for item in choice.placements] == [
        (0, (0, 1)),
        (0, (2, 3)),
        (1, (4, 5)),
        (1, (6, 7)),
    ]


def test_a_cache_that_spans_nodes_is_cut_at_the_node(tmp_path: Path) -> None:
    choice = choose_on(Machine(TWO, l3=["0-7"]), tmp_path, numa="per-l3")
    assert [(item.node, item.memory_nodes) for item in choice.placements] == [(0, (0,)), (1, (1,))]


def test_caches_without_allowed_cpus_get_no_worker(tmp_path: Path) -> None:
    machine = Machine({0: "0-7"}, l3=["0-3", "4-7"], allowed="0,5")
    assert cpus_of(choose_on(machine, tmp_path, numa="per-l3")) == [(0,), (5,)]


def test_per_l3_on_a_machine_that_shows_no_l3_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="shows no level-3 cache"):
        choose_on(Machine(), tmp_path, numa="per-l3")


def test_per_l3_and_workers_per_node_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="leave out --workers-per-node"):
        choose_on(Machine(l3=["0-3"]), tmp_path, numa="per-l3", workers_per_node=2)


HYBRID = Machine({0: "0-5"}, siblings=["0-1", "2-3"], max_khz={"0-3": 5_200_000, "4-5": 3_900_000})


def test_a_worker_with_fast_and_slow_cores_is_named(tmp_path: Path) -> None:
    (message,) = notes_of(choose_on(HYBRID, tmp_path), NoteKind.MIXED_CLASSES)
    assert "0-3 are performance cores, 4-5 are efficiency cores" in message


def test_per_class_gives_each_kind_of_core_a_worker(tmp_path: Path) -> None:
    choice = choose_on(HYBRID, tmp_path, numa="per-class")
    assert cpus_of(choice) == [(0, 1, 2, 3), (4, 5)]
    assert notes_of(choice, NoteKind.MIXED_CLASSES) == []


def test_cpus_of_one_kind_are_not_called_mixed(tmp_path: Path) -> None:
    choice = choose_on(HYBRID, tmp_path, cpus=(0, 1, 2, 3))
    assert notes_of(choice, NoteKind.MIXED_CLASSES) == []


def test_per_class_on_a_machine_of_one_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="one kind of core"):
        choose_on(Machine(), tmp_path, numa="per-class")


def test_isolated_cpus_are_left_out_and_listed(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-7"}, isolated="6-7"), tmp_path)
    assert cpus_of(choice) == [(0, 1, 2, 3, 4, 5)]
    assert choice.idle_cpus == (6, 7)
    assert "The isolated CPUs 6-7 are left out" in notes_of(choice, NoteKind.ISOLATED)[0]


def test_isolated_cpus_that_are_named_are_used_with_a_warning(tmp_path: Path) -> None:
    choice = choose_on(Machine({0: "0-7"}, isolated="6-7"), tmp_path, cpus=(5, 6))
    assert cpus_of(choice) == [(5, 6)]
    assert "does not balance threads" in notes_of(choice, NoteKind.ISOLATED)[0]


def test_isolated_cpus_outside_the_inherited_mask_are_listed_with_the_way_to_get_them(tmp_path: Path) -> None:
    machine = Machine({0: "0-3"}, isolated="1,3", allowed="0,2")
    choice = choose_on(machine, tmp_path / "listed")
    assert "1,3 are left out" in notes_of(choice, NoteKind.ISOLATED)[0]
    assert "taskset -c 1,3" in notes_of(choice, NoteKind.ISOLATED)[0]
    with pytest.raises(PlacementError, match="taskset -c 1"):
        choose_on(machine, tmp_path / "named", cpus=(1,))


def test_when_all_allowed_cpus_are_isolated_the_way_to_use_them_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlacementError, match="--cpus 6-7"):
        choose_on(Machine({0: "0-7"}, isolated="6-7", allowed="6-7"), tmp_path)


@pytest.mark.parametrize(
    ("quota", "threads"),
    [("200000 100000", [1, 1]), ("300000 100000", [2, 1]), ("max 100000", [4, 4]), ("50000 100000", [1, 1])],
)
def test_a_quota_cuts_threads_and_leaves_cpus(tmp_path: Path, quota: str, threads: list[int]) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": quota})
    choice = choose_on(Machine(TWO), tmp_path)
    assert [placement.threads for placement in choice.placements] == threads
    assert cpus_of(choice) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert len(notes_of(choice, NoteKind.QUOTA)) == (0 if quota.startswith("max") else 1)


def test_a_quota_below_the_number_of_workers_is_said_to_throttle(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": "50000 100000"})
    (message,) = notes_of(choose_on(Machine(TWO), tmp_path), NoteKind.QUOTA)
    assert "0.5 CPUs, /sys/fs/cgroup/cpu.max" in message
    assert "throttled" in message


def test_an_unbound_worker_has_threads_for_the_quota(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": "300000 100000"})
    assert choose_on(Machine(TWO), tmp_path, numa="off").placements[0].threads == 3
