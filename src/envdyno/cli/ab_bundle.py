"""The folder that an experiment is kept in: a new one, or one that is carried on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from envdyno.plan.flags import PlanFlags
from envdyno.plan.read_plan import LoadedPlan, plan_from_tables
from envdyno.plan.usage_error import UsageError
from envdyno.record.bundle import Bundle


@contextmanager
def bundle_for(out: Path | None, resume: Path | None) -> Iterator[Bundle]:
    """Return the bundle to write to. A folder that was made here and in which nothing was begun goes again.

    Raises:
        UsageError: the folder holds something else, or no experiment where one is to be resumed.
        BundleError: it cannot be written.
    """
    if resume is not None:
        if out is not None:
            raise UsageError("--resume names the folder already; leave --out away.")
        bundle = Bundle.create(resume) if resume.is_dir() else Bundle(resume)
        bundle.experiment()
        yield bundle
        return
    folder = out or Path(f"envdyno-{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}")
    is_new = not folder.exists()
    bundle = Bundle.create(folder)
    try:
        _refuse_used(bundle)
        if is_new:
            bundle.hide_from_git()
        yield bundle
    finally:
        if is_new and not bundle.has_experiment():
            shutil.rmtree(folder, ignore_errors=True)


def _refuse_used(bundle: Bundle) -> None:
    if bundle.has_experiment():
        raise UsageError(
            f"{bundle.folder} holds an experiment already. Carry it on with --resume {bundle.folder}, "
            "or choose another --out."
        )
    if bundle.has_records():
        raise UsageError(f"{bundle.folder} holds records that are of no experiment. Choose another --out.")


def plan_to_resume(folder: Path, flags: PlanFlags) -> LoadedPlan:
    """Return the plan that a bundle was begun with, with the flags on top.

    That the plan is still the same one is checked later; only a budget may have changed.

    Raises:
        BundleError: the folder holds no experiment.
        PlanError: the plan and the flags do not fit together.
    """
    head = Bundle(folder).experiment()
    return plan_from_tables(head.plan, flags, Path(head.directory), str(folder))
