"""The base of every record: frozen, closed, and strict about numbers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo, model_validator

ENCODABLE = {"text": "encodable"}
"""Context for validating what has been through :func:`encodable`: each nested part need not go again."""


def _utc_stamp(text: str) -> str:
    if datetime.fromisoformat(text).utcoffset() != timedelta(0):
        raise ValueError(f"{text} is no time in UTC; it ends in +00:00.")
    return text


UtcStamp = Annotated[str, AfterValidator(_utc_stamp)]
"""A time as text: ISO 8601, in UTC, such as ``2026-07-01T12:00:00.000+00:00``."""


class Shape(BaseModel):
    """A part of a record. Unknown fields are refused; NaN and infinities are refused.

    Text that is no Unicode, such as a file name with bytes that cannot be decoded, is kept with these written
    out: a record that cannot be written would be lost.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Every field is written, also where it is null: the published schema says so.
        json_schema_serialization_defaults_required=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _write_out(cls, data: Any, info: ValidationInfo) -> Any:
        return data if info.context is ENCODABLE else encodable(data)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return self.model_dump(mode="json")


def encodable(value: Any) -> Any:
    """Return ``value`` with halves of surrogate pairs written out in every text."""
    if type(value) is str:
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(encodable, value))
    return value
