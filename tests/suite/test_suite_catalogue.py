"""The catalogue lists what there is, and importing it needs the standard library only."""

from __future__ import annotations

import importlib
import subprocess
import sys

from envdyno.agent.workloads.contract import BuildContext
from envdyno.suite.catalogue import SUITE


def test_listing_the_cases_imports_neither_numpy_nor_an_engine():
    probe = (
        "import sys, envdyno.suite.catalogue as c; assert c.SUITE; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'mujoco', 'motrixsim')))"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_every_case_is_built_by_the_factory_it_names(make):
    context = BuildContext(worker=0, workers=1, cpus=(0,), threads=1, attribution=False)
    for case in SUITE:
        if not case.factory.startswith("envdyno.suite.cases:"):
            continue
        module, _, attribute = case.factory.partition(":")
        factory = getattr(importlib.import_module(module), attribute)
        assert factory.__name__ == attribute
        environment = factory(num_envs=2, seed=0, context=context)
        details = environment.spec.details
        assert f"{details['task']}/{details['engine']}" == case.name
        assert details["runtime"] == "direct"
        environment.close()


def test_the_cases_are_those_of_the_design():
    names = {case.name for case in SUITE}
    assert names >= {
        "go2_joystick_flat/mujoco",
        "g1_walk_flat/mujoco",
        "g1_walk_flat/motrix",
        "g1_motion_tracking/mujoco",
        "g1_motion_tracking/motrix",
    }
