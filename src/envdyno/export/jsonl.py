"""Records as JSON Lines: one strict JSON object a run, in ASCII."""

from __future__ import annotations

import json

from envdyno.experiment.material import Material


def jsonl_text(material: Material) -> str:
    """Return every record on a line of its own.

    All but ASCII is escaped: JSON allows U+0085 and U+2028 in strings as they are, and not a few tools
    split lines there.
    """
    return "".join(
        json.dumps(record.to_json(), allow_nan=False, separators=(",", ":")) + "\n"
        for record in material.records
    )
