"""How much room a machine has for a sweep, and what a workload makes of its threads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planned_experiment import plan_of, runs_of

from envdyno.experiment.preflight import most_threads, threads_not_taken
from envdyno.experiment.rooms import memory_room_bytes, rooms_of, variables_that_win
from envdyno.host.site import survey
from envdyno.plan.experiment import ExperimentPlan
from envdyno.plan.planned_request import placement_request
from envdyno.plan.sweep_grid import Room

GIB = 2**30


def plan(**placement: object) -> ExperimentPlan:
    body = {"experiment": {"cases": ["synthetic"]}, "placement": placement}
    return ExperimentPlan.model_validate({**body, "sweep": {"workers_per_node": [1, 4096]}})


def test_the_room_is_that_of_the_placements_which_a_run_would_get() -> None:
    found = plan()
    assert found.sweep is not None
    rooms = rooms_of(found, found.sweep)
    placements = survey(placement_request(found, 1)).choice.placements
    assert rooms[1] == Room(len(placements), min(len(one.cpus) for one in placements))
    assert isinstance(rooms[4096], str)
    assert "4096 workers were asked for" in rooms[4096]


def test_unbound_workers_have_the_room_of_all_cpus() -> None:
    found = plan(numa="off")
    assert found.sweep is not None
    rooms = rooms_of(found, found.sweep)
    cpus = len(survey(placement_request(found, 1)).chosen_cpus)
    assert rooms[1] == Room(1, cpus)
    assert rooms[4096] == Room(4096, cpus)


@pytest.mark.parametrize(
    ("free", "limit", "room"),
    [
        (4 * GIB, None, 5 * GIB),
        (4 * GIB, 3 * GIB, 3 * GIB),
        (4 * GIB, 9 * GIB, 5 * GIB),
        (None, 3 * GIB, 3 * GIB),
        (None, None, None),
    ],
)
def test_memory_is_what_is_free_or_cached_within_the_limit(
    free: int | None, limit: int | None, room: int | None
) -> None:
    site = survey(placement_request(plan()))
    node = replace(site.topology.nodes[0], free_bytes=free, reclaimable_bytes=GIB)
    site = replace(
        site,
        topology=replace(site.topology, nodes=(node,)),
        limits=replace(site.limits, memory_limit_bytes=limit),
    )
    assert memory_room_bytes(site) == room


def test_variables_of_the_user_that_win_over_a_setting_are_named() -> None:
    assert list(variables_that_win({"HOME": "/root", "OMP_NUM_THREADS": ""})) == []
    (told,) = variables_that_win({"OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "2"})
    assert "OMP_NUM_THREADS=4, MKL_NUM_THREADS=2" in told


def test_the_look_before_a_sweep_is_at_the_most_threads_and_the_smallest_batch() -> None:
    first, second, *_ = runs_of(plan_of(pairs=3))
    settings = [(64, 1), (256, 4), (64, 4), (64, 2)]
    runs = [replace(first, num_envs=size, threads=threads) for size, threads in settings]
    assert most_threads(runs) == runs[2]
    assert most_threads([first, second]) == first


def test_a_workload_that_takes_no_notice_of_its_threads_is_named() -> None:
    run = replace(runs_of(plan_of())[0], threads=4)
    (told,) = threads_not_taken(run, {"threads": 1})
    assert "told to step with 4 threads, and says that it steps with 1" in told
    assert list(threads_not_taken(run, {"threads": 4})) == []
    assert list(threads_not_taken(run, {})) == []
    assert list(threads_not_taken(replace(run, threads=None), {"threads": 1})) == []
