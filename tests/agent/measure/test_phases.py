from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest

from envdyno.agent.measure import phases
from envdyno.agent.measure.phase_recorder import PhaseRecorder
from envdyno.agent.measure.phases import CpuTiming, phase


@pytest.fixture(autouse=True)
def fresh_recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(phases, "_recorder", PhaseRecorder())
    yield
    phases.disable()


def calls() -> dict[str, int]:
    return {total.path: total.calls for total in phases.totals()}


def test_phases_are_off_until_enabled() -> None:
    assert not phases.is_enabled()
    with phase("physics"):
        pass
    phases.enable()
    assert phases.is_enabled()
    assert calls() == {}


def test_a_phase_held_since_before_the_switch_is_timed_after_it() -> None:
    held = phase("physics")
    with held:
        pass
    phases.enable()
    for _ in range(3):
        with held:
            pass
    phases.disable()
    with held:
        pass
    assert calls() == {"physics": 3}


def test_the_same_name_gives_the_same_phase() -> None:
    assert phase("same") is phase("same")


def test_a_block_entered_while_off_is_left_while_off() -> None:
    with phase("outer"):
        phases.enable()
        with phase("inner"):
            pass
    assert calls() == {"inner": 1}
    assert phases.misnested() == 0


def test_a_block_entered_while_on_is_timed_to_its_end() -> None:
    phases.enable()
    with phase("outer"):
        phases.disable()
        with phase("inner"):
            pass
        before = phases.totals()[0].wall_ns
    after = phases.totals()[0].wall_ns
    assert calls() == {"outer": 1}
    assert after >= before
    assert phases.totals()[0].wall_ns == after, "it is closed"


@pytest.mark.parametrize("on", [False, True])
def test_an_exception_passes_through_and_closes_every_phase_on_its_way(on: bool) -> None:
    if on:
        phases.enable()
    with pytest.raises(KeyError), phase("env_step"), phase("physics"):
        raise KeyError("lost")
    with phase("next"):
        pass
    assert calls() == ({"env_step": 1, "env_step/physics": 1, "next": 1} if on else {})


@pytest.mark.parametrize("on", [False, True])
def test_a_with_statement_yields_nothing_on_either_side_of_the_switch(on: bool) -> None:
    if on:
        phases.enable()
    with phase("physics") as value:  # type: ignore[func-returns-value]
        pass
    assert value is None


def test_a_phase_works_in_an_exit_stack() -> None:
    phases.enable()
    with ExitStack() as stack:
        stack.enter_context(phase("outer"))
        stack.enter_context(phase("inner"))
    assert calls() == {"outer": 1, "outer/inner": 1}


def test_a_decorated_function_keeps_its_name_result_and_arguments() -> None:
    @phase("update_state")
    def scale(value: int, *, by: int = 2) -> int:
        """Multiply."""
        return value * by

    phases.enable()
    assert scale(3, by=5) == 15
    assert (scale.__name__, scale.__doc__) == ("scale", "Multiply.")
    assert calls() == {"update_state": 1}


def test_a_decorated_recursive_function_is_one_path() -> None:
    @phase("factorial")
    def factorial(n: int) -> int:
        return n * factorial(n - 1) if n else 1

    phases.enable()
    assert factorial(5) == 120
    assert calls() == {"factorial": 6}


def test_decorating_what_can_be_suspended_is_refused_with_the_way_out() -> None:
    def generator() -> Iterator[int]:
        yield 1

    async def coroutine() -> None: ...

    async def async_generator() -> AsyncIterator[int]:
        yield 1

    for function in (generator, coroutine, async_generator):
        with pytest.raises(
            TypeError, match=rf"phase\('p'\) cannot time .*{function.__name__}.*Put 'with phase"
        ):
            phase("p")(function)


def test_a_generator_that_holds_a_phase_does_not_spoil_the_phases_after_it() -> None:
    def generator() -> Iterator[int]:
        with phase("held"):
            yield 1
            yield 2

    phases.enable()
    values = generator()
    next(values)
    with phase("env_step"):
        next(values)
        values.close()
    with phase("env_step"), phase("physics"):
        pass
    assert calls() == {"held": 1, "held/env_step": 1, "env_step": 1, "env_step/physics": 1}
    assert phases.misnested() == 2


def test_interleaved_coroutines_leave_no_phase_open() -> None:
    async def task(name: str) -> None:
        with phase(name):
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(task("a"), task("b"))

    phases.enable()
    asyncio.run(both())
    with phase("after"):
        pass
    assert calls()["after"] == 1
    assert phases.misnested() > 0


def test_a_phase_may_be_shared_by_threads() -> None:
    shared = phase("shared")
    phases.enable()
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        for _ in range(200):
            with shared:
                pass

    threads = [threading.Thread(target=work, name=f"w{i}") for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert phases.totals() == ()
    assert {name: totals[0].calls for name, totals in phases.other_threads().items()} == {
        f"w{i}": 200 for i in range(4)
    }
    assert phases.misnested() == 0


def test_a_window_is_what_comes_after_the_reset() -> None:
    phases.enable()
    with phase("physics"):
        pass
    phases.reset()
    with phase("physics"):
        pass
    assert calls() == {"physics": 1}


def test_cpu_time_is_measured_where_asked() -> None:
    phases.enable(CpuTiming.PROCESS)
    with phase("physics"):
        sum(range(1000))
    (total,) = phases.totals()
    assert total.cpu_ns is not None
    assert total.cpu_ns > 0


@pytest.mark.parametrize("name", ["", "a/b", 3])
def test_a_name_that_cannot_be_a_part_of_a_path_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"non-empty string without '/', and got"):
        phase(name)  # type: ignore[arg-type]


def test_a_name_is_declared_once_a_phase_is_made_of_it() -> None:
    assert "made_and_never_entered" not in phases.declared()
    phase("made_and_never_entered")
    assert "made_and_never_entered" in phases.declared()


def test_names_made_in_a_loop_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "_MAX_NAMES", len(phases.declared()) + 10)
    phases.enable()
    for index in range(50):
        with phase(f"step_{index}"):
            pass
    assert len(phases.declared()) == phases._MAX_NAMES
    assert len(phases.totals()) == 50, "all of them are timed"
    for index in range(10):
        phases._phases.pop(f"step_{index}")


def test_an_environment_that_holds_a_phase_can_be_copied_and_pickled() -> None:
    held = phase("physics")
    assert copy.deepcopy(held) is held
    assert pickle.loads(pickle.dumps(held)) is held
    assert repr(held) == "phase('physics')"
