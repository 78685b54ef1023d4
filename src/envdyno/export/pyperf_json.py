"""pyperf's JSON, for ``pyperf compare_to``, ``pyperf hist`` and the rest: https://pyperf.readthedocs.io.

pyperf knows times, and takes smaller as better; so a value is the mean time of a vector step, one a run.
``compare_to`` matches names between two files: export each side by itself with ``--side``.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name
from envdyno.export.series import Series, series_of, step_time_s
from envdyno.record.run_record import RunRecord

VERSION = "1.0"
"""Of pyperf's file format."""


def pyperf_text(material: Material) -> str:
    """Return a benchmark for every case on every side; where there is one side only, its name is left out."""
    found = [series for series in series_of(material) if series.step_times_s]
    several = len({series.side for series in found}) > 1
    body = {
        "version": VERSION,
        "metadata": {"unit": "second", "description": "mean time of a vector step of one worker"},
        "benchmarks": [_benchmark(series, series.name if several else series.case) for series in found],
    }
    return json.dumps(body, indent=1, allow_nan=False) + "\n"


def _benchmark(series: Series, name: str) -> dict[str, Any]:
    runs = []
    for record in series.records:
        value = step_time_s(record)
        if value is not None:
            runs.append({"metadata": _metadata(record), "values": [value]})
    return {"metadata": {"name": name.strip() or "(no name)"}, "runs": runs}


def _metadata(record: RunRecord) -> dict[str, Any]:
    identity = record.fingerprint.identity if record.fingerprint else {}
    started = datetime.fromisoformat(record.started_at)
    facts = {
        "date": started.strftime("%Y-%m-%d %H:%M:%S.%f"),
        "python_version": record.software.python if record.software else None,
        "python_implementation": record.software.implementation if record.software else None,
        "cpu_model_name": identity.get("cpu_model"),
        "envdyno_run_id": record.run_id,
        "num_envs": record.case.num_envs,
    }
    return {
        name: plain_name(value).strip() if isinstance(value, str) else value
        for name, value in facts.items()
        if value not in (None, "")
    }
