from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from fake_kernel import FakeKernel
from machine_tree import CPU, V1_UNLIMITED, Machine, append, cgroup_v1, cgroup_v2, status, write

from envdyno.agent.placement.limits import Limits, read_limits

MIB = 1 << 20


def limits_of(root: Path, cpus: int = 8) -> Limits:
    """Limits in a tree of a machine with some CPUs."""
    return read_limits(Machine({0: f"0-{cpus - 1}"}).build(root))


def test_affinity_and_cpuset_come_from_the_status_lists(tmp_path: Path) -> None:
    limits = read_limits(Machine({0: "0-3", 1: "4-7"}, allowed="1,4-5", mems="1").build(tmp_path))
    assert limits.affinity == (1, 4, 5)
    assert limits.mems_allowed == (1,)
    assert limits.effective_cpus == 3
    assert limits.raw["/proc/self/status Cpus_allowed_list"] == "1,4-5"


def test_cpus_that_do_not_exist_are_not_in_the_affinity(tmp_path: Path) -> None:
    limits = read_limits(Machine({0: "0-3"}, allowed="0-5").build(tmp_path))
    assert limits.cpus_allowed == (0, 1, 2, 3, 4, 5)
    assert limits.affinity == (0, 1, 2, 3)


def test_the_system_call_decides_over_the_status_list(tmp_path: Path) -> None:
    root = Machine({0: "0-7"}).build(tmp_path)
    assert read_limits(root, kernel=FakeKernel(affinity=(2, 3))).affinity == (2, 3)


def test_without_the_system_call_the_status_list_is_used(tmp_path: Path) -> None:
    root = Machine({0: "0-7"}, allowed="1-2").build(tmp_path)
    kernel = FakeKernel(fails={"get_affinity": errno.ENOSYS})
    assert read_limits(root, kernel=kernel).affinity == (1, 2)


def test_another_process_can_be_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "proc/77/status", status("3", "1"))
    write(tmp_path, f"{CPU}/online", "0-3")
    assert read_limits(tmp_path, pid=77).affinity == (3,)


def test_a_system_that_tells_nothing_has_no_limits(tmp_path: Path) -> None:
    limits = read_limits(tmp_path)
    assert limits.affinity is None
    assert limits.mems_allowed is None
    assert limits.quota_cpus is None
    assert limits.effective_cpus == (os.cpu_count() or 1)


def test_a_platform_without_sched_getaffinity_has_no_affinity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr("envdyno.agent.placement.kernelfs.is_live", lambda root: True)
    assert read_limits(tmp_path).affinity is None


@pytest.mark.parametrize(
    ("text", "quota", "effective"),
    [
        ("200000 100000", 2.0, 2),
        ("150000 100000", 1.5, 2),
        ("50000 100000", 0.5, 1),
        ("max 100000", None, 8),
        ("1600000 100000", 16.0, 8),
        ("garbage", None, 8),
        ("", None, 8),
    ],
)
def test_a_version_2_quota_is_rounded_up_to_whole_cpus(
    tmp_path: Path, text: str, quota: float | None, effective: int
) -> None:
    cgroup_v2(tmp_path, "/job", {"job/cpu.max": text})
    limits = limits_of(tmp_path)
    assert limits.quota_cpus == quota
    assert limits.effective_cpus == effective
    assert limits.raw["/sys/fs/cgroup/job/cpu.max"] == text


@pytest.mark.parametrize(
    ("quota_us", "period_us", "quota"),
    [("400000", "100000", 4.0), ("25000", "50000", 0.5), ("-1", "100000", None)],
)
def test_a_version_1_quota_is_read(
    tmp_path: Path, quota_us: str, period_us: str, quota: float | None
) -> None:
    files = {"job/cpu.cfs_quota_us": quota_us, "job/cpu.cfs_period_us": period_us}
    cgroup_v1(tmp_path, "cpu,cpuacct", "/job", files)
    assert limits_of(tmp_path).quota_cpus == quota


def test_the_tightest_ancestor_decides_in_version_2(tmp_path: Path) -> None:
    files = {
        "a/cpu.max": "300000 100000",
        "a/b/cpu.max": "600000 100000",
        "a/b/c/cpu.max": "max 100000",
        "a/memory.max": str(512 * MIB),
        "a/b/memory.max": str(256 * MIB),
        "a/b/c/memory.max": "max",
    }
    cgroup_v2(tmp_path, "/a/b/c", files)
    limits = limits_of(tmp_path)
    assert (limits.quota_cpus, limits.quota_source) == (3.0, "/sys/fs/cgroup/a/cpu.max")
    assert limits.memory_limit_bytes == 256 * MIB
    assert limits.memory_limit_source == "/sys/fs/cgroup/a/b/memory.max"


def test_the_tightest_ancestor_decides_in_version_1(tmp_path: Path) -> None:
    cpu = {
        "cpu.cfs_quota_us": "-1",
        "cpu.cfs_period_us": "100000",
        "a/cpu.cfs_quota_us": "200000",
        "a/cpu.cfs_period_us": "100000",
        "a/b/cpu.cfs_quota_us": "-1",
        "a/b/cpu.cfs_period_us": "100000",
    }
    cgroup_v1(tmp_path, "cpu", "/a/b", cpu)
    memory = {"memory.limit_in_bytes": V1_UNLIMITED, "a/memory.limit_in_bytes": str(64 * MIB)}
    cgroup_v1(tmp_path, "memory", "/a/b", memory)
    limits = limits_of(tmp_path)
    assert limits.quota_cpus == 2.0
    assert limits.memory_limit_bytes == 64 * MIB
    assert limits.raw["/sys/fs/cgroup/memory/memory.limit_in_bytes"] == V1_UNLIMITED


def test_no_memory_limit_in_version_1_is_no_huge_number(tmp_path: Path) -> None:
    cgroup_v1(tmp_path, "memory", "/", {"memory.limit_in_bytes": V1_UNLIMITED})
    assert limits_of(tmp_path).memory_limit_bytes is None


def test_versions_1_and_2_side_by_side_are_both_read(tmp_path: Path) -> None:
    quota = {"job/cpu.cfs_quota_us": "500000", "job/cpu.cfs_period_us": "100000"}
    cgroup_v1(tmp_path, "cpu", "/job", quota)
    cgroup_v2(tmp_path, "/", {"cpu.max": "300000 100000"}, mount="/sys/fs/cgroup/unified")
    assert limits_of(tmp_path).quota_cpus == 3.0


def test_a_container_sees_its_own_group_at_the_mount_point(tmp_path: Path) -> None:
    files = {"cpu.cfs_quota_us": "150000", "cpu.cfs_period_us": "100000"}
    cgroup_v1(tmp_path, "cpu", "/docker/abc", files, base="/docker/abc")
    assert limits_of(tmp_path).quota_cpus == 1.5


@pytest.mark.parametrize("member", ["/../../other", "/somewhere/else"])
def test_a_group_outside_the_namespace_still_has_the_mount_points_limits(tmp_path: Path, member: str) -> None:
    cgroup_v2(tmp_path, member, {"cpu.max": "100000 100000"}, base="/inside")
    assert limits_of(tmp_path).quota_cpus == 1.0


def test_without_mountinfo_the_usual_mount_point_is_tried(tmp_path: Path) -> None:
    append(tmp_path, "proc/self/cgroup", "0::/job")
    write(tmp_path, "sys/fs/cgroup/cgroup.controllers", "cpu memory")
    write(tmp_path, "sys/fs/cgroup/job/cpu.max", "100000 100000")
    assert limits_of(tmp_path).quota_cpus == 1.0


def test_a_mount_point_with_a_blank_in_it_is_found(tmp_path: Path) -> None:
    append(tmp_path, "proc/self/cgroup", "0::/job")
    line = "30 24 0:26 / /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw"
    append(tmp_path, "proc/self/mountinfo", line)
    write(tmp_path, "sys/fs/my groups/job/cpu.max", "100000 100000")
    assert limits_of(tmp_path).quota_cpus == 1.0


def test_garbled_group_files_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "nonsense\n0::/\n")
    write(tmp_path, "proc/self/mountinfo", "too short\n - \n30 24 0:26 / /x rw - cgroup2\n")
    assert limits_of(tmp_path).quota_cpus is None


def test_the_cpuset_files_are_kept_for_the_record(tmp_path: Path) -> None:
    files = {"job/cpuset.cpus.effective": "0-3", "job/cpuset.mems.effective": "0,2"}
    cgroup_v2(tmp_path, "/job", files)
    raw = limits_of(tmp_path).raw
    assert raw["/sys/fs/cgroup/job/cpuset.mems.effective"] == "0,2"
    assert raw["/sys/fs/cgroup/job/cpuset.cpus.effective"] == "0-3"


def test_a_quota_below_the_mask_is_tight(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": "300000 100000"})
    assert limits_of(tmp_path, cpus=4).quota_is_tight
    assert not limits_of(tmp_path, cpus=2).quota_is_tight


def test_limits_travel_as_json(tmp_path: Path) -> None:
    cgroup_v2(tmp_path, "/", {"cpu.max": "300000 100000", "memory.max": str(64 * MIB)})
    limits = limits_of(tmp_path)
    assert Limits.from_json(json.loads(json.dumps(limits.to_json()))) == limits


def test_this_process_may_use_what_the_kernel_says() -> None:
    limits = read_limits()
    assert limits.affinity == tuple(sorted(os.sched_getaffinity(0)))
    assert limits.raw


def test_a_garbled_status_list_is_not_known(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/status", "Cpus_allowed_list:\t0-x\nMems_allowed_list:\t?")
    limits = read_limits(tmp_path)
    assert limits.affinity is None
    assert limits.mems_allowed is None
