"""After every run: did the side run the code that was proven before the first one?

The tree of a side is looked at before each run. Packages that are installed elsewhere are not in it, and
somebody may install another version in the middle of an experiment; so what each process loaded is held
against what was loaded when the sides were proven. That compares what was reported; files are read again
only where a report is new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from envdyno.agent.measure.origin import Origin
from envdyno.record.experiment import SideRecord
from envdyno.record.run_record import RunRecord, SoftwareRecord
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.proof import require_proof, require_unchanged


class SideWatch:
    """One side, and what it was proven to load."""

    def __init__(self, side: PreparedSide, proven: SideRecord) -> None:
        """Take the side as it is prepared now, and as it was recorded before the first run."""
        self._side = side
        self._proven = {body["module"]: [Origin.from_json(body)] for body in proven.origins}
        """By module, how it was loaded and found to be the side's own; lazy imports differ between cases."""
        self._versions: dict[str, str] = dict(proven.distributions or {})

    def check_before(self) -> None:
        """Look at the side's tree.

        Raises:
            SideError: it was changed.
        """
        require_unchanged(self._side)

    def check_after(self, record: RunRecord) -> None:
        """Look at what a run loaded.

        Raises:
            SideError: it was not the side's own code, or not the code of the runs before.
        """
        software = record.software
        if software is None:
            return
        changes = [*self._changed_versions(software), *self._changed_code(software)]
        if changes:
            lines = "\n".join(f"    {change}" for change in changes)
            raise SideError(
                SideProblem.CHANGED,
                f"The side {self._side.name} loads something else than when the experiment began:\n{lines}\n"
                "Runs before and after cannot be compared; put it back and resume, or start again.",
            )
        origins = [Origin.from_json(body) for body in software.origins]
        named = _named(record.spec)
        if not self._is_proven(origins, named):
            require_proof(self._side, origins, named)
            for origin in origins:
                if origin.loaded:
                    self._proven.setdefault(origin.module, []).append(origin)
        self._versions = {**software.distributions, **self._versions}

    def _is_proven(self, origins: Sequence[Origin], named: Collection[str]) -> bool:
        """Return whether all was loaded as it was before, and what has to be loaded was."""
        loaded = {origin.module for origin in origins if origin.loaded}
        return (
            loaded.issuperset({*named, *self._side.named_modules})
            and (bool(loaded) or not self._side.modules)
            and all(origin in self._proven.get(origin.module, ()) for origin in origins if origin.loaded)
        )

    def _changed_versions(self, software: SoftwareRecord) -> Iterator[str]:
        for name, version in software.distributions.items():
            before = self._versions.get(name, version)
            if before != version:
                yield f"{name} was {before} and is {version}."

    def _changed_code(self, software: SoftwareRecord) -> Iterator[str]:
        for body in software.origins:
            now = Origin.from_json(body)
            before = next((one for one in self._proven.get(now.module, ()) if one.loaded), None)
            if before is None or not now.loaded:
                continue
            if (before.file, before.folders) != (now.file, now.folders):
                yield f"{now.module} came from {_place(before)} and comes from {_place(now)}."
            elif before.sha256 != now.sha256:
                yield f"The files of {now.module} in {_place(now)} are others."


def _place(origin: Origin) -> str:
    return origin.file or ", ".join(origin.folders) or "the interpreter itself"


def _named(spec: Mapping[str, Any] | None) -> tuple[str, ...]:
    return tuple((spec or {}).get("modules_under_test") or ())
