from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.job import Job, Purpose, Timing
from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.protocol import ToWorker, decode, encode

names = st.text(max_size=8)
option_values = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names
)
jobs = st.builds(
    Job,
    worker=st.integers(0, 9),
    workers=st.integers(1, 10),
    workload=names,
    num_envs=st.integers(1),
    seed=st.integers(0),
    cpus=st.lists(st.integers(0, 300), max_size=4).map(tuple),
    threads=st.integers(1, 300),
    options=st.dictionaries(names, option_values, max_size=3),
    actions=st.sampled_from(ActionSource),
    actions_seed=st.integers(0),
    warmup_steps=st.integers(0),
    sys_path=st.lists(names, max_size=3).map(tuple),
    raw_path=st.none() | names,
    timing=st.sampled_from(Timing),
    phase_cpu=st.booleans(),
    probes=st.lists(names, max_size=3).map(tuple),
    purpose=st.sampled_from(Purpose),
    modules=st.lists(names, max_size=3).map(tuple),
)


def over_the_pipe(job: Job, **more: Any) -> Job:
    """Send a job and read it as a worker does."""
    return Job.from_json(decode(encode(ToWorker.RUN, job.to_json() | more)))


@settings(max_examples=40)
@given(jobs)
def test_a_job_arrives_as_it_was_sent(job: Job) -> None:
    assert over_the_pipe(job) == job


@settings(max_examples=40)
@given(jobs)
def test_fields_that_are_not_the_jobs_are_passed_over(job: Job) -> None:
    assert over_the_pipe(job, sent_by="a newer control") == job


def test_a_job_without_the_optional_fields_is_a_throughput_run() -> None:
    body = {"worker": 0, "workers": 1, "workload": "w", "num_envs": 4, "seed": 0, "cpus": [], "threads": 1}
    job = Job.from_json(body)
    assert (job.timing, job.purpose, job.actions) == (Timing.THROUGHPUT, Purpose.MEASURE, ActionSource.RANDOM)
