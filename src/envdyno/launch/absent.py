"""Why a field of a record is null. A figure that was not measured is absent with a reason, never 0."""

from __future__ import annotations

from envdyno.agent.protocol import FromWorker
from envdyno.launch.contact_record import absent_contacts
from envdyno.launch.run_outcome import RunOutcome
from envdyno.record.run_record import MachineUse, SoftwareRecord, Throughput
from envdyno.record.status import Status
from envdyno.record.worker import Totals

RATES = {
    "substeps_per_s": "the workload does not tell its physics steps in a transition",
    "real_time_factor": "the workload does not tell the simulated time in a transition",
    "transitions_per_cpu_s": "no CPU time of the workers was accounted in the window",
    "episodes_per_s": "the workload does not tell when episodes end",
    "resets_per_step": "the workload does not tell when episodes end, or completed no step",
    "edge_share": "not defined in latency mode, or a worker completed nothing",
    "start_skew_s": "defined for a common window and two workers or more, each of which completed something",
    "straggler_index": "defined for two workers or more, each of which completed something",
}
ALL_TAKEN = "the workers had every CPU that envdyno may use, or the platform has no affinity"
UNTOLD_BY_KERNEL = "the kernel does not tell"


def absent_figures(
    outcome: RunOutcome, status: Status, throughput: Throughput | None, totals: Totals | None
) -> dict[str, str]:
    """Return the reasons for figures that are null, by the name of their field."""
    reasons: dict[str, str] = {}
    if throughput is None:
        reasons["throughput"] = f"the run ended as {status.value}; no figure is made from a part of it"
    if totals is None:
        unfinished = "the window was not completed by every worker"
        reasons |= dict.fromkeys(("totals", "reward_mean", "overhead_s"), unfinished)
    else:
        for name in ("episodes", "nonfinite_rows", "reward_sum"):
            if getattr(totals, name) is None:
                reasons[f"totals.{name}"] = "the workload does not tell"
        if totals.reward_sum is None:
            reasons["reward_mean"] = "the workload does not tell its rewards"
        elif totals.nonfinite_rewards:
            reasons["reward_mean"] = "some rewards were not finite"
        elif not totals.transitions:
            reasons["reward_mean"] = "no transition was completed"
    if throughput is not None:
        reasons |= absent_contacts(outcome)
        for name, why in RATES.items():
            if getattr(throughput, name) is None:
                reasons[f"throughput.{name}"] = why
    if not outcome.message(0, FromWorker.READY).get("spec"):
        reasons["spec"] = "the first worker did not come so far as to tell"
    return reasons


def absent_facts(machine: MachineUse | None, software: SoftwareRecord | None) -> dict[str, str]:
    """Return the reasons for null facts about the machine's use and the software."""
    reasons: dict[str, str] = {}
    if software is None:
        reasons["software"] = "the first worker did not come so far as to tell"
    if machine is None:
        reasons["machine"] = "the end of the window was not reached"
        return reasons
    if machine.control_cpus is None:
        reasons["machine.control_cpus"] = ALL_TAKEN
    for name in ("steal_s", "throttled_s"):
        if getattr(machine, name) is None:
            reasons[f"machine.{name}"] = UNTOLD_BY_KERNEL
    for name, value in machine.pressure_s.items():
        if value is None:
            reasons[f"machine.pressure_s.{name}"] = UNTOLD_BY_KERNEL
    return reasons
