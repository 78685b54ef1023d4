"""A run that somebody watches: every worker tells how fast it steps, and nobody is told otherwise."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from envdyno.agent.placement.request import Request
from envdyno.agent.stages import Stage
from envdyno.launch.measure import measure
from envdyno.launch.session import open_session
from envdyno.plan.run_request import RunRequest
from envdyno.record.run_record import RunRecord
from envdyno.record.status import Status


class Follower:
    """Remembers the rates that it is told, by worker, and in which stage."""

    def __init__(self, *, follows_rate: bool) -> None:
        self.follows_rate = follows_rate
        self.rates: dict[int, list[float]] = defaultdict(list)
        self.stages: dict[int, Stage] = {}
        self.told_in: set[Stage] = set()

    def stage(self, worker: int, stage: Stage) -> None:
        self.stages[worker] = stage

    def rate(self, worker: int, rows_per_s: float) -> None:
        self.rates[worker].append(rows_per_s)
        self.told_in.add(self.stages[worker])

    def tick(self) -> None:
        pass


def followed(tmp_path: Path, *, follows_rate: bool) -> tuple[RunRecord, Follower]:
    """Run two workers of the synthetic workload through a window of more than one pulse."""
    request = RunRequest(
        workload="synthetic",
        options={"step_ms": 1.0},
        num_envs=16,
        window_s=1.3,
        warmup_steps=5,
        placement=Request(numa="off", workers_per_node=2),
        cwd=tmp_path,
    )
    follower = Follower(follows_rate=follows_rate)
    with open_session(follower) as session:
        return measure(request, session), follower


def test_every_worker_tells_how_fast_it_steps_while_it_is_measured(tmp_path: Path) -> None:
    record, follower = followed(tmp_path, follows_rate=True)
    assert record.status is Status.OK
    assert sorted(follower.rates) == [0, 1]
    assert follower.told_in == {Stage.WINDOW}
    for worker in record.workers:
        # A step takes a millisecond or longer: eight rows cannot be faster than that.
        assert all(0 < rate <= 8_000 for rate in follower.rates[worker.worker])


def test_no_worker_tells_what_nobody_follows(tmp_path: Path) -> None:
    record, follower = followed(tmp_path, follows_rate=False)
    assert record.status is Status.OK
    assert not follower.rates
