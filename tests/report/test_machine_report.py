from __future__ import annotations

import json
from typing import Any

import hand_made_run
import pytest

from envdyno.agent.placement.notes import Note, NoteKind
from envdyno.host.disturbance import Disturbance
from envdyno.host.machine import FactClass
from envdyno.report.glyphs import glyphs_for
from envdyno.report.machine_report import machine_json, machine_lines

FACTS: dict[FactClass, dict[str, Any]] = {
    FactClass.IDENTITY: {"cpu_model": "MODEL", "architecture": "x86_64"},
    FactClass.CONTEXT: {
        "operating_system": "Linux",
        "virtualization": "none seen",
        "memory_bytes": 16 << 30,
    },
    FactClass.VOLATILE: {"load_average": [0.1, 0.2, 0.3]},
}
ABSENT = {"fingerprint.context.governor": "the kernel shows no frequency scaling"}
FOUND = [Disturbance("turbo", "on", "The clock moves."), Disturbance("steal", "0.00 cores")]


def lines_of(**changes: Any) -> list[str]:
    """The machine as text."""
    return machine_lines(hand_made_run.site(2, **changes), FACTS, ABSENT, FOUND)


def test_the_machine_is_told_with_its_nodes_its_limits_and_what_a_run_would_start() -> None:
    assert lines_of() == [
        "MODEL, x86_64, 4 CPUs online, 16.0 GiB",
        "Linux, none seen",
        "",
        "node  CPUs  memory   free     distances",
        "0     0-1   8.0 GiB  4.0 GiB  0:10 1:20",
        "1     2-3   8.0 GiB  4.0 GiB  0:20 1:10",
        "",
        "may use CPUs 0-3 and memory of nodes 0-1",
        "CPU quota none, memory limit none, 4 CPUs in effect",
        "",
        "A run would start:",
        "  worker 0: CPUs 0-1, memory bind 0, pools of 2 threads",
        "  worker 1: CPUs 2-3, memory bind 1, pools of 2 threads",
        "  node 9 gets no worker: it has no CPUs",
        "",
        "What disturbs:",
        "  turbo  on          ! The clock moves.",
        "  steal  0.00 cores  ok",
        "  not told: governor (the kernel shows no frequency scaling)",
    ]


def test_limits_are_told_with_where_they_come_from() -> None:
    limits = {
        "quota_cpus": 1.5,
        "quota_source": "/sys/fs/cgroup/cpu.max",
        "memory_limit_bytes": 2 << 30,
        "effective_cpus": 2,
        "affinity": None,
        "mems_allowed": None,
    }
    text = "\n".join(lines_of(limits=limits))
    assert "CPU quota 1.5 CPUs (/sys/fs/cgroup/cpu.max), memory limit 2.0 GiB, 2 CPUs in effect" in text
    assert "may use CPUs not told and memory of nodes not told" in text


def test_notes_and_cpus_left_over_are_said() -> None:
    note = Note(NoteKind.QUOTA, "The CPU quota gives 1 CPU.")
    text = "\n".join(lines_of(choice={"notes": (note,), "idle_cpus": (6, 7)}))
    assert "  ! The CPU quota gives 1 CPU." in text
    assert "  CPUs without a worker: 6-7" in text


def test_odd_things_about_the_topology_are_said() -> None:
    odd = {
        "isolated": (6, 7),
        "offline": (8,),
        "problems": ("Node 3 is missing.",),
        "synthetic_reason": "The system shows no NUMA node.",
    }
    text = "\n".join(lines_of(topology=odd))
    for said in (
        "isolated CPUs: 6-7",
        "offline CPUs: 8",
        "! Node 3 is missing.",
        "Nodes: The system shows no NUMA node.",
    ):
        assert said in text


def test_the_machine_as_json_holds_everything() -> None:
    body = json.loads(json.dumps(machine_json(hand_made_run.site(2), FACTS, ABSENT, FOUND)))
    assert body["facts"]["identity"]["cpu_model"] == "MODEL"
    assert body["absent"] == ABSENT
    assert [node["id"] for node in body["topology"]["nodes"]] == [0, 1]
    assert len(body["choice"]["placements"]) == 2
    assert body["disturbances"][0] == {"name": "turbo", "found": "on", "advice": "The clock moves."}


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_the_machine_can_be_written_in_every_encoding(encoding: str) -> None:
    facts = {**FACTS, FactClass.IDENTITY: {**FACTS[FactClass.IDENTITY], "cpu_model": "Тест™ CPU"}}
    for line in machine_lines(hand_made_run.site(2), facts, ABSENT, FOUND):
        glyphs_for(encoding).fit(line).encode(encoding)
