"""The state of the machine and of the software, in three classes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from envdyno.record.model import Shape


class Fingerprint(Shape):
    """Facts by name. An absent fact is null here and has its reason in the record's ``absent``."""

    identity: dict[str, Any] = Field(description="has to match before absolute figures are compared")
    context: dict[str, Any] = Field(description="reported beside the figures")
    volatile: dict[str, Any] = Field(description="never compared: clock, load")
