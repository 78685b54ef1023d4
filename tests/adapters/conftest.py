"""Tests that step the real frameworks. Those whose framework this interpreter has not are left out.

``run_families.py`` makes an environment for each family of frameworks and runs its tests there.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "worlds"))  # environments that count inside themselves

NEEDS = {
    "test_bare_engines.py": "numpy",
    "test_envpool.py": "envpool",
    "test_gymnasium.py": "gymnasium",
    "test_motrixlab.py": "motrix_env_core",
    "test_unilab.py": "unilab",
    "test_mjlab.py": "mjlab",
    "test_torchrl.py": "torchrl",
    "test_pufferlib.py": "pufferlib",
    "test_brax.py": "brax",
    "test_playground.py": "mujoco_playground",
    "test_maniskill.py": "mani_skill",
}
"""What each file of tests needs to be importable."""

collect_ignore = [name for name, module in NEEDS.items() if importlib.util.find_spec(module) is None]
if "ENVDYNO_FAMILY_PYTHON" not in os.environ:
    collect_ignore.append("test_from_outside.py")  # run_families.py says which interpreter and what to run
