from __future__ import annotations

from pathlib import Path

from envdyno.host.core_pmus import core_pmus


def unit(root: Path, name: str, kind: str, listed: str = "cpus") -> None:
    """Add a performance monitoring unit, of cores or of something else."""
    folder = root / "sys/bus/event_source/devices" / name
    folder.mkdir(parents=True)
    (folder / "type").write_text(f"{kind}\n", encoding="ascii")
    (folder / listed).write_text("0-3\n", encoding="ascii")


def test_without_units_of_its_own_an_event_is_counted_by_its_plain_number(tmp_path: Path) -> None:
    assert core_pmus(tmp_path) == (0,)


def test_one_kind_of_core_needs_no_unit_named(tmp_path: Path) -> None:
    unit(tmp_path, "armv8_pmuv3_0", "8")
    assert core_pmus(tmp_path) == (0,)


def test_each_kind_of_core_is_named_and_units_of_other_parts_are_not(tmp_path: Path) -> None:
    unit(tmp_path, "cpu_core", "4")
    unit(tmp_path, "cpu_atom", "10")
    unit(tmp_path, "uncore_imc_0", "23", "cpumask")
    assert sorted(core_pmus(tmp_path)) == [4 << 32, 10 << 32]


def test_a_unit_that_does_not_tell_its_number_leaves_the_plain_one(tmp_path: Path) -> None:
    unit(tmp_path, "cpu_core", "4")
    unit(tmp_path, "cpu_atom", "what")
    assert core_pmus(tmp_path) == (0,)
