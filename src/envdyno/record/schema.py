"""The JSON Schema of the record, as it is published."""

from __future__ import annotations

import json
from typing import Any

from envdyno.record.run_record import RunRecord

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def run_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that every run record satisfies."""
    return {"$schema": DIALECT, **RunRecord.model_json_schema(by_alias=True, mode="serialization")}


def run_schema_text() -> str:
    """Return the schema as indented JSON text."""
    return json.dumps(run_schema(), indent=2, sort_keys=True) + "\n"
