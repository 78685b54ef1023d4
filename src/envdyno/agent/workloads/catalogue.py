"""The adapters that come with envdyno, by name. Importing this imports no framework."""

from __future__ import annotations

from envdyno.agent.workloads.registry import Registration

ADAPTERS: tuple[Registration, ...] = ()
