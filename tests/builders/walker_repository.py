"""A small git repository with commits of one environment: as it was, equal, slower in a phase, other work."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SETTINGS = ("user.name=Somebody", "user.email=somebody@example.org", "commit.gpgsign=false")
FAST_MS, SLOW_MS = 2, 20
"""Milliseconds of physics in a step: far enough apart for any machine, however busy."""

ENVIRONMENT = '''\
"""An environment that sleeps where a real one would work."""

import time

from envdyno import phase
from envdyno.agent.workloads.contract import Autoreset, Tally, WorkloadSpec

PHYSICS_MS = {physics_ms}
SUBSTEPS = {substeps}
{extra}

class Walker:
    def __init__(self, num_envs):
        self.spec = WorkloadSpec(
            num_envs,
            autoreset=Autoreset.SAME_STEP,
            substeps=SUBSTEPS,
            step_dt_s=0.02,
            modules_under_test=("walker",),
        )
        self._physics = phase("physics")
        self._update = phase("update_state")

    def step(self, actions):
        with self._physics:
            time.sleep(PHYSICS_MS / 1e3)
        with self._update:
            time.sleep(0.0005)
        return Tally(self.spec.num_envs, 0, 1, 0, 1.0)


def make(num_envs, seed):
    return Walker(num_envs)
'''


def environment(physics_ms: int = FAST_MS, substeps: int = 4, extra: str = "") -> str:
    """The source of the environment."""
    return ENVIRONMENT.format(physics_ms=physics_ms, substeps=substeps, extra=extra)


@dataclass
class Repository:
    """A git repository in a folder."""

    path: Path
    commits: dict[str, str] = field(default_factory=dict)
    """Full SHA by name."""

    def git(self, *arguments: str) -> str:
        """Run git; return what it prints."""
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        command = ["git", "-C", str(self.path), *settings, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def write(self, files: Mapping[str, str]) -> None:
        """Write files of the working tree."""
        for name, text in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def commit(self, name: str, files: Mapping[str, str]) -> str:
        """Commit files, and give the commit a branch of this name."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)
        self.git("branch", "--force", name)
        self.commits[name] = self.git("rev-parse", "HEAD")
        return self.commits[name]


def walker_repository(path: Path) -> Repository:
    """Make the repository; its working tree is at ``base``."""
    path.mkdir(parents=True)
    repository = Repository(path)
    repository.git("init", "--quiet", "--initial-branch", "trunk")
    module = "src/walker/__init__.py"
    repository.commit("base", {module: environment(), "README.md": "A walker.\n"})
    repository.commit("equal", {module: environment(extra="# A comment, and not one instruction more.\n")})
    repository.commit("slower", {module: environment(physics_ms=SLOW_MS)})
    repository.commit("other-work", {module: environment(substeps=2)})
    repository.commit("documented", {module: environment(), "README.md": "A walker, explained.\n"})
    repository.git("checkout", "--quiet", "--detach", "base")
    return repository
