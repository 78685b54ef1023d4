"""The worker: builds one workload, warms it up, measures it when told, and reports."""

from __future__ import annotations

import faulthandler
import itertools
import json
import signal
import sys
import time
import traceback
from array import array
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from envdyno.agent.building import Stepping, build_workload, first_step, import_workload
from envdyno.agent.checking import look_closely
from envdyno.agent.edges import EdgeReadings
from envdyno.agent.job import Job, Purpose
from envdyno.agent.measure.contact_look import look_at_contacts
from envdyno.agent.measure.latency import latency
from envdyno.agent.measure.loaded import loaded_distributions, module_origins
from envdyno.agent.measure.observation import nonfinite_rows, observation_hash
from envdyno.agent.measure.raw_samples import write_npy
from envdyno.agent.measure.step_log import StepLog, Totals, as_tally
from envdyno.agent.measure.warmup import warm_up
from envdyno.agent.measure.window import Edges
from envdyno.agent.memory_need import capacity_warnings
from envdyno.agent.placement.outcome import Outcome
from envdyno.agent.placement.placement import Placement
from envdyno.agent.placement.verify import Audit, audit
from envdyno.agent.protocol import Channel, FromWorker, PeerGone, ToWorker, finite
from envdyno.agent.stages import Ledger, Stage, current_stage
from envdyno.agent.workloads.registry import WorkloadError

SUB_WINDOWS = 20
HASH_STEPS = 16
"""The observation is hashed after this many steps from the start, or after the warm-up if that is shorter."""
TRACEBACK_CHARACTERS = 20_000


class Terminated(BaseException):
    """The control asked this process to end (SIGTERM). Not an ``Exception``: no workload may catch it."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve one job, and end.

    Args:
        arguments: the file descriptors to read from and to write to, the placement and what came of
            binding it, both as JSON.
    """
    channel = Channel(int(arguments[0]), int(arguments[1]))
    placement = Placement.from_json(json.loads(arguments[2]))
    bound = Outcome.from_json(json.loads(arguments[3]))
    # On a hang the control sends SIGUSR2 first: the stacks of all threads then end up in the log.
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        job = Job.from_json(channel.receive())
        Worker(job, channel, placement, bound).run()
    except (PeerGone, Terminated, BrokenPipeError):
        sys.exit(1)
    except BaseException as error:  # also SystemExit: a workload may call sys.exit
        if isinstance(error, WorkloadError) and error.__cause__ is not None:
            # The user gets a sentence; where it came from is for whoever looks closer.
            traceback.print_exception(error)
        channel.send(FromWorker.FAILED, **describe_failure(error))
        sys.exit(1)
    sys.exit(0)


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise Terminated


def describe_failure(error: BaseException) -> dict[str, Any]:
    """Return the stage that failed, and why, as a message."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    message = str(error)
    if isinstance(error, SystemExit):
        message = f"the workload called sys.exit({error.code!r})"
    return {
        "stage": current_stage().value,
        "kind": "usage" if isinstance(error, WorkloadError) else "exception",
        "exception": type(error).__name__,
        "message": message[:TRACEBACK_CHARACTERS],
        "traceback": text[-TRACEBACK_CHARACTERS:],
    }


class Worker:
    """One worker's way through the stages of a run."""

    def __init__(self, job: Job, channel: Channel, placement: Placement, bound: Outcome) -> None:
        """Take the job, the pipes to report over, and where this process was put."""
        self._job = job
        self._placement = placement
        self._bound = bound
        self._audited: Audit | None = None
        self._channel = channel
        self._ledger = Ledger(lambda stage: channel.send(FromWorker.STAGE, stage=stage.value))
        self._hash: dict[str, Any] = {"value": None, "after_steps": 0}

    def run(self) -> None:
        """Go through all stages."""
        with self._ledger.stage(Stage.IMPORT):
            resolved, factory, probes = import_workload(self._job)
            short = capacity_warnings(self._job, factory, self._placement)
        if short:
            self._channel.send(FromWorker.CAPACITY, warnings=short)
        with self._ledger.stage(Stage.BUILD):
            workload = build_workload(self._job, resolved, factory)
        readings = EdgeReadings(self._job, workload, probes)
        stepping = first_step(self._job, workload, self._ledger, readings.readers)
        if self._job.purpose is Purpose.DESCRIBE:
            spec = _spec_json(workload.spec)
            self._channel.send(FromWorker.READY, spec=spec, loaded=self._loaded(workload))
            self._close(workload.close)
            return
        if self._job.purpose is Purpose.CHECK:
            self._check(stepping)
            self._close(workload.close)
            return
        self._warm_up(stepping)
        with self._ledger.stage(Stage.WINDOW):
            measured = self._measure(stepping) | readings.to_json()
        with self._ledger.stage(Stage.AUDIT):
            measured["audit"] = self._audit()
            measured["nonfinite_at_end"] = self._look(stepping, nonfinite_rows)
            measured["contacts_at_end"] = look_at_contacts(workload.contacts_now)
            measured["loaded"] = self._loaded(workload)
        self._channel.send(FromWorker.MEASURED, **finite(measured))
        self._close(workload.close)

    def _check(self, stepping: Stepping) -> None:
        """Step, look closely, and tell what was seen."""
        with self._ledger.stage(Stage.WARMUP):
            seen = look_closely(stepping, self._job.warmup_steps)
        with self._ledger.stage(Stage.AUDIT):
            audited = self._audit()
        self._channel.send(
            FromWorker.READY,
            spec=_spec_json(stepping.workload.spec),
            loaded=self._loaded(stepping.workload),
            seen=finite(seen),
            audit=audited,
            ledger=self._ledger.seconds,
            counting_assumption=stepping.counted.assumption,
            actions=stepping.actions,
        )

    def _close(self, close: Any) -> None:
        with self._ledger.stage(Stage.CLOSE):
            if close is not None:
                close()
        self._channel.send(FromWorker.CLOSED, ledger=self._ledger.seconds)

    def _warm_up(self, stepping: Stepping) -> None:
        """Warm up, look at what the steps produced, and say that the worker is ready."""

        def after_step(taken: int) -> None:
            if taken + 1 == HASH_STEPS:
                self._hash_observation(stepping, taken + 1)

        with self._ledger.stage(Stage.WARMUP):
            warmup = warm_up(stepping.stepper, self._job.warmup_steps, after_step)
        if self._hash["value"] is None:
            self._hash_observation(stepping, warmup.steps + 1)
        spec = stepping.workload.spec
        self._channel.send(
            FromWorker.READY,
            spec=_spec_json(spec),
            warmup=finite(warmup.to_json()),
            ledger=self._ledger.seconds,
            observation_hash=self._hash,
            nonfinite_rows=self._look(stepping, nonfinite_rows),
            contacts=look_at_contacts(stepping.workload.contacts_now),
            audit=self._audit(),
            synchronized=stepping.workload.synchronize is not None,
            counting_assumption=stepping.counted.assumption,
            actions=stepping.actions,
        )

    def _hash_observation(self, stepping: Stepping, steps: int) -> None:
        self._hash = {"value": self._look(stepping, observation_hash), "after_steps": steps}

    def _look(self, stepping: Stepping, at: Any) -> Any:
        """Apply ``at`` to the latest observation; ``None`` where the workload shows none."""
        observation = stepping.counted.observation
        return None if observation is None else at(observation())

    def _audit(self) -> dict[str, Any]:
        """Look where the threads and pages are now, against the placement and the last look."""
        self._audited = audit(placement=self._placement, outcome=self._bound, since=self._audited)
        return self._audited.to_json()

    def _loaded(self, workload: Any) -> dict[str, Any]:
        modules = (*workload.spec.modules_under_test, *self._job.modules)
        return {
            "distributions": loaded_distributions(),
            "origins": module_origins(modules),
            "python": sys.version.split()[0],
            "implementation": sys.implementation.name,
            "executable": sys.executable,
        }

    def _measure(self, stepping: Stepping) -> dict[str, Any]:
        """Measure what the control orders, stepping without pause before and after, until told to stop.

        A later order replaces an earlier one: another worker may have been too late for that.
        """
        stepper = stepping.stepper
        measured: dict[str, Any] = {}
        while True:
            stepper.until(self._channel.waiting)
            order = self._channel.receive()
            if order["type"] == ToWorker.STOP.value:
                return self._fold(measured) if "log" in measured else measured
            late = time.monotonic_ns() >= order["start_ns"]
            if not late:
                measured = self._follow(stepping, order)
            self._channel.send(FromWorker.PASSED, late=late)

    def _follow(self, stepping: Stepping, order: dict[str, Any]) -> dict[str, Any]:
        if order["type"] == ToWorker.LATENCY.value:
            return self._measure_latency(stepping, order)
        return self._measure_window(stepping, order)

    def _measure_window(self, stepping: Stepping, order: dict[str, Any]) -> dict[str, Any]:
        log = StepLog(self._job.num_envs, order["start_ns"], order["end_ns"], SUB_WINDOWS)
        tell = self._tell_rate if order.get("pulse") else None
        return {"edges": asdict(stepping.stepper.log_window(log, tell)), "log": log}

    def _tell_rate(self, steps_per_s: float) -> None:
        """Tell whoever watches how many rows are stepped a second; resets are not yet told apart."""
        self._channel.send(FromWorker.PULSE, rows_per_s=steps_per_s * self._job.num_envs)

    def _fold(self, measured: dict[str, Any]) -> dict[str, Any]:
        """Add up the window's log, now that every worker has passed its end."""
        log: StepLog = measured.pop("log")
        log.fold()
        times = log.raw_times_ns
        durations = [later - earlier for earlier, later in itertools.pairwise(times)]
        found = latency(durations)
        measured |= {
            "totals": asdict(log.totals),
            "series": log.series,
            "first_ns": times[0] if times else None,
            "last_ns": times[-1] if times else None,
            "raw_kept": len(times),
            "step_time": None if found is None else found.to_json(),
        }
        self._write_raw(times)
        return measured

    def _measure_latency(self, stepping: Stepping, order: dict[str, Any]) -> dict[str, Any]:
        """Time single steps; each is waited for to its very end where the workload can be synchronised."""
        start_ns = int(order["start_ns"])
        stepping.stepper.until(lambda: time.monotonic_ns() >= start_ns)
        totals = Totals()
        durations = array("q")
        began_ns = time.monotonic_ns()
        for _ in range(int(order["steps"])):
            duration_ns, outcome = stepping.stepper.timed_once()
            durations.append(duration_ns)
            totals.add(as_tally(outcome, self._job.num_envs))
        edges = Edges(began_ns, time.monotonic_ns())
        self._write_raw(durations)
        found = latency(durations)
        return {
            "edges": asdict(edges),
            "totals": asdict(totals),
            "series": [],
            "raw_kept": len(durations),
            "latency": None if found is None else found.to_json(),
        }

    def _write_raw(self, values: array[int]) -> None:
        if self._job.raw_path is not None:
            write_npy(Path(self._job.raw_path), values)


def _spec_json(spec: Any) -> dict[str, Any]:
    """Return a workload's specification as plain JSON types; unbounded becomes ``None``."""
    body = asdict(spec)
    body["autoreset"] = None if spec.autoreset is None else spec.autoreset.value
    result: dict[str, Any] = finite(body)
    return result
