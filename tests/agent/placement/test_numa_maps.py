from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.placement.numa_maps import Residency, parse_numa_maps

PAGE = 4096

LISTING = """\
55b1d5e46000 default file=/usr/bin/python3 mapped=2 N0=2 kernelpagesize_kB=4
55b1d5e50000 bind:1 file=/usr/bin/python3 anon=1 dirty=1 N1=1 kernelpagesize_kB=4
55b1e4a57000 bind:1 heap anon=4 dirty=4 active=0 N1=4 kernelpagesize_kB=4
7efe54711000 bind:1 anon=20 dirty=20 N0=3 N1=17 kernelpagesize_kB=4
7efe55000000 bind:1 file=/dev/shm/ring\\040one dirty=5 mapmax=2 N0=5 kernelpagesize_kB=4
7efe56000000 bind:1 file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7efe57000000 bind:1
7fff00000000 bind:1 stack anon=3 dirty=3 N1=3 kernelpagesize_kB=4
"""


def test_pages_are_added_up_by_node_and_kind() -> None:
    residency = parse_numa_maps(LISTING)
    assert residency.own_bytes == {0: 3 * PAGE, 1: (4 + 17 + 3) * PAGE + 2 * 2048 * 1024}
    assert residency.shared_bytes == {0: 5 * PAGE}
    assert residency.file_bytes == {0: 2 * PAGE, 1: PAGE}


def test_the_share_counts_own_memory_only() -> None:
    residency = parse_numa_maps("7 default anon=3 N0=1 N1=3\n8 default file=/lib/a.so mapped=90 N0=90")
    assert residency.share_on((1,)) == 0.75
    assert residency.share_on((0, 1)) == 1.0
    assert residency.share_on((5,)) == 0.0


def test_nothing_resident_has_no_share() -> None:
    assert parse_numa_maps("").share_on((0,)) is None
    assert parse_numa_maps("7efe57000000 default\n").share_on((0,)) is None


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("default", "default"),
        ("bind:1", "bind:1"),
        ("bind=static:0-1", "bind=static:0-1"),
        ("prefer:0", "preferred:0"),
        ("prefer", "preferred"),
        ("prefer (many):0-1", "preferred_many:0-1"),
        ("interleave:0-3", "interleave:0-3"),
        ("weighted interleave:0-3", "weighted_interleave:0-3"),
        ("local", "local"),
    ],
)
def test_every_way_to_write_a_policy_is_read(policy: str, name: str) -> None:
    residency = parse_numa_maps(f"7efe54711000 {policy} anon=4 dirty=4 N1=4 kernelpagesize_kB=4")
    assert residency.own_bytes == {1: 4 * PAGE}
    assert residency.main_policy == name


def test_the_main_policy_is_that_of_most_memory() -> None:
    residency = parse_numa_maps("1 default anon=1 N0=1\n2 bind:1 anon=9 N1=9\n3 default file=/x N0=100")
    assert residency.main_policy == "bind:1"


def test_no_own_memory_has_no_policy() -> None:
    assert parse_numa_maps("3 default file=/x N0=100").main_policy is None


@pytest.mark.parametrize(
    "line",
    ["", "7efe", "7efe default N=4", "7efe default Nx=4 N1=x", "7efe default anon=1 N0=1 new_word=3 odd"],
)
def test_unknown_words_and_short_lines_are_passed_over(line: str) -> None:
    total = parse_numa_maps(line).total_bytes
    assert total in (0, PAGE)


@given(st.text(alphabet="0123456789abcdef N=:-()manykernelpagesize_kBfile/\n", max_size=200))
def test_any_text_is_read_without_error(text: str) -> None:
    assert parse_numa_maps(text).total_bytes >= 0


def test_a_residency_travels_as_json() -> None:
    residency = parse_numa_maps(LISTING)
    assert Residency.from_json(json.loads(json.dumps(residency.to_json()))) == residency


def test_this_processs_own_listing_is_read() -> None:
    path = Path("/proc/self/numa_maps")
    if not path.exists():
        pytest.skip("this system has no numa_maps")
    residency = parse_numa_maps(path.read_text(encoding="utf-8"))
    assert residency.total_bytes > 1 << 20
    assert residency.main_policy
