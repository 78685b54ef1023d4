from __future__ import annotations

import functools
import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdyno.agent.workloads import registry
from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.registry import (
    SYNTHETIC,
    Naming,
    Registration,
    Resolved,
    WorkloadError,
    call_factory,
    load_factory,
    registrations,
    resolve,
    seed_notes,
)

CONTEXT = BuildContext(0, 1, (0,), 1, attribution=False)
FAMILY = Registration("gym", "adapters.gym:build", "a family", naming=Naming.PREFIX)
names = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter that opens a family of environments."""
    monkeypatch.setattr(registry, "built_in", lambda: (FAMILY, SYNTHETIC))


def entry_points(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    """Let other distributions have registered workloads."""
    found = [importlib.metadata.EntryPoint(name, value, registry.ENTRY_POINT_GROUP) for name, value in points]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found)


def test_a_registered_name_resolves_to_its_factory() -> None:
    assert resolve("synthetic") == Resolved("synthetic", SYNTHETIC.factory, SYNTHETIC)


def test_a_prefix_passes_the_rest_of_the_name_as_the_target(family: None) -> None:
    assert resolve("gym:Ant-v5") == Resolved("gym:Ant-v5", FAMILY.factory, FAMILY, "Ant-v5")
    assert resolve("gym:namespace/Ant:v5").target == "namespace/Ant:v5"


@pytest.mark.parametrize("name", ["gym", "gym:"])
def test_a_family_without_a_member_asks_which_one(name: str, family: None) -> None:
    with pytest.raises(WorkloadError, match="gym"):
        resolve(name)


@settings(max_examples=40)
@given(st.lists(names, min_size=1, max_size=3), st.lists(names, min_size=1, max_size=2))
def test_any_dotted_module_and_attribute_is_a_name(module: list[str], attribute: list[str]) -> None:
    name = f"{'.'.join(module)}:{'.'.join(attribute)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "registrations", dict)  # looking up entry points takes milliseconds
        assert resolve(name) == Resolved(name, name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ":",
        "module:",
        ":build",
        "my-module:build",
        "a:b:c",
        "a b:c",
        "module:build()",
        "../x:y",
        "a..b:c",
    ],
)
def test_what_is_no_name_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(WorkloadError, match=r"There is no workload named .*module:attribute\.$"):
        resolve(name)


@pytest.mark.parametrize("name", ["lambda n: n", "lambda num_envs, seed: None", "<lambda>", "<stdin>:build"])
def test_code_in_place_of_a_name_is_told_to_move_into_a_module(name: str) -> None:
    with pytest.raises(WorkloadError, match="put it into a module with def"):
        resolve(name)


def test_a_misspelt_name_is_met_with_the_nearest_ones() -> None:
    with pytest.raises(WorkloadError, match="Did you mean synthetic"):
        resolve("synthetik")


def test_other_distributions_register_by_entry_points_but_cannot_take_over_a_built_in_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry_points(monkeypatch, ("theirs", "their.envs:build [extra]"), ("synthetic", "evil:build"))
    known = registrations()
    assert known["theirs"].factory == "their.envs:build"
    assert known["theirs"].group == "installed"
    assert known["synthetic"] is SYNTHETIC


def test_names_are_listed_and_checked_without_importing_numpy_or_an_engine() -> None:
    program = (
        "import sys; from envdyno.agent.workloads.registry import registrations, resolve;"
        "registrations(); resolve('my.module:build');"
        "print({'numpy', 'mujoco', 'motrixsim', 'torch', 'my'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a module and import factories from it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written: list[str] = []

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


def load(name: str, registration: Registration | None = None) -> Any:
    """Import the factory that a name stands for."""
    return load_factory(Resolved(name, name, registration))


def test_a_factory_may_be_a_function_a_class_or_a_method_of_one(module: Any) -> None:
    module("envs_a", "def build(): pass\nclass Env:\n    @staticmethod\n    def make(): pass\n")
    assert load("envs_a:build").__name__ == "build"
    assert load("envs_a:Env").__name__ == "Env"
    assert load("envs_a:Env.make").__name__ == "make"


@pytest.mark.parametrize(
    ("text", "attribute", "said"),
    [
        ("", "build", "has no attribute 'build'"),
        ("class Env: pass\n", "Env.make", "has no attribute 'Env.make'"),
        ("build = 5\n", "build", "is a int, not a factory"),
        ("build = lambda num_envs, seed: None\n", "build", "is a lambda"),
    ],
)
def test_an_attribute_that_is_no_factory_is_refused(
    text: str, attribute: str, said: str, module: Any
) -> None:
    module("envs_b", text)
    with pytest.raises(WorkloadError, match=said):
        load(f"envs_b:{attribute}")


def test_a_module_that_is_not_there_is_told_from_one_whose_own_import_is_missing(module: Any) -> None:
    module("envs_c", "import not_installed_engine\n")
    with pytest.raises(WorkloadError, match="There is no module 'no_such_module'"):
        load("no_such_module:build")
    with pytest.raises(WorkloadError, match="There is no module 'no_such'"):
        load("no_such.inner:build")
    with pytest.raises(WorkloadError, match="'envs_c' needs 'not_installed_engine'"):
        load("envs_c:build")


def test_a_missing_framework_comes_with_what_to_type(module: Any) -> None:
    module("envs_d", "import not_installed_engine\n")
    entry = Registration("robot", "envs_d:build", "a robot", install="pip install engine")
    with pytest.raises(WorkloadError, match="'not_installed_engine', which is not installed: pip install"):
        load("envs_d:build", entry)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('no display')\n", r"RuntimeError: no display \(at .*envs_e\.py:1\)"),
        ("\nx = 1 / 0\n", r"ZeroDivisionError: division by zero \(at .*envs_e\.py:2\)"),
        ("def build():\n    return (\n", r"SyntaxError: .* \(at .*envs_e\.py:2\)"),
        ("import sys\nsys.exit(3)\n", r"SystemExit: 3 \(at .*envs_e\.py:2\)"),
        ("from sys import nosuch\n", r"ImportError: .*nosuch.* \(at .*envs_e\.py:1\)"),
    ],
)
def test_a_module_that_fails_at_its_import_is_told_with_the_place_and_the_cause(
    text: str, said: str, module: Any
) -> None:
    module("envs_e", text)
    sys.modules.pop("envs_e", None)
    with pytest.raises(WorkloadError, match=said) as caught:
        load("envs_e:build")
    assert caught.value.__cause__ is not None, "its traceback is for the log"


def call(factory: Any, target: str | None = None, **options: Any) -> Any:
    """Call a factory as a worker does."""
    return call_factory(
        Resolved("mine", "mine:build", target=target),
        factory,
        num_envs=4,
        seed=7,
        options=options,
        context=CONTEXT,
    )


def test_a_factory_gets_the_batch_the_seed_and_its_options() -> None:
    assert call(lambda num_envs, seed, speed=1: (num_envs, seed, speed), speed=3) == (4, 7, 3)


def test_the_context_is_given_to_those_who_ask_for_it() -> None:
    assert call(lambda num_envs, seed, *, context: context) is CONTEXT
    assert "context" not in call(lambda **everything: everything)


def test_the_target_of_a_family_is_an_argument() -> None:
    assert call(lambda num_envs, seed, target: target, target="Ant-v5") == "Ant-v5"


def test_classes_and_partials_are_factories() -> None:
    class Env:
        def __init__(self, num_envs: int, seed: int) -> None:
            self.num_envs = num_envs

    assert call(Env).num_envs == 4
    assert call(functools.partial(lambda num_envs, seed, size: size, size=9)) == 9


def test_an_option_that_the_factory_does_not_have_is_met_with_those_it_has() -> None:
    def build(num_envs: int, seed: int, context: Any, speed: int = 1, mass: int = 2) -> None: ...

    with pytest.raises(WorkloadError, match=r"no option 'colour', 'sped'. It has: mass, speed\."):
        call(build, sped=1, colour=2)

    def bare(num_envs: int, seed: int) -> None: ...

    with pytest.raises(WorkloadError, match="It has no options"):
        call(bare, speed=1)


def test_a_factory_that_cannot_take_a_batch_is_told_how_it_is_called() -> None:
    def build(seed: int) -> None: ...

    with pytest.raises(WorkloadError, match="takes no parameter num_envs: a factory is called with num_envs"):
        call(build)


def test_a_factory_that_takes_no_seed_is_called_without_one_and_that_is_noted() -> None:
    def seedless(num_envs: int, speed: int = 1) -> dict[str, int]:
        return {"num_envs": num_envs, "speed": speed}

    def seeded(num_envs: int, seed: int) -> None: ...

    def anything(**given: Any) -> dict[str, Any]:
        return given

    assert call(seedless, speed=3) == {"num_envs": 4, "speed": 3}
    assert call(anything) == {"num_envs": 4, "seed": 7}
    assert "takes no seed" in " ".join(seed_notes(seedless))
    assert (seed_notes(seeded), seed_notes(anything), seed_notes(object())) == ((), (), ())


def test_a_factory_without_a_seed_still_refuses_options_that_it_has_not() -> None:
    def seedless(num_envs: int) -> None: ...

    with pytest.raises(WorkloadError, match="has no option 'speed'"):
        call(seedless, speed=3)


@pytest.mark.parametrize("name", ["num_envs", "seed", "context", "target"])
def test_options_cannot_replace_what_the_run_decides(name: str) -> None:
    """Built for another number of rows, a workload that tells nothing would be miscounted."""
    with pytest.raises(WorkloadError, match=f"'{name}' cannot be given as an option.*--num-envs"):
        call_factory(
            Resolved("mine", "mine:build"),
            lambda **everything: everything,
            num_envs=4,
            seed=7,
            options={name: 1},
            context=CONTEXT,
        )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gymnasum:Ant-v5", "gymnasium:Ant-v5"),
        ("brx:ant", "brax:ant"),
        ("mujoco_rolout:go2", "mujoco_rollout:go2"),
    ],
)
def test_a_misspelt_family_is_met_with_the_family_that_was_meant(name: str, meant: str) -> None:
    with pytest.raises(WorkloadError, match=f"Did you mean {meant}"):
        load_factory(resolve(name))


def test_a_module_that_is_not_there_and_is_like_no_family_is_met_with_no_guess() -> None:
    with pytest.raises(WorkloadError, match="has no entry point 'my_robots'") as caught:
        load_factory(resolve("my_robots:build"))
    assert "Did you mean" not in str(caught.value)
