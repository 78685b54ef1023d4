"""The base of every record: frozen, closed, and strict about numbers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """A part of a record. Unknown fields are refused; NaN and infinities are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return self.model_dump(mode="json")
