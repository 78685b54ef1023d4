"""A setting of a sweep: how a workload is spread over a machine."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = re.compile(r".*@num_envs=(\d+),workers_per_node=(\d+),threads=(\d+)", re.DOTALL)
_SCOUTING = re.compile(r".*@scouting,num_envs=(\d+)", re.DOTALL)


class Setting(NamedTuple):
    """One cell of a sweep's grid."""

    num_envs: int
    """Total batch over all workers."""
    workers_per_node: int
    """Workers of each node, or of whatever else gets a worker of its own."""
    threads: int
    """Of each worker."""

    def case_name(self, workload: str) -> str:
        """Return the name of the case that the setting makes of a workload."""
        return (
            f"{workload}@num_envs={self.num_envs},workers_per_node={self.workers_per_node},"
            f"threads={self.threads}"
        )

    @classmethod
    def of_case(cls, name: str) -> Setting | None:
        """Return the setting that a case was named by; ``None`` for any other name."""
        found = _NAME.fullmatch(name)
        return cls(*map(int, found.groups())) if found else None


def scouting_case_name(workload: str, num_envs: int) -> str:
    """Return the name of the case of a scouting run: one of those that look for batch sizes worth a sweep."""
    return f"{workload}@scouting,num_envs={num_envs}"


def scouted_num_envs(name: str) -> int | None:
    """Return the batch size of a scouting run's case; ``None`` for any other name."""
    found = _SCOUTING.fullmatch(name)
    return int(found.group(1)) if found else None
