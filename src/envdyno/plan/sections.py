"""The tables of a plan file, apart from its sides. Unknown keys are refused everywhere."""

from __future__ import annotations

import math
from datetime import date
from enum import Enum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    field_validator,
    model_validator,
)

from envdyno.agent.measure.actions import ActionSource
from envdyno.agent.placement.cpulist import parse_cpulist
from envdyno.agent.placement.placement import MemoryPolicy
from envdyno.agent.placement.request import Smt, parse_numa
from envdyno.judge.gate_rule import Rule
from envdyno.plan.quantities import USUAL_PAIRS, PairRange, parse_pairs, parse_positive_duration
from envdyno.plan.run_request import (
    DEFAULT_NUM_ENVS,
    DEFAULT_WARMUP_STEPS,
    DEFAULT_WINDOW_S,
    FOREIGN_LOAD_LIMIT_CORES,
)
from envdyno.record.hardware import HardwareCounting


class Section(BaseModel):
    """One table of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _texts(value: Any) -> Any:
    """Take one text for a list of one."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _numbers(value: Any) -> Any:
    """Take one number for a list of one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_numbers)]
Seconds = Annotated[float, BeforeValidator(parse_positive_duration)]
Pairs = Annotated[PairRange, BeforeValidator(parse_pairs), PlainSerializer(str)]


class Order(str, Enum):
    """In which order the sides of a case run."""

    COUNTERBALANCED = "counterbalanced"
    """In pairs, the order within a pair reversed from pair to pair: AB BA AB BA."""
    BLOCKED = "blocked"
    """All runs of one side, then all of the other: a drift of the machine counts as a difference."""


def _lenient(kind: type[Enum]) -> BeforeValidator:
    """Read an enum from its value, and name all values where it is none of them."""

    def read(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError as error:
            known = ", ".join(str(one.value) for one in kind)
            raise ValueError(f"{value!r} is not known; use one of {known}.") from error

    return BeforeValidator(read)


class ExperimentSection(Section):
    """What is compared, and how often."""

    cases: Texts = Field(
        min_length=1, description="names, patterns such as sac/*, or suite for all of its cases"
    )
    num_envs: Numbers = Field(
        default=(DEFAULT_NUM_ENVS,), min_length=1, description="total batch; several multiply"
    )
    pairs: Pairs = PairRange(USUAL_PAIRS, USUAL_PAIRS)
    order: Annotated[Order, _lenient(Order)] = Order.COUNTERBALANCED
    order_seed: int = Field(default=0, ge=0)
    seed: int = Field(default=0, ge=0, description="of environments and actions, the same in all runs")
    attribution_pairs: int = Field(
        default=3, ge=0, description="further pairs with phases timed, none for headlines"
    )
    budget: Seconds | None = Field(default=None, description="no further pair begins after this time")
    retries: int = Field(default=0, ge=0, description="how often a failed run is repeated")
    disturbed_repeats: int = Field(default=3, ge=0, description="how often a disturbed run is repeated")
    wait_idle: Seconds | None = Field(default=None, description="how long to wait for a quiet machine")
    aa: bool = Field(default=False, description="the sides are meant to be equal")
    modules: Texts = Field(default=(), description="modules under test, beside those that the workload names")
    packages: Texts = Field(default=(), description="packages that are meant to differ between the sides")
    allow_package_diff: bool = False
    allow_dependency_faults: bool = False

    @field_validator("num_envs")
    @classmethod
    def _positive(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        for number in value:
            if number < 1:
                raise ValueError(f"{number} environments were asked for; a batch has at least 1.")
        if len(set(value)) != len(value):
            raise ValueError("a batch size stands there twice.")
        return value

    @model_validator(mode="after")
    def _blocked_is_fixed(self) -> ExperimentSection:
        if self.order is Order.BLOCKED and self.pairs.minimum != self.pairs.maximum:
            raise ValueError(
                "blocked order needs a fixed number of pairs, for the second side starts when the first "
                f"has all of its runs; write pairs = {self.pairs.maximum}, or leave the order "
                "counterbalanced."
            )
        return self


class MeasureSection(Section):
    """How each run is measured."""

    window: Seconds = DEFAULT_WINDOW_S
    warmup_steps: int = Field(default=DEFAULT_WARMUP_STEPS, ge=0)
    actions: Annotated[ActionSource, _lenient(ActionSource)] = ActionSource.RANDOM
    foreign_load_limit_cores: float = Field(default=FOREIGN_LOAD_LIMIT_CORES, gt=0, strict=False)
    allow_nonfinite: bool = False
    phase_cpu: bool = Field(default=False, description="time phases in CPU time too")
    probes: Texts = ()
    hardware_counters: Annotated[HardwareCounting, _lenient(HardwareCounting)] = HardwareCounting.AUTO


class PlacementSection(Section):
    """Where the workers of each run go; as the options of `envdyno run`."""

    numa: str = "auto"
    workers_per_node: int = Field(default=1, ge=1)
    cpus: str | None = None
    smt: Annotated[Smt, _lenient(Smt)] = Smt.ON
    memory: Annotated[MemoryPolicy, _lenient(MemoryPolicy)] = MemoryPolicy.BIND
    strict: bool = Field(default=False, description="stop where a placement is refused")

    @model_validator(mode="after")
    def _readable(self) -> PlacementSection:
        parse_numa(self.numa)
        if self.cpus is not None:
            parse_cpulist(self.cpus)
        return self


def _day(value: Any) -> Any:
    """Take a day in quotes for a day."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"{value!r} is no day; write e.g. 2027-03-01.") from error


class ExceptionSection(Section):
    """A lower bound for one case, accepted by somebody for a reason and until a day."""

    case: str = Field(min_length=1)
    min_ratio: float = Field(gt=0, strict=False)
    reason: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    expires: Annotated[date, BeforeValidator(_day)]
    """The last day on which it holds."""

    @field_validator("case")
    @classmethod
    def _one_case(cls, value: str) -> str:
        if any(mark in value for mark in "*?["):
            raise ValueError(f"an exception names exactly one case, and {value!r} is a pattern.")
        return value


class GateSection(Section):
    """The rule on the ratio of every case."""

    min_ratio: float = Field(default=0.90, gt=0, strict=False)
    rule: Annotated[Rule, _lenient(Rule)] = Rule.INTERVAL
    alpha: float = Field(default=0.05, gt=0, lt=0.5, strict=False)
    max_plausible_gain: float = Field(default=1.5, gt=1, strict=False)
    canary_limit: float = Field(default=0.05, gt=0, strict=False)
    allow_dirty: bool = Field(default=False, description="judge a working tree with uncommitted changes")
    exceptions: Annotated[tuple[ExceptionSection, ...], BeforeValidator(_numbers)] = ()

    @model_validator(mode="after")
    def _exceptions_fit(self) -> GateSection:
        cases = [exception.case for exception in self.exceptions]
        for exception in self.exceptions:
            if cases.count(exception.case) > 1:
                raise ValueError(f"{exception.case} has more than one exception.")
            if exception.min_ratio > self.min_ratio:
                raise ValueError(
                    f"the exception for {exception.case} asks for {exception.min_ratio}, more than the "
                    f"gate's {self.min_ratio}; an exception can only lower the bound."
                )
        if not math.isfinite(self.min_ratio):
            raise ValueError("min_ratio is a ratio such as 0.90.")
        return self
