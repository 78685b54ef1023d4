"""A planned run on a prepared side becomes what the launcher is asked for."""

from __future__ import annotations

from pathlib import Path

from envdyno.agent.job import Timing
from envdyno.agent.placement.request import Smt
from envdyno.agent.stages import Stage
from envdyno.plan.cases import Catalogue, cases_of
from envdyno.plan.expand import expand
from envdyno.plan.planned_request import planned_request
from envdyno.plan.read_plan import build_plan
from envdyno.sides.cache_home import CacheHome
from envdyno.sides.prepare import prepared_sides

TABLES = {
    "experiment": {
        "cases": "synthetic",
        "num_envs": 64,
        "seed": 5,
        "attribution_pairs": 1,
        "modules": "json",
    },
    "sides": {"a": {"options": {"runtime": "direct"}}, "b": {"env": {"MODE": "x"}, "modules": "csv"}},
    "options": {"x": 1},
    "measure": {"window": "2s", "warmup_steps": 3, "probes": "physics=m:f"},
    "placement": {"numa": "off", "cpus": "0,2-3", "smt": "off", "strict": True},
    "deadlines": {"build": 9},
}


def test_plan_run_and_side_meet(tmp_path: Path) -> None:
    plan = build_plan(TABLES, "a test")
    runs = expand(plan, cases_of(plan, Catalogue(("synthetic",), {})))
    home = CacheHome(tmp_path / "cache")
    with prepared_sides(plan.side_requests(tmp_path), home=home) as sides:
        by_name = {side.name: side for side in sides}
        requests = [planned_request(plan, run, by_name[run.side]) for run in runs]
    first = requests[0]
    assert first.workload == "synthetic"
    assert first.options == {"x": 1, "runtime": "direct"}
    assert (first.num_envs, first.seed, first.window_s, first.warmup_steps) == (64, 5, 2.0, 3)
    assert first.placement.cpus == (0, 2, 3)
    assert first.placement.smt is Smt.OFF
    assert first.strict_placement
    assert first.probes == ("physics=m:f",)
    assert first.deadlines_s == {Stage.BUILD: 9.0}
    assert first.modules == ("json",)
    assert {request.timing for request in requests} == {Timing.THROUGHPUT, Timing.ATTRIBUTION}
    of_b = next(request for run, request in zip(runs, requests, strict=True) if run.side == "b")
    assert of_b.modules == ("json", "csv")
    assert of_b.environ["MODE"] == "x"
    assert of_b.environ["NUMBA_CACHE_DIR"] != first.environ["NUMBA_CACHE_DIR"]
    assert of_b.cwd == Path.cwd()
