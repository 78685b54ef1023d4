from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from envdyno.host.counter_refusal import refusal_text


def text_of(code: int, root: Path, paranoid: int | None = None) -> str:
    """What is said of an error on a machine with a setting."""
    if paranoid is not None:
        path = root / "proc/sys/kernel/perf_event_paranoid"
        path.parent.mkdir(parents=True)
        path.write_text(f"{paranoid}\n", encoding="ascii")
    return refusal_text(OSError(code, os.strerror(code)), root)


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP])
def test_a_machine_without_counters_is_told_from_a_refusal(tmp_path: Path, code: int) -> None:
    text = text_of(code, tmp_path, 2)
    assert "virtual machines" in text
    assert "paranoid" not in text


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM])
def test_a_strict_setting_is_named_with_its_value_and_the_one_that_would_do(
    tmp_path: Path, code: int
) -> None:
    text = text_of(code, tmp_path, 4)
    assert "kernel.perf_event_paranoid is 4" in text
    assert "sysctl kernel.perf_event_paranoid=2" in text


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM])
def test_where_the_setting_would_allow_it_the_sandbox_is_named(tmp_path: Path, code: int) -> None:
    assert "seccomp" in text_of(code, tmp_path, 2)


def test_without_the_setting_the_capability_is_named(tmp_path: Path) -> None:
    assert "CAP_PERFMON" in text_of(errno.EACCES, tmp_path)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSYS, "sandbox"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EBUSY, "profiler"),
        (errno.EIO, "opened"),
    ],
)
def test_every_other_error_has_its_own_words(tmp_path: Path, code: int, remedy: str) -> None:
    assert remedy in text_of(code, tmp_path)


@pytest.mark.parametrize("code", [errno.ENOENT, errno.EACCES, errno.ENOSYS, errno.EIO])
def test_what_the_kernel_answered_always_stands_there_by_its_name(tmp_path: Path, code: int) -> None:
    assert f"perf_event_open: {errno.errorcode[code]}" in text_of(code, tmp_path)
