"""Before anything is measured: what has to be equal, what is proven, and what cannot be run."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hand_made_run import SPEC, site
from made_sides import side
from planned_experiment import plan_of, runs_of

from envdyno.agent.job import Timing
from envdyno.experiment import preflight
from envdyno.experiment.preflight import check_before, machine_notices, misaligned_cases, spec_differences
from envdyno.host.disturbance import Disturbance
from envdyno.launch.failure import Interrupted
from envdyno.launch.measure import Description
from envdyno.plan.run_request import RunRequest
from envdyno.plan.usage_error import UsageError
from envdyno.sides.problems import SideError

SIDES = {name: side(name, options={"kind": name}) for name in ("a", "b")}
Describe = Callable[[RunRequest], Description]


def described(**changes: Any) -> Description:
    return Description({**SPEC, **changes}, {"distributions": {"numpy": "2.4.6"}, "origins": []})


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Look before measuring; ``describe`` stands in for the processes."""

    def run(describe: Describe, cases: tuple[str, ...] = ("one",), sides: Any = SIDES, **plan: Any) -> Any:
        asked: list[RunRequest] = []

        def stand_in(request: RunRequest, _session: object, name: str) -> Description:
            asked.append(request)
            assert name.startswith("preflight-")
            return describe(request)

        monkeypatch.setattr(preflight, "describe", stand_in)
        made = plan_of(tuple(sides), **plan)
        found = check_before(made, runs_of(made, cases), sides, SimpleNamespace(), lambda _: None)  # type: ignore[arg-type]
        return SimpleNamespace(found=found, asked=asked)

    return run


def test_every_side_builds_every_case_once(look: Callable[..., Any]) -> None:
    done = look(lambda _: described(), ("one", "two"), pairs=6, attribution_pairs=3)
    built = [(request.workload, request.options["kind"]) for request in done.asked]
    assert sorted(built) == [("one", "a"), ("one", "b"), ("two", "a"), ("two", "b")]
    assert done.found.loaded["a"]["distributions"] == {"numpy": "2.4.6"}
    assert (done.found.misaligned, done.found.cannot_run) == ({}, {})


def test_a_case_that_one_side_cannot_build_is_named_and_the_others_go_on(look: Callable[..., Any]) -> None:
    def describe(request: RunRequest) -> Description:
        if (request.workload, request.options["kind"]) == ("one", "b"):
            raise UsageError("It needs torch.")
        return described()

    done = look(describe, ("one", "two"))
    assert done.found.cannot_run == {"one": "Side b cannot build it. It needs torch."}
    assert done.found.misaligned == {}


def test_if_no_case_can_be_built_there_is_no_experiment(look: Callable[..., Any]) -> None:
    def describe(_request: RunRequest) -> Description:
        raise UsageError("It needs torch.")

    with pytest.raises(
        UsageError, match=r"No case can be run\. one: Side a cannot build it\. It needs torch\."
    ):
        look(describe)


def test_memory_that_will_not_suffice_is_said_before_anything_is_measured(look: Callable[..., Any]) -> None:
    def describe(request: RunRequest) -> Description:
        short = ("9,000 MiB are needed on node 0.",) if request.options["kind"] == "b" else ()
        return Description(described().spec, described().loaded, short)

    assert look(describe).found.notices == ("Side b of one: 9,000 MiB are needed on node 0.",)


def test_an_interrupt_ends_the_look(look: Callable[..., Any]) -> None:
    def describe(_request: RunRequest) -> Description:
        raise Interrupted(2)

    with pytest.raises(Interrupted):
        look(describe)


def test_a_module_that_a_workload_names_and_never_imports_stops_the_experiment(
    look: Callable[..., Any],
) -> None:
    def describe(_request: RunRequest) -> Description:
        body = {"module": "walker", "loaded": False}
        return Description({**SPEC, "modules_under_test": ["walker"]}, {"origins": [body]})

    with pytest.raises(SideError, match="walker is named as under test, but was never imported"):
        look(describe)


def test_probes_are_put_in_place_in_the_look_so_that_a_wrong_one_is_found_at_once(
    look: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = preflight.request_of
    probed = {"probes": ("physics=walker:step",)}
    monkeypatch.setattr(preflight, "request_of", lambda *a: real(*a).model_copy(update=probed))
    with_pairs = look(lambda _: described(), attribution_pairs=3)
    assert {request.timing for request in with_pairs.asked} == {Timing.ATTRIBUTION}
    without = look(lambda _: described())
    assert {request.timing for request in without.asked} == {Timing.THROUGHPUT}


OTHER: dict[str, Any] = {
    "num_envs": 8,
    "action": {"shape": [3], "dtype": "float32", "low": -1.0, "high": 1.0},
    "observation": {"obs": {"shape": [5], "dtype": "float64", "low": None, "high": None}},
    "autoreset": "next_step",
    "substeps": 2,
    "step_dt_s": 0.01,
    "threads": 4,
}


@pytest.mark.parametrize("name", OTHER)
def test_a_difference_in_the_work_is_named_with_both_values(name: str) -> None:
    text = spec_differences({"base": SPEC, "head": {**SPEC, name: OTHER[name]}})
    assert text is not None
    assert text.startswith(f"{name} is ")
    assert "on base and" in text
    assert text.endswith("on head")


def test_arrays_are_told_as_one_would_say_them() -> None:
    text = spec_differences({"base": SPEC, "head": {**SPEC, "action": OTHER["action"]}})
    assert text == "action is float32[2] in [-1.0, 1.0] on base and float32[3] in [-1.0, 1.0] on head"


def test_all_differences_of_all_sides_are_named() -> None:
    specs = {"a": SPEC, "b": {**SPEC, "substeps": 2}, "c": {**SPEC, "threads": 8, "autoreset": "next_step"}}
    text = spec_differences(specs)
    assert text is not None
    assert [part.split(" is ")[0] for part in text.split("; ")] == ["substeps", "autoreset", "threads"]


def test_what_one_side_does_not_tell_is_no_difference() -> None:
    assert spec_differences({"a": SPEC, "b": {**SPEC, "substeps": None}}) is None
    assert spec_differences({"a": SPEC, "b": {}}) is None


def test_threads_may_differ_where_they_are_what_is_compared() -> None:
    specs = {("one", "a"): {**SPEC, "threads": 1}, ("one", "b"): {**SPEC, "threads": 2}}
    asked = {name: side(name, options={"threads": count}) for name, count in (("a", 1), ("b", 2))}
    assert misaligned_cases(specs, asked, ["one"]) == {}
    assert misaligned_cases(specs, SIDES, ["one"]) == {"one": "threads is 1 on a and 2 on b"}


def test_substeps_may_not_differ_even_where_an_option_says_so() -> None:
    specs = {("one", "a"): {**SPEC, "substeps": 1}, ("one", "b"): {**SPEC, "substeps": 2}}
    asked = {name: side(name, options={"substeps": count}) for name, count in (("a", 1), ("b", 2))}
    assert "one" in misaligned_cases(specs, asked, ["one"])


def test_what_disturbs_the_machine_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Disturbance("governor", "powersave", "Set the governor to performance."),
        Disturbance("turbo", "on", "The clock depends on temperature."),
        Disturbance("CPU quota", "none"),
        Disturbance("load on the chosen CPUs", "1.90 of 2 cores over 0.5 s", "Other work runs."),
    ]
    monkeypatch.setattr(preflight, "disturbances", lambda *_a, **_k: found)
    assert list(machine_notices(site())) == [
        "governor: powersave. Set the governor to performance.",
        "load on the chosen CPUs: 1.90 of 2 cores over 0.5 s. Other work runs.",
    ]
