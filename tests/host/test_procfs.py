from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.host import procfs
from envdyno.host.procfs import (
    MachineUse,
    TreeUse,
    machine_use,
    online_cpu_ids,
    pressure_us,
    throttled_us,
    tree_uses,
)


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files below a root, by path."""
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def family() -> Iterator[int]:
    """A process with a child and a grandchild; its id."""
    program = (
        "import subprocess, sys, time\n"
        "inner = 'import subprocess, sys, time;'"
        '\'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]);\''
        "'print(flush=True); time.sleep(600)'\n"
        "subprocess.Popen([sys.executable, '-c', inner])\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        tree = psutil.Process(process.pid).children(recursive=True)
        yield process.pid
        for member in (*tree, process):
            member.kill()


def test_a_tree_has_its_descendants_and_no_other_process(family: int) -> None:
    tree, own = tree_uses([family, os.getpid()])
    assert tree.processes == 3
    assert own.processes >= 4
    assert tree.rss_bytes < own.rss_bytes


def test_a_process_that_is_gone_has_used_nothing_more() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert tree_uses([process.pid]) == (TreeUse(0.0, 0, None, None, 0, 0, 0),)
    assert tree_uses([]) == ()


def test_a_child_that_ended_has_left_its_time_with_its_parent() -> None:
    (before,) = tree_uses([os.getpid()])
    burn = "import time\nwhile time.process_time() < 0.1: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    (after,) = tree_uses([os.getpid()])
    assert after.cpu_s - before.cpu_s > 0.09
    assert after.minor_faults is not None
    assert before.minor_faults is not None
    assert after.minor_faults > before.minor_faults


def test_switches_of_every_thread_are_counted_not_of_the_first_alone() -> None:
    told: list[TreeUse] = []

    def wait_often() -> None:
        for _ in range(100):
            time.sleep(1e-5)
        told.extend(tree_uses([os.getpid()]))

    (before,) = tree_uses([os.getpid()])
    thread = threading.Thread(target=wait_often)
    thread.start()
    thread.join()
    assert told[0].voluntary_switches - before.voluntary_switches >= 100


@settings(max_examples=40)
@given(st.text(alphabet="ab) (\n", max_size=12))
def test_a_command_name_of_blanks_and_brackets_moves_no_field(command: str) -> None:
    numbers = " ".join(["0"] * 5 + ["11", "12", "13", "14"] + ["0"] * 30)
    text = f"77 ({command}) S 5 {numbers}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_text", lambda self, **how: text)
        fields = procfs._stat_fields(77, Path("/proc"))
    assert fields is not None
    assert fields[procfs.PARENT] == "5"
    assert (fields[procfs.MINOR_FAULTS], fields[procfs.CHILD_MAJOR_FAULTS]) == ("11", "14")


def test_without_procfs_faults_are_not_known_and_the_rest_is(tmp_path: Path) -> None:
    (use,) = tree_uses([os.getpid()], tmp_path)
    assert (use.minor_faults, use.major_faults) == (None, None)
    assert use.rss_bytes > 0
    assert use.voluntary_switches + use.involuntary_switches > 0


def cpu(user: float, system: float, **more: float) -> SimpleNamespace:
    """The times of one CPU as psutil tells them."""
    return SimpleNamespace(user=user, nice=0.5, system=system, idle=100.0, iowait=3.0, **more)


def test_busy_time_is_by_the_ids_of_the_cpus_that_are_online(monkeypatch: pytest.MonkeyPatch) -> None:
    linux: dict[str, Any] = {"irq": 0.25, "softirq": 0.25, "steal": 7.0, "guest": 1.0}
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: [cpu(1.0, 2.0, **linux), cpu(3.0, 4.0, **linux)])
    monkeypatch.setattr(procfs, "online_cpu_ids", lambda: [0, 5])
    use = machine_use()
    assert use == MachineUse({0: 4.0, 5: 8.0}, {0: 7.0, 5: 7.0})
    assert use.busy_on([5]) == 8.0
    assert use.busy_on([0, 1, 5, 9]) == 12.0, "a CPU that is offline has done nothing"


def test_steal_that_is_not_told_is_absent_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: [cpu(1.0, 2.0)])
    assert machine_use() == MachineUse({0: 3.5}, None)


def test_the_ids_of_cpus_come_from_the_lines_of_stat(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  1 2 3\ncpu0 1 2 3\ncpu2 1 2 3\ncpu11 1 2 3\nintr 5\nctxt 7\n")
    assert online_cpu_ids(stat) == [0, 2, 11]
    assert online_cpu_ids(tmp_path / "none") == list(range(os.cpu_count() or 1))


@pytest.mark.parametrize(
    ("text", "stalled"),
    [
        ("some avg10=0.00 avg60=0.00 avg300=0.00 total=12345\nfull avg10=0.00 total=6\n", 12345),
        ("", None),
        ("nonsense\n", None),
        (None, None),
    ],
)
def test_pressure_is_the_total_stall_or_absent(text: str | None, stalled: int | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "cpu").write_text(text)
    assert pressure_us("cpu", tmp_path) == stalled


MOUNTED_V2 = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
MOUNTED_V1 = "33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"


def test_throttling_of_every_level_above_the_process_counts(tmp_path: Path) -> None:
    group = "/sys/fs/cgroup/user.slice"
    root = write(
        tmp_path,
        {
            "/proc/self/cgroup": "0::/user.slice/run.scope\n",
            "/proc/self/mountinfo": MOUNTED_V2,
            f"{group}/run.scope/cpu.stat": "usage_usec 9\nnr_throttled 0\nthrottled_usec 0\n",
            f"{group}/cpu.stat": "usage_usec 9\nnr_throttled 4\nthrottled_usec 250000\n",
            "/sys/fs/cgroup/cpu.stat": "usage_usec 9\n",
        },
    )
    assert throttled_us(str(root)) == 250_000


def test_throttling_of_the_first_version_is_told_in_nanoseconds(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "/proc/self/cgroup": "4:cpu,cpuacct:/job\n3:memory:/job\n",
            "/proc/self/mountinfo": MOUNTED_V1,
            "/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat": "nr_periods 5\nthrottled_time 3000000\n",
        },
    )
    assert throttled_us(str(root)) == 3000


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": MOUNTED_V2},
        {
            "/proc/self/cgroup": "garbage\n",
            "/proc/self/mountinfo": MOUNTED_V2,
            "/sys/fs/cgroup/cpu.stat": "throttled_usec many\n",
        },
    ],
    ids=["nothing", "no statistics", "garbage"],
)
def test_throttling_that_is_not_told_is_absent(files: dict[str, str], tmp_path: Path) -> None:
    assert throttled_us(str(write(tmp_path, files))) is None
