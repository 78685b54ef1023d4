"""What the catalogue says that a workload tells, held against what ``envdyno check --json`` found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdyno.agent.workloads.registration import Registration, Tells
from envdyno.agent.workloads.registry import resolve

LACKED = {
    Tells.RESETS: "Tally.episodes",
    Tells.EPISODE_LENGTHS: "work()['episode_steps']",
    Tells.REWARDS: "Tally.reward_sum",
    Tells.SUBSTEPS: "spec.substeps",
    Tells.SIMULATED_TIME: "spec.step_dt_s",
    Tells.CONTACTS: "contacts_now()",
}
"""What ``check`` says of a workload that does not tell one of these."""
OF_EPISODES = (Tells.RESETS, Tells.EPISODE_LENGTHS, Tells.REWARDS)
NOT_COUNTED = "nothing inside the environments counts"


def registered(workload: str) -> Registration:
    """Return what a workload is registered as."""
    found = resolve(workload).registration
    assert found is not None
    return found


def contradictions(workload: str, found: Mapping[str, Any]) -> list[str]:
    """Return in words where the catalogue and a check of one workload contradict each other."""
    told = {one.what: one.where for one in registered(workload).tells}
    for_some = {what for what, where in told.items() if where and what is not Tells.CONTACTS}
    lacks = " ".join(found["lacks"])
    wrong = []
    for what, words in LACKED.items():
        if what in for_some or not _is_looked_at(what, found["spec"]):
            continue
        if (what in told) == (words in lacks):
            wrong.append(f"{workload}: {what.value}, told by the catalogue: {what in told}")
    counted = NOT_COUNTED not in " ".join(one["text"] for one in found["findings"])
    if Tells.INSIDE_COUNT not in for_some and (Tells.INSIDE_COUNT in told) != counted:
        wrong.append(f"{workload}: a count of its own, found: {counted}")
    return wrong


def _is_looked_at(what: Tells, spec: Mapping[str, Any]) -> bool:
    """Return whether a check asks for it: episodes where there are some, contacts where there is physics."""
    if what in OF_EPISODES:
        return bool(spec["autoreset"] != "none")
    return what is not Tells.CONTACTS or bool(spec.get("substeps"))
