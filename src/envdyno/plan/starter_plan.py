"""A commented plan to start from, made for the repository in which it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

from envdyno.plan.run_request import DEFAULT_WORKLOAD
from envdyno.sides.git import ask_git
from envdyno.sides.problems import SideError
from envdyno.sides.project import read_project
from envdyno.sides.repository import Repository, discover

_HEAD = """\
# An experiment for `envdyno ab`. `envdyno plan FILE` prints every run that it asks for.

[experiment]
cases = [{case}]  # names, patterns such as "sac/*", or "suite"; `envdyno list` shows them
num_envs = 2048  # the total batch; several, as [1024, 4096], are cases of their own
pairs = "6..12"  # at least 6 pairs of runs, more while the verdict is open
# budget = "30m"  # no further pair begins after this time
# modules = [{module}]  # modules under test; it is proven where they came from
"""
_SIDES_OF_REPOSITORY = """
# The first side is the one that others are compared with.
[sides.base]
ref = {base}
{pythonpath}
[sides.head]
working_tree = true  # or: ref = "my-branch"
{pythonpath}"""
_SIDES_WITHOUT = """
# The first side is the one that others are compared with. This folder is not in a git repository, so
# the sides are two environments; in a repository they can be commits: ref = "main".
[sides.base]
python = {base}

[sides.head]
python = {head}
"""
_REST = """
# Any of these may be added to a side:
# python = "/path/of/an/environment"  # the interpreter; the one of envdyno if not given
# requirements = ["mujoco==3.3.0"]  # an environment of its own, built once and kept
# setup = ["pip install --no-deps ."]  # once a commit, in the folder of its code
# env = {{ OMP_NUM_THREADS = 8 }}
# options = {{ runtime = "direct" }}  # options of the workload on this side

[measure]
window = "10s"

# [axes]  # options of the workload with several values; every combination is a case
# runtime = ["direct", "manager"]

[gate]
min_ratio = 0.90  # fail where the change is shown to cost more than 10 %

# [[gate.exceptions]]
# case = {case}
# min_ratio = 0.80
# reason = "why this is accepted"
# owner = "who answers for it"
# expires = 2030-01-31
"""


def starter_plan(folder: Path, case: str = DEFAULT_WORKLOAD) -> str:
    """Return the text of a plan for the repository that ``folder`` belongs to.

    Outside a repository, or where git refuses it, the sides are environments.
    """
    try:
        repository = discover(folder)
    except SideError:
        repository = None
    root = repository.folder if repository is not None else folder
    project = read_project(root)
    name = (project.name if project else None) or root.name
    head = _HEAD.format(case=json.dumps(case), module=json.dumps(name.replace("-", "_")))
    rest = _REST.format(case=json.dumps(case))
    if repository is None or repository.bare:
        sides = _SIDES_WITHOUT.format(base='"envs/old"', head='"envs/new"')
        return head + sides + rest
    layout = 'pythonpath = ["src"]\n' if (root / "src").is_dir() else ""
    return head + _SIDES_OF_REPOSITORY.format(base=json.dumps(_base(repository)), pythonpath=layout) + rest


def _base(repository: Repository) -> str:
    """Return the branch that work starts from: what the remote calls its HEAD, main, master, or HEAD."""
    remote = ask_git(repository.folder, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    candidates = [remote.line] if remote.code == 0 else []
    for name in (*candidates, "main", "master"):
        if ask_git(repository.folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").code == 0:
            return name
    return "HEAD"
