from __future__ import annotations

import gc
import inspect
import pickle
import string
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdyno.agent.measure import phases
from envdyno.agent.measure.phase_recorder import PhaseRecorder
from envdyno.agent.measure.phase_totals import paths_of_names
from envdyno.agent.measure.phase_tree import PhaseStatus, build_tree
from envdyno.agent.measure.probe_target import Probe, ProbeError, parse_probe
from envdyno.agent.measure.probes import install, probed

ENGINE = '''
import functools

class Solver(dict):
    """A Python class on a C class: get, pop and friends are C methods."""

class Base:
    def inherited(self):
        return "inherited"

class Engine(Base):
    def step(self, n, *, scale=1):
        """Advance."""
        return n * scale

    @staticmethod
    def static(n):
        return n + 1

    @classmethod
    def make(cls):
        return cls()

    @property
    def contacts(self):
        return 3

    @functools.cached_property
    def model(self):
        return 4

    def general(self, a, b):
        return (a, b)

    partial = functools.partialmethod(general, 1)
    length = len
    size = 7

    def generate(self):
        yield 1

    async def wait(self):
        return 1

    class Inner:
        def run(self):
            return "inner"

class Slotted:
    __slots__ = ("hook",)

def step(n):
    return n + 10

@functools.lru_cache
def cached(n):
    return n + 20

alias = step
engine = Engine()
slotted = Slotted()
slotted.hook = step
kept = {"step": step}
'''


@pytest.fixture
def engine() -> Iterator[Any]:
    module = types.ModuleType("probed_engine")
    module.__file__ = "probed_engine.py"
    exec(ENGINE, module.__dict__)
    sys.modules["probed_engine"] = module
    yield module
    del sys.modules["probed_engine"]


@pytest.fixture(autouse=True)
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(phases, "_recorder", PhaseRecorder())
    phases.enable()
    yield
    phases.disable()


def probe(attribute: str, phase: str = "physics") -> Probe:
    return Probe(phase, "probed_engine", attribute)


def calls() -> dict[str, int]:
    return {total.path: total.calls for total in phases.totals()}


def test_a_method_is_timed_and_keeps_name_documentation_signature_and_result(engine: Any) -> None:
    with probed([probe("Engine.step")]):
        assert engine.Engine().step(3, scale=2) == 6
        assert engine.Engine.step.__doc__ == "Advance."
        assert list(inspect.signature(engine.Engine.step).parameters) == ["self", "n", "scale"]
    assert calls() == {"physics": 1}


@pytest.mark.parametrize(
    ("attribute", "call", "result"),
    [
        ("Engine.static", lambda e: e.Engine().static(1), 2),
        ("Engine.make", lambda e: type(e.Engine.make()).__name__, "Engine"),
        ("Engine.partial", lambda e: e.Engine().partial(2), (1, 2)),
        ("Engine.length", lambda e: e.Engine().length([1, 2]), 2),
        ("Engine.inherited", lambda e: e.Engine().inherited(), "inherited"),
        ("Engine.Inner.run", lambda e: e.Engine.Inner().run(), "inner"),
        ("Engine.__init__", lambda e: type(e.Engine()).__name__, "Engine"),
        ("Solver.get", lambda e: e.Solver(a=1).get("a"), 1),
        ("Solver.__setitem__", lambda e: e.Solver().__setitem__("a", 1), None),
        ("engine.step", lambda e: e.engine.step(4), 4),
        ("step", lambda e: e.step(1), 11),
        ("cached", lambda e: e.cached(1), 21),
    ],
)
def test_every_kind_of_callable_is_timed_and_returns_what_it_did(
    engine: Any, attribute: str, call: Any, result: Any
) -> None:
    assert call(engine) == result
    with probed([probe(attribute)]):
        assert call(engine) == result
        assert calls() == {"physics": 1}
    assert call(engine) == result
    assert calls() == {"physics": 1}, "not after it is uninstalled"


def snapshot(module: Any) -> dict[str, dict[str, Any]]:
    owners = {"": module, "engine": module.engine}
    owners |= {name: value for name, value in vars(module).items() if isinstance(value, type)}
    return {name: dict(vars(owner)) for name, owner in owners.items()}


def test_uninstalling_puts_back_exactly_what_was_there(engine: Any) -> None:
    before = snapshot(engine)
    names = ["Engine.step", "Engine.static", "Engine.make", "Engine.partial", "Engine.inherited", "step"]
    installed = install([probe(name) for name in [*names, "Solver.get", "engine.general", "cached"]])
    assert snapshot(engine) != before
    assert installed.uninstall() == ()
    after = snapshot(engine)
    assert before.keys() == after.keys()
    for owner, attributes in before.items():
        assert attributes.keys() == after[owner].keys()
        assert all(after[owner][name] is value for name, value in attributes.items() if name != "__dict__")


def test_a_function_imported_by_name_elsewhere_is_timed_there_too(engine: Any) -> None:
    user = types.ModuleType("probed_user")
    exec("from probed_engine import step as advance\ndef run(): return advance(1)", user.__dict__)
    sys.modules["probed_user"] = user
    try:
        installed = install([probe("step")])
        assert set(installed.rebound["probed_engine:step"]) == {"probed_engine:alias", "probed_user:advance"}
        assert user.run() == 11
        assert calls() == {"physics": 1}
        installed.uninstall()
        assert user.advance is engine.step is engine.alias
    finally:
        del sys.modules["probed_user"]


def test_a_probe_that_did_not_fire_is_not_instrumented(engine: Any) -> None:
    with probed([probe("step")]) as installed:
        engine.kept["step"](1)
        expected = paths_of_names(installed.phase_names, phases.totals())
        tree = build_tree(phases.totals(), vector_steps=1, wall_ns=1, expected=expected)
    found = tree.find("physics")
    assert found is not None
    assert found.status is PhaseStatus.NOT_INSTRUMENTED


def test_a_probe_declares_no_phase_of_the_program(engine: Any) -> None:
    with probed([probe("step", "named_by_a_probe_only")]):
        engine.step(1)
    assert "named_by_a_probe_only" not in phases.declared()


def test_an_exception_in_a_probed_call_passes_through(engine: Any) -> None:
    with probed([probe("Engine.step")]), pytest.raises(TypeError, match="missing 1 required"):
        engine.Engine().step()
    assert calls() == {"physics": 1}


def test_two_callables_may_be_one_phase(engine: Any) -> None:
    with probed([probe("step"), probe("Engine.static")]) as installed:
        engine.step(1)
        engine.Engine.static(1)
        assert installed.phase_names == ("physics",)
    assert calls() == {"physics": 2}


def test_probes_inside_each_other_nest(engine: Any) -> None:
    exec("def outer(): return step(1)", engine.__dict__)
    with probed([probe("outer", "env_step"), probe("step")]):
        engine.outer()
    assert calls() == {"env_step": 1, "env_step/physics": 1}


def test_attributes_of_a_callable_object_stay_reachable(engine: Any) -> None:
    with probed([probe("cached")]):
        engine.cached(1)
        engine.cached(1)
        assert engine.cached.cache_info().hits == 1
        engine.cached.cache_clear()


def test_a_probed_function_can_still_be_pickled_by_name(engine: Any) -> None:
    with probed([probe("step")]):
        assert pickle.loads(pickle.dumps(engine.step)) is engine.step


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("Engine.contacts", "names a property"),
        ("Engine.model", "names a property"),
        ("Slotted.hook", "names a property"),
        ("Engine.size", "names an object of type int, which cannot be called"),
        ("Engine.Inner", r"names a class\. Name a method of it; Engine\.Inner\.__init__"),
        ("Engine.generate", "names a generator function"),
        ("Engine.wait", "names a coroutine function"),
        ("Engine.absent", "Engine has no attribute 'absent'"),
        ("absent.step", "probed_engine has no attribute 'absent'"),
        ("slotted.hook", "lets nobody replace 'hook'"),
    ],
)
def test_what_cannot_be_timed_is_refused_with_the_reason(engine: Any, attribute: str, said: str) -> None:
    with pytest.raises(ProbeError, match=said) as error:
        install([probe(attribute)])
    assert str(error.value).endswith(".")


def test_a_class_of_c_cannot_be_changed_and_the_way_out_is_told() -> None:
    with pytest.raises(
        ProbeError, match=r"dict lets nobody replace 'get'.*Name the Python function that calls"
    ):
        install([Probe("physics", "builtins", "dict.get")])


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(ProbeError, match="there is no module 'no_such_engine'"):
        install([Probe("physics", "no_such_engine.core", "step")])


def test_all_probes_are_installed_or_none(engine: Any) -> None:
    before = snapshot(engine)
    with pytest.raises(ProbeError):
        install([probe("step"), probe("Engine.step"), probe("Engine.absent")])
    assert snapshot(engine) == before


def test_two_probes_on_one_callable_are_refused(engine: Any) -> None:
    with pytest.raises(ProbeError, match="as the phases 'a' and 'b'"):
        install([probe("step", "a"), probe("step", "b")])


def test_what_someone_else_replaced_since_is_left_alone_and_told(engine: Any) -> None:
    installed = install([probe("Engine.step")])
    engine.Engine.step = other = lambda self: None
    (told,) = installed.uninstall()
    assert "Engine.step was replaced again" in told
    assert engine.Engine.step is other


def test_nothing_of_a_probe_is_left_in_memory_after_it_is_uninstalled(engine: Any) -> None:
    with probed([probe("step")]) as installed:
        assert engine.step is not engine.kept["step"]
    del installed
    gc.collect()
    assert engine.step is engine.kept["step"]
    assert not hasattr(engine.step, "__wrapped__")


def test_a_probe_is_read_from_its_text() -> None:
    read = parse_probe(" physics = pkg.engine : Engine.step ")
    assert read == Probe("physics", "pkg.engine", "Engine.step")
    assert str(read) == "physics=pkg.engine:Engine.step"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pkg.engine:Engine.step", "names no phase: it has no '='"),
        ("=pkg:step", "needs the name of a phase before '='"),
        ("a/b=pkg:step", "without '/', and has 'a/b'"),
        ("physics=pkg.engine", "does not say which part of 'pkg.engine' to time"),
        ("physics=pkg.engine:", "does not say which part"),
        ("physics=", "does not say which part of 'which module' to time"),
        ("physics=pkg/engine.py:step", "'pkg/engine.py' as its module, which is no Python name"),
        ("physics=pkg:step()", r"'step\(\)' as its attribute"),
        ("physics=pkg:a..b", "'a..b' as its attribute"),
    ],
)
def test_a_probe_of_another_form_is_refused_with_an_example(text: str, said: str) -> None:
    with pytest.raises(ProbeError, match=said) as error:
        parse_probe(text)
    assert "physics=package.engine:Engine.step" in str(error.value)


@given(st.text(alphabet=string.ascii_letters + "=:./_ 0", max_size=30))
def test_any_text_is_a_probe_that_prints_as_it_was_read_or_a_sentence(text: str) -> None:
    outcome: Probe | str
    try:
        outcome = parse_probe(text)
    except ProbeError as error:
        outcome = str(error)
    assert outcome.endswith(".") if isinstance(outcome, str) else parse_probe(str(outcome)) == outcome
