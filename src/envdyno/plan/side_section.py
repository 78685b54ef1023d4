"""The tables ``[sides.NAME]`` of a plan, and what they ask of the preparation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from envdyno.plan.sections import Seconds, Section, Texts
from envdyno.sides.request import (
    GitRef,
    LfsPolicy,
    OptionValue,
    Requirements,
    SideRequest,
    SubmodulePolicy,
    WorkingTree,
)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_side_name(name: str) -> str:
    """Return ``name`` if a side may have it.

    Raises:
        ValueError: it would not do as a column head or as part of a file name.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name for a side; use a letter, then up to 39 letters, digits, dots, dashes or "
            "underscores."
        )
    return name


def _variables(value: Any) -> Any:
    """Take numbers for texts: ``OMP_NUM_THREADS = 4`` means what it says."""
    if not isinstance(value, dict):
        return value
    return {
        name: str(one) if isinstance(one, (int, float)) and not isinstance(one, bool) else one
        for name, one in value.items()
    }


class SideSection(Section):
    """One side as the plan describes it. All keys may be combined."""

    ref: str | None = Field(default=None, min_length=1, description="branch, tag, SHA, or e.g. HEAD~3")
    working_tree: bool = Field(default=False, description="the files of the checkout as they are")
    repo: str | None = Field(
        default=None, description="a folder of the repository; the plan's folder if not given"
    )
    python: str | None = Field(
        default=None, description="interpreter, folder of an environment, or a version"
    )
    requirements: Texts | None = Field(default=None, description="lines of a requirements file")
    requirements_file: Texts = ()
    no_deps: bool = Field(default=False, description="install the requirements and nothing that they need")
    env: Annotated[dict[str, str], BeforeValidator(_variables)] = Field(default_factory=dict)
    unset: Texts = ()
    options: dict[str, OptionValue] = Field(default_factory=dict)
    pythonpath: Texts | None = None
    setup: Texts = Field(default=(), description="shell commands, run once a commit")
    setup_deadline: Seconds = 1800.0
    cwd: str | None = None
    origins: Texts = Field(default=(), description="further folders that modules under test may come from")
    data: Texts = Field(default=(), description="files of the repository that the workload reads")
    modules: Texts = ()
    submodules: Annotated[SubmodulePolicy, BeforeValidator(SubmodulePolicy)] = SubmodulePolicy.LOCAL
    lfs: Annotated[LfsPolicy, BeforeValidator(LfsPolicy)] = LfsPolicy.LOCAL

    @field_validator("env")
    @classmethod
    def _variable_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} is no name of an environment variable.")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> SideSection:
        if self.ref is not None and self.working_tree:
            raise ValueError("a side is a `ref` or the `working_tree`, not both.")
        has_code = self.ref is not None or self.working_tree
        if not has_code:
            for key in ("repo", "setup", "data"):
                if getattr(self, key):
                    raise ValueError(f"`{key}` needs code: add `ref` or `working_tree = true`.")
        if self.no_deps and not self.asks_for_packages:
            raise ValueError("`no_deps` needs `requirements` or `requirements_file`.")
        twice = sorted(set(self.env) & set(self.unset))
        if twice:
            raise ValueError(f"{', '.join(twice)} is both set and unset.")
        return self

    @property
    def asks_for_packages(self) -> bool:
        """Whether the side wants an environment to be built."""
        return self.requirements is not None or bool(self.requirements_file)

    def request(self, name: str, directory: Path, modules: tuple[str, ...] = ()) -> SideRequest:
        """Return what the preparation is asked for.

        Args:
            name: of the side.
            directory: where relative paths start.
            modules: modules under test that the whole experiment names.
        """
        requirements = None
        if self.asks_for_packages:
            files = tuple(Path(path) for path in self.requirements_file)
            requirements = Requirements(self.requirements or (), files, dependencies=not self.no_deps)
        return SideRequest(
            name=name,
            directory=directory,
            code=self._code(directory),
            python=self.python,
            requirements=requirements,
            environ=self.env,
            unset=self.unset,
            options=self.options,
            pythonpath=self.pythonpath,
            setup=self.setup,
            setup_deadline_s=self.setup_deadline,
            cwd=self.cwd,
            origins=tuple((directory / Path(path).expanduser()).resolve() for path in self.origins),
            data=self.data,
            modules=tuple(dict.fromkeys((*modules, *self.modules))),
        )

    def _code(self, directory: Path) -> GitRef | WorkingTree | None:
        repository = (directory / Path(self.repo or ".").expanduser()).resolve()
        if self.ref is not None:
            return GitRef(self.ref, repository, self.submodules, self.lfs)
        return WorkingTree(repository) if self.working_tree else None
