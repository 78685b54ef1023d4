from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from envdyno.agent.workloads.compile_turn import compile_turn


def test_the_first_goes_alone_and_the_others_wait_for_it(tmp_path: Path) -> None:
    told: list[tuple[str, bool]] = []
    entered, leave = threading.Event(), threading.Event()

    def compiles() -> None:
        with compile_turn(str(tmp_path)) as first:
            told.append(("first", first))
            entered.set()
            leave.wait(30)
            told.append(("first is done", first))

    def waits() -> None:
        with compile_turn(str(tmp_path)) as first:
            told.append(("other", first))

    one = threading.Thread(target=compiles)
    one.start()
    assert entered.wait(30)
    others = [threading.Thread(target=waits) for _ in range(2)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(0.05)
    leave.set()
    for thread in (one, *others):
        thread.join(30)
    assert told == [("first", True), ("first is done", True), ("other", False), ("other", False)]


def test_those_who_waited_go_together(tmp_path: Path) -> None:
    """Two that hold the turn at once: neither could enter if the lock were still one of a single holder."""
    together = threading.Barrier(2, timeout=30)
    met: list[bool] = []

    def waits() -> None:
        with compile_turn(str(tmp_path)) as first:
            together.wait()
            met.append(first)

    others = [threading.Thread(target=waits) for _ in range(2)]
    with compile_turn(str(tmp_path)) as first:
        assert first
        for thread in others:
            thread.start()
            thread.join(0.05)
    for thread in others:
        thread.join(30)
    assert met == [False, False]


def test_a_process_that_dies_lets_go_of_the_turn(tmp_path: Path) -> None:
    program = (
        "import os\n"
        "from envdyno.agent.workloads.compile_turn import compile_turn\n"
        f"with compile_turn({str(tmp_path)!r}):\n"
        "    os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    with compile_turn(str(tmp_path)) as first:
        assert first


def test_nothing_is_written_and_a_folder_that_is_not_there_keeps_nobody(tmp_path: Path) -> None:
    with compile_turn(str(tmp_path)):
        assert list(tmp_path.iterdir()) == []
    with compile_turn(str(tmp_path / "nowhere")) as first:
        assert first
