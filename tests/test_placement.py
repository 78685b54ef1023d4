from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import envdyno
from envdyno import placement

SOURCE = str(Path(envdyno.__file__).parents[1])


def run(program: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, *flags, "-c", program, SOURCE],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_importing_it_needs_nothing_but_the_standard_library() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import envdyno.placement\n"
        "outside = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)\n"
        "print(sorted(outside - {'__main__'}))\n"
    )
    ran = run(program, "-I", "-S")
    assert (ran.stdout.strip(), ran.stderr) == ("['envdyno']", "")


def test_importing_it_changes_nothing_in_the_process() -> None:
    program = (
        "import os, signal, sys, threading; sys.path.insert(0, sys.argv[1])\n"
        "look = lambda: (dict(os.environ), threading.active_count(), signal.getsignal(2), os.getcwd(),\n"
        "                getattr(os, 'sched_getaffinity', lambda pid: 0)(0))\n"
        "before = look()\n"
        "import envdyno.placement\n"
        "print(look() == before)\n"
    )
    assert run(program).stdout.strip() == "True"


WITHOUT_AFFINITY = """
import os, sys
sys.path.insert(0, sys.argv[1])
for name in ("sched_getaffinity", "sched_setaffinity"):
    if hasattr(os, name):
        delattr(os, name)
sys.platform = "darwin"
from envdyno import placement
choice = placement.choose(on=placement.topology("/nonexistent"), within=placement.limits("/nonexistent"))
(spot,) = choice.placements
with placement.bound(spot) as outcome:
    print(outcome.cpu.state.value, outcome.memory.state.value, len(spot.cpus) == os.cpu_count())
with placement.spawn_placement(spot):
    pass
print(placement.audit(root="/nonexistent", placement=spot).findings)
"""


def test_it_works_unbound_where_there_is_no_affinity_and_no_procfs() -> None:
    ran = run(WITHOUT_AFFINITY)
    assert (ran.stdout, ran.stderr) == ("unsupported unsupported True\n()\n", "")


def test_every_public_name_is_there_and_documented() -> None:
    for name in placement.__all__:
        assert inspect.getdoc(getattr(placement, name)), name


def test_this_machine_has_a_choice() -> None:
    choice = placement.choose(cpus=placement.format_cpulist(placement.limits().affinity or (0,)))
    assert choice.placements
    assert all(spot.threads >= 1 for spot in choice.placements)


def test_cpus_may_be_text_or_numbers() -> None:
    cpu = (placement.limits().affinity or (0,))[0]
    by_text = placement.choose(cpus=str(cpu), memory="off", smt="off")
    by_number = placement.choose(cpus=[cpu], memory=placement.MemoryPolicy.OFF, smt=placement.Smt.OFF)
    assert by_text == by_number


@pytest.mark.parametrize(
    "wish",
    [{"numa": "977"}, {"memory": "strict"}, {"smt": "maybe"}, {"cpus": "a-b"}, {"workers_per_node": 0}],
)
def test_a_wish_that_cannot_be_met_is_a_placement_error(wish: dict[str, object]) -> None:
    with pytest.raises(placement.PlacementError, match=r"\.$"):
        placement.choose(**wish)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
def test_a_process_can_bind_itself_for_good() -> None:
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from envdyno import placement\n"
        "spot = placement.choose(cpus=[max(os.sched_getaffinity(0))]).placements[0]\n"
        "placement.apply(spot)\n"
        "print(tuple(os.sched_getaffinity(0)) == spot.cpus, placement.audit(placement=spot).findings)\n"
    )
    assert run(program).stdout.strip() == "True ()"


PAGE = Path(__file__).parents[1] / "docs" / "placement.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_the_programs_of_the_documentation_run(program: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_documented_functions_are_those_there_are() -> None:
    documented = set(re.findall(r"^\| `(\w+)\(", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    functions = {name for name in placement.__all__ if inspect.isfunction(getattr(placement, name))}
    assert documented == functions - {"format_cpulist", "parse_cpulist"}
