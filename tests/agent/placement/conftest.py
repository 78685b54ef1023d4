"""Lets the tests of this folder import its two stand-ins: a machine's file tree, and a kernel."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode puts no folder on the path
