"""The published schema, as a reader in another language would use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import hand_made_run
import jsonschema
import pytest
from hand_made_run import counted, measured, outcome

from envdyno.launch.run_record import make_record
from envdyno.record.run_record import RunRecord
from envdyno.record.schema import DIALECT, run_schema, run_schema_text

COMMAND = ("envdyno", "run")
SCHEMA = run_schema()
CHECK = jsonschema.Draft202012Validator(SCHEMA)


def records() -> dict[str, RunRecord]:
    """Records of runs that ended in every way."""
    latency = {"mode": "latency", "steps": 1000}
    return {
        "ok": make_record(outcome(), COMMAND),
        "latency": make_record(outcome(request=latency), COMMAND),
        "counted": make_record(outcome(hardware=counted(2, {"cycles": "no counter was free"})), COMMAND),
        "silent": make_record(outcome([measured({"episodes": None, "reward_sum": None})] * 2), COMMAND),
        "invalid": make_record(outcome([measured({"nonfinite_rows": 2})] * 2), COMMAND),
        "killed": make_record(hand_made_run.failed_outcome(), COMMAND),
        "interrupted": make_record(outcome(interrupted_by=2, use=None), COMMAND),
        "not started": make_record(hand_made_run.failed_outcome(states=[], variables=()), COMMAND),
    }


@pytest.mark.parametrize("name", sorted(records()))
def test_every_record_satisfies_the_published_schema(name: str) -> None:
    body = json.loads(records()[name].to_line())
    CHECK.validate(body)
    assert body["schema"] == "envdyno.run/1"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body.pop("run_id"),
        lambda body: body.pop("schema"),
        lambda body: body.pop("warnings"),
        lambda body: body.update(schema="envdyno.run/9"),
        lambda body: body.update(extra=1),
        lambda body: body.update(status="fine"),
        lambda body: body["throughput"].update(transitions_per_s="fast"),
        lambda body: body["workers"][0].update(rate=3),
    ],
)
def test_what_is_no_record_does_not(spoil: Any) -> None:
    body = json.loads(records()["ok"].to_line())
    spoil(body)
    assert not CHECK.is_valid(body)


def described(name: str, part: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield every field of a part with whether it has a description."""
    for field, body in part.get("properties", {}).items():
        yield f"{name}.{field}", bool(body.get("description"))


def test_every_field_is_described() -> None:
    parts = {"record": SCHEMA, **SCHEMA["$defs"]}
    missing = [field for name, part in parts.items() for field, there in described(name, part) if not there]
    assert missing == []
    assert all(part.get("description") for part in parts.values())


def test_the_schema_is_valid_and_says_its_dialect() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == DIALECT
    assert json.loads(run_schema_text()) == SCHEMA
    assert run_schema_text() == run_schema_text()
