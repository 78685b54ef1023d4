"""From what workers saw of contacts to their part of the record."""

from __future__ import annotations

from envdyno.agent.protocol import FromWorker
from envdyno.launch.run_outcome import RunOutcome
from envdyno.record.worker import ContactSamples


def contact_samples(outcome: RunOutcome, worker: int) -> ContactSamples | None:
    """Return what a worker saw after its warm-up and after its window.

    ``None`` where one of the looks is missing, or was at another number of rows than the other.
    """
    before = outcome.message(worker, FromWorker.READY).get("contacts")
    after = outcome.message(worker, FromWorker.MEASURED).get("contacts_at_end")
    if not before or not after or before["rows"] != after["rows"]:
        return None
    return ContactSamples(
        rows=before["rows"], after_warmup=before["contacts"], after_window=after["contacts"]
    )


def absent_contacts(outcome: RunOutcome) -> dict[str, str]:
    """Return why there are no contacts of some worker that completed its window."""
    workers = range(len(outcome.shares))
    if all(contact_samples(outcome, worker) for worker in workers):
        return {}
    return {"workers.contacts": "the workload does not tell the contacts in its states (contacts_now)"}
