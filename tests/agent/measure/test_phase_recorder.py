from __future__ import annotations

import threading
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure.phase_recorder import CpuTiming, PhaseRecorder
from envdyno.agent.workloads.contract import PhaseTotal


class FakeClock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now

    def advance(self, ns: int) -> None:
        self.now += ns


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def recorder_on(clock: FakeClock, cpu_clock: FakeClock | None = None) -> PhaseRecorder:
    recorder = PhaseRecorder(clock, cpu_clock or FakeClock())
    recorder.start(CpuTiming.OFF if cpu_clock is None else CpuTiming.PROCESS)
    return recorder


def by_path(totals: tuple[PhaseTotal, ...]) -> dict[str, tuple[int, int]]:
    return {total.path: (total.wall_ns, total.calls) for total in totals}


def test_nested_phases_form_paths_with_parents_first(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.begin("env_step")
    clock.advance(1)
    for _ in range(3):
        recorder.begin("physics")
        clock.advance(10)
        recorder.end("physics")
    recorder.end("env_step")
    recorder.begin("replay")
    clock.advance(5)
    recorder.end("replay")
    assert recorder.totals() == (
        PhaseTotal("env_step", 31, 1),
        PhaseTotal("env_step/physics", 30, 3),
        PhaseTotal("replay", 5, 1),
    )
    assert recorder.misnested() == 0


def test_one_name_under_two_parents_is_two_paths(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    for outer, ns in [("env_step", 4), ("reset_done", 9)]:
        recorder.begin(outer)
        recorder.begin("physics")
        clock.advance(ns)
        recorder.end("physics")
        recorder.end(outer)
    totals = by_path(recorder.totals())
    assert totals["env_step/physics"] == (4, 1)
    assert totals["reset_done/physics"] == (9, 1)


def test_an_open_phase_counts_with_the_part_that_has_passed(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.begin("env_step")
    clock.advance(7)
    first = by_path(recorder.totals())
    clock.advance(5)
    recorder.end("env_step")
    second = by_path(recorder.totals())
    assert first == {"env_step": (7, 1)}
    assert second == {"env_step": (12, 1)}, "so the window between the reads has 5 ns and no entry"


def test_a_reset_inside_an_open_phase_keeps_only_what_comes_after(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.begin("env_step")
    clock.advance(100)
    recorder.reset()
    clock.advance(3)
    recorder.end("env_step")
    assert by_path(recorder.totals()) == {"env_step": (3, 0)}


def test_a_phase_that_ran_before_the_reset_only_is_there_with_no_calls(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.begin("warm_up")
    clock.advance(1)
    recorder.end("warm_up")
    recorder.reset()
    assert recorder.totals() == (PhaseTotal("warm_up", 0, 0),)


def test_direct_recursion_adds_calls_and_no_time(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    for _ in range(4):
        recorder.begin("walk")
        clock.advance(1)
    for _ in range(4):
        clock.advance(1)
        recorder.end("walk")
    assert by_path(recorder.totals()) == {"walk": (8, 4)}
    assert recorder.misnested() == 0


def test_mutual_recursion_ends_in_the_order_of_its_begins(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    for name in "abab":
        recorder.begin(name)
        clock.advance(1)
    recorder.begin("leaf")
    clock.advance(1)
    recorder.end("leaf")
    for name in "baba":
        recorder.end(name)
        clock.advance(1)
    assert by_path(recorder.totals()) == {"a": (8, 2), "a/b": (6, 2), "a/b/leaf": (1, 1)}
    assert recorder.misnested() == 0


def test_a_phase_that_ends_out_of_turn_ends_what_it_encloses(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.begin("held_across_yield")
    clock.advance(1)
    recorder.begin("other")
    clock.advance(2)
    recorder.end("held_across_yield")
    clock.advance(50)
    recorder.end("other")
    recorder.begin("next")
    recorder.end("next")
    assert by_path(recorder.totals()) == {
        "held_across_yield": (3, 1),
        "held_across_yield/other": (2, 1),
        "next": (0, 1),
    }
    assert recorder.misnested() == 2


def test_an_end_without_a_begin_is_counted_and_changes_nothing(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.end("never_begun")
    assert recorder.totals() == ()
    assert recorder.misnested() == 1


def test_phases_of_other_threads_are_kept_apart_by_thread_name(clock: FakeClock) -> None:
    recorder = recorder_on(clock)

    def work() -> None:
        recorder.begin("load")
        clock.advance(5)
        recorder.end("load")

    recorder.begin("env_step")
    for name in ["loader", "loader", "writer"]:
        thread = threading.Thread(target=work, name=name)
        thread.start()
        thread.join()
    recorder.end("env_step")
    assert by_path(recorder.totals()) == {"env_step": (15, 1)}
    others = recorder.other_threads()
    assert {name: by_path(totals) for name, totals in others.items()} == {
        "loader": {"load": (10, 2)},
        "writer": {"load": (5, 1)},
    }


def test_the_stepping_thread_is_the_one_that_started_and_any_thread_may_read_it(clock: FakeClock) -> None:
    recorder = PhaseRecorder(clock, FakeClock())
    seen: list[tuple[PhaseTotal, ...]] = []
    assert recorder.totals() == ()
    recorder.start(CpuTiming.OFF)
    recorder.begin("env_step")
    clock.advance(2)
    reader = threading.Thread(target=lambda: seen.append(recorder.totals()))
    reader.start()
    reader.join()
    assert seen == [(PhaseTotal("env_step", 2, 1),)]


def test_cpu_time_is_told_only_where_it_was_asked_for(clock: FakeClock) -> None:
    cpu_clock = FakeClock()
    recorder = recorder_on(clock, cpu_clock)
    recorder.begin("physics")
    clock.advance(10)
    cpu_clock.advance(35)
    recorder.end("physics")
    assert recorder.totals() == (PhaseTotal("physics", 10, 1, 35),)
    recorder.start(CpuTiming.OFF)
    assert recorder.totals() == (PhaseTotal("physics", 0, 0, None),), (
        "a change of what is measured begins at zero"
    )


def test_going_on_with_the_same_cpu_timing_keeps_the_totals(clock: FakeClock) -> None:
    recorder = recorder_on(clock)
    recorder.begin("a")
    clock.advance(2)
    recorder.end("a")
    recorder.start(CpuTiming.OFF)
    assert by_path(recorder.totals()) == {"a": (2, 1)}


Event = tuple[str, str, int]
events = st.lists(
    st.tuples(st.sampled_from(["begin", "end"]), st.sampled_from("abcd"), st.integers(0, 50)), max_size=60
)


def play(recorder: PhaseRecorder, clock: FakeClock, script: list[Event]) -> None:
    for action, name, ns in script:
        clock.advance(ns)
        getattr(recorder, action)(name)


@given(events)
def test_however_phases_are_misused_children_never_sum_to_more_than_their_parent(script: list[Event]) -> None:
    clock = FakeClock()
    recorder = recorder_on(clock)
    play(recorder, clock, script)
    totals = by_path(recorder.totals())
    elapsed = clock.now - 1_000
    below: dict[str, int] = defaultdict(int)
    for path, (wall_ns, calls) in totals.items():
        names = path.split("/")
        assert len(set(names)) == len(names), "recursion makes no longer path"
        assert wall_ns >= 0
        assert calls >= 1
        below[path.rpartition("/")[0]] += wall_ns
    for path, children_ns in below.items():
        assert children_ns <= (totals[path][0] if path else elapsed)


@given(events, events, events)
def test_windows_add_up_whatever_is_open_at_their_edges(
    before: list[Event], first: list[Event], second: list[Event]
) -> None:
    clock = FakeClock()
    recorder = recorder_on(clock)
    play(recorder, clock, before)
    edges = [by_path(recorder.totals())]
    starts = [clock.now]
    for script in (first, second):
        play(recorder, clock, script)
        edges.append(by_path(recorder.totals()))
        starts.append(clock.now)
    for earlier, later, begin, end in zip(edges, edges[1:], starts, starts[1:], strict=False):
        for path, (wall_ns, calls) in later.items():
            wall_before, calls_before = earlier.get(path, (0, 0))
            assert 0 <= wall_ns - wall_before <= end - begin, "a window holds no more than its own time"
            assert calls >= calls_before


@st.composite
def nested_scripts(draw: st.DrawFn, depth: int = 3) -> list[object]:
    names = draw(st.lists(st.sampled_from("abc"), max_size=4))
    return [
        (name, draw(st.integers(0, 20)), draw(nested_scripts(depth=depth - 1)) if depth else [])
        for name in names
    ]


def expected(script: list[object], path: tuple[str, ...], out: dict[str, list[int]]) -> int:
    """Total time of the script; an independent account by plain recursion."""
    total = 0
    for name, own_ns, inner in script:  # type: ignore[misc]
        if name in path:
            out["/".join(path[: path.index(name) + 1])][1] += 1
            total += own_ns + expected(inner, path, out)
            continue
        here = (*path, name)
        entry = out.setdefault("/".join(here), [0, 0])
        entry[1] += 1
        spent = own_ns + expected(inner, here, out)
        entry[0] += spent
        total += spent
    return total


@given(nested_scripts())
def test_well_nested_phases_are_counted_as_a_plain_recursion_counts_them(script: list[object]) -> None:
    clock = FakeClock()
    recorder = recorder_on(clock)

    def run(part: list[object]) -> None:
        for name, own_ns, inner in part:  # type: ignore[misc]
            recorder.begin(name)
            clock.advance(own_ns)
            run(inner)
            recorder.end(name)

    run(script)
    out: dict[str, list[int]] = {}
    expected(script, (), out)
    assert by_path(recorder.totals()) == {path: tuple(entry) for path, entry in out.items()}
    assert recorder.misnested() == 0
