"""Checks on all sides of an experiment together, before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envdyno.record.counted import counted
from envdyno.sides.caches import CacheDir, Choice, refuse_shared
from envdyno.sides.dependencies import DependencyFault, dependency_faults
from envdyno.sides.packages import PackageDifference, package_differences, undeclared
from envdyno.sides.prepared import CodeIdentity, CodeKind, PreparedSide
from envdyno.sides.problems import SideError, SideNotice, SideProblem

_SHOWN = 12


@dataclass(frozen=True)
class Allowances:
    """What the user accepts."""

    same: bool = False
    """An A/A: both sides are meant to be equal."""
    package_differences: bool = False
    """Any difference in packages."""
    packages: tuple[str, ...] = ()
    """Packages that are meant to differ, beside those that a side's requirements name."""
    dependency_faults: bool = False
    """A side may lack what its own metadata asks for."""


@dataclass(frozen=True)
class Comparison:
    """How one side differs from the first."""

    first: str
    second: str
    packages: tuple[PackageDifference, ...]
    undeclared: tuple[PackageDifference, ...]
    differing: tuple[str, ...]
    """Things that differ: ``code``, ``interpreter``, ``packages``, ``options``, ``environment variables``."""


@dataclass(frozen=True)
class SideChecks:
    """What the checks found, all sides together."""

    comparisons: tuple[Comparison, ...]
    dependency_faults: dict[str, tuple[DependencyFault, ...]]
    """By side; also those that do not stop an experiment."""
    notices: tuple[SideNotice, ...]


def check_sides(sides: Sequence[PreparedSide], allowances: Allowances) -> SideChecks:
    """Compare every side with the first, and each with its own metadata.

    Raises:
        SideError: two sides are the same, share a cache, or differ in packages without anybody saying so;
            or a side lacks a dependency. The message says how to allow it.
    """
    comparisons = tuple(compare_sides(sides[0], other, allowances) for other in sides[1:])
    faults: dict[str, tuple[DependencyFault, ...]] = {}
    notices: list[SideNotice] = []
    for side in sides:
        found = _check_dependencies(side, allowances)
        faults[side.name] = found
        notices += _notices(side, found)
    for comparison, other in zip(comparisons, sides[1:], strict=True):
        if not allowances.same:
            _refuse_same(sides[0], other, comparison)
        if comparison.undeclared and not allowances.package_differences:
            raise SideError(SideProblem.PACKAGES, _undeclared_text(comparison))
    for index, side in enumerate(sides):
        for other in sides[index + 1 :]:
            refuse_shared(side.name, _cache_dirs(side), other.name, _cache_dirs(other))
    return SideChecks(comparisons, faults, tuple(notices))


def compare_sides(first: PreparedSide, second: PreparedSide, allowances: Allowances) -> Comparison:
    """List how two sides differ."""
    differences = package_differences(first.identity.packages, second.identity.packages)
    declared = (
        *first.identity.declared_packages,
        *second.identity.declared_packages,
        *allowances.packages,
    )
    return Comparison(
        first=first.name,
        second=second.name,
        packages=differences,
        undeclared=undeclared(differences, declared),
        differing=tuple(_differing(first, second)),
    )


def _differing(first: PreparedSide, second: PreparedSide) -> Iterator[str]:
    one, other = first.identity, second.identity
    if _code_differs(one.code, other.code):
        yield "code"
    if (one.interpreter.version, one.interpreter.soabi) != (
        other.interpreter.version,
        other.interpreter.soabi,
    ):
        yield "interpreter"
    if one.packages.digest != other.packages.digest:
        yield "packages"
    if one.options != other.options:
        yield "options"
    if dict(one.environ) != dict(other.environ) or one.unset != other.unset:
        yield "environment variables"


def _code_differs(one: CodeIdentity | None, other: CodeIdentity | None) -> bool:
    """Whether the modules and data under test differ; commits that differ elsewhere only do not count."""
    if one is None or other is None:
        return one is not other
    same_state = (one.commit, one.diff_sha256, one.unpopulated) == (
        other.commit,
        other.diff_sha256,
        other.unpopulated,
    )
    if same_state and one.repository == other.repository:
        return False
    if one.parts and other.parts:
        return one.parts != other.parts or one.submodules != other.submodules
    return True


def _refuse_same(first: PreparedSide, second: PreparedSide, comparison: Comparison) -> None:
    if comparison.differing:
        return
    one, other = first.identity.code, second.identity.code
    if one is None or other is None or one.commit == other.commit:
        raise SideError(
            SideProblem.SAME_CODE,
            f"The sides {first.name} and {second.name} are the same: code, interpreter, packages, options "
            f"and variables are equal.{_what_they_are(one, other)} Choose another ref for one of them, or "
            "ask for an A/A with --aa.",
        )
    names = ", ".join(sorted(one.parts))
    raise SideError(
        SideProblem.SAME_CODE,
        f"The commits {one.label} and {other.label} differ, but not in what is under test ({names}). If the "
        "workload reads files elsewhere in the repository, name them in the sides' `data`; for an A/A, use "
        "--aa.",
    )


def _what_they_are(one: CodeIdentity | None, other: CodeIdentity | None) -> str:
    if one is None or other is None:
        return ""
    if CodeKind.WORKING_TREE in (one.kind, other.kind) and one.kind is not other.kind:
        return f" The working tree has no changes against {one.label}."
    return f" Both are {one.label}."


def _undeclared_text(comparison: Comparison) -> str:
    shown = [f"    {difference}" for difference in comparison.undeclared[:_SHOWN]]
    if len(comparison.undeclared) > _SHOWN:
        shown.append(f"    and {len(comparison.undeclared) - _SHOWN} more")
    count = len(comparison.undeclared)
    noun = counted(count, "package")
    lines = "\n".join(shown)
    return (
        f"The sides {comparison.first} and {comparison.second} differ in {noun} that nothing "
        f"declares:\n{lines}\nA difference that is not the one you ask about may be what you measure. Make "
        "them equal, name those that are meant in `packages`, or allow any with --allow-package-diff."
    )


def _check_dependencies(side: PreparedSide, allowances: Allowances) -> tuple[DependencyFault, ...]:
    identity = side.identity
    faults = dependency_faults(
        identity.packages, side.tree, identity.interpreter.version, identity.declared_packages
    )
    if faults.of_the_code and not allowances.dependency_faults:
        lines = "\n".join(f"    {fault}" for fault in faults.of_the_code[:_SHOWN])
        raise SideError(
            SideProblem.DEPENDENCY,
            f"The side {side.name} does not have what its own metadata asks for:\n{lines}\nIt may run "
            f"another path through the code. Install it for {side.python}, give the side `requirements`, or "
            "allow it with --allow-dependency-faults.",
        )
    return (*faults.of_the_code, *faults.of_others)


def _notices(side: PreparedSide, faults: tuple[DependencyFault, ...]) -> Iterator[SideNotice]:
    if faults:
        listed = "; ".join(str(fault) for fault in faults[:3])
        more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
        yield SideNotice(f"Side {side.name}: {listed}{more}.")
    doubled = side.identity.packages.doubled
    if doubled:
        yield SideNotice(
            f"Side {side.name}: the metadata of {', '.join(doubled)} is there twice with different "
            "versions, so which one is installed is not certain. Remove the older *.dist-info folder."
        )
    code = side.identity.code
    if code is not None and code.dirty and code.commit is not None:
        count = len(code.changed_files)
        yield SideNotice(
            f"Side {side.name}: the working tree differs from {code.commit[:8]} in {counted(count, 'file')}, "
            f"{code.changed_files[0]} among them. The record keeps a hash of the difference, not the "
            "difference."
        )
    if code is not None and code.unpopulated:
        yield SideNotice(f"Side {side.name}: left out on request: {', '.join(code.unpopulated[:5])}.")


def _cache_dirs(side: PreparedSide) -> tuple[CacheDir, ...]:
    return tuple(
        CacheDir(
            str(one["variable"]),
            side.cache_dirs[str(one["variable"])],
            Choice(one["choice"]),
            one["caller_value"],
        )
        for one in side.caches
    )
