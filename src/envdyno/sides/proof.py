"""Proof of what a side ran: what its processes report, held against what the side is.

A process reports for every module under test which file it came from and a hash of the code
(:mod:`envdyno.agent.measure.origin`). Editable installs, ``.pth`` files, a module in the working
directory or an empty folder can each bring in other code than the side's; all of them show here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from envdyno.agent.measure.origin import Origin, code_hash
from envdyno.sides.checkout import checkout_changes
from envdyno.sides.git import ask_git
from envdyno.sides.prepared import CodeKind, PreparedSide
from envdyno.sides.problems import SideError, SideProblem
from envdyno.sides.tree_changes import Untracked, tree_changes


class OriginFaultKind(str, Enum):
    """How what ran differs from the side."""

    NOT_LOADED = "not_loaded"
    NOTHING_LOADED = "nothing_loaded"
    """The side has code, and none of it was imported."""
    ELSEWHERE = "elsewhere"
    NAMESPACE = "namespace"
    """A folder without code took the place of a package."""
    STRAY = "stray"
    """A part of a package came from another place than the package."""
    STALE = "stale"
    """Bytecode stood in for a source file with other content."""
    CHANGED = "changed"
    """The files are not what the process loaded any more."""


class OriginFault(NamedTuple):
    """One module that is not what the side says."""

    kind: OriginFaultKind
    module: str
    sentence: str


def require_proof(side: PreparedSide, origins: Sequence[Origin], named: Collection[str] = ()) -> None:
    """Raise unless every module under test was the side's own.

    Args:
        side: the side that the process belonged to.
        origins: what the process reported; ask it for ``side.modules`` and the modules under test.
        named: modules that the workload names as under test, which therefore must have been loaded.

    Raises:
        SideError: at least one was not; all of them are named, with both paths.
    """
    faults = origin_faults(side, origins, named)
    if faults:
        lines = "\n".join(f"    {fault.sentence}" for fault in faults)
        raise SideError(SideProblem.ORIGIN, f"The side {side.name} did not run its own code:\n{lines}")


def require_distinct(
    first: PreparedSide,
    first_origins: Sequence[Origin],
    second: PreparedSide,
    second_origins: Sequence[Origin],
) -> None:
    """Raise if two sides of different commits loaded equal code, and nothing else differs between them.

    Raises:
        SideError: the modules that both loaded have equal hashes.
    """
    one, other = first.identity, second.identity
    if one.code is None or other.code is None or _differ_otherwise(first, second):
        return
    hashes = {origin.module: origin.sha256 for origin in first_origins if origin.loaded}
    common = [origin for origin in second_origins if origin.loaded and origin.module in hashes]
    own = [origin for origin in common if origin.module in first.modules or origin.module in second.modules]
    if not own or any(origin.sha256 != hashes[origin.module] for origin in own):
        return
    names = ", ".join(origin.module for origin in own)
    raise SideError(
        SideProblem.SAME_CODE,
        f"The sides {first.name} ({one.code.label}) and {second.name} ({other.code.label}) loaded the same "
        f"code: {names} is equal, file by file. If data files make the difference, name them in the sides' "
        "`data`; for an A/A, use --aa.",
    )


def require_unchanged(side: PreparedSide) -> None:
    """Raise if the code of a side has changed since it was prepared. Files that a run leaves do not count.

    Raises:
        SideError: the commit or a file that could be imported is another one.
    """
    code = side.identity.code
    if side.tree is None or code is None or code.commit is None:
        return
    head = ask_git(side.tree, "rev-parse", "--verify", "HEAD")
    if head.code or head.line != code.commit:
        stands = head.line[:12] if head.code == 0 else "no commit that can be read"
        raise SideError(
            SideProblem.CHANGED,
            f"The tree of the side {side.name}, {side.tree}, stood at {code.commit[:12]} when the "
            f"experiment began and stands at {stands} now. Runs before and after cannot be compared; start "
            "again.",
        )
    own = code.kind is CodeKind.GIT_REF
    changes = checkout_changes(side.tree) if own else tree_changes(side.tree, Untracked.SOURCE)
    if changes.sha256 != side.tree_guard:
        named = f" ({', '.join(changes.files[:3])})" if changes.files else ""
        raise SideError(
            SideProblem.CHANGED,
            f"Files of the side {side.name} in {side.tree} were changed since the experiment began{named}. "
            "Runs before and after cannot be compared; start again.",
        )


def origin_faults(
    side: PreparedSide, origins: Sequence[Origin], named: Collection[str] = ()
) -> tuple[OriginFault, ...]:
    """Return how the reported origins differ from the side; empty when all is well."""
    must = {*named, *side.named_modules}
    faults: list[OriginFault] = []
    for origin in origins:
        faults += _faults_of(side, origin, must)
    loaded = {origin.module for origin in origins if origin.loaded}
    if side.tree is not None and not faults and not loaded & set(side.modules):
        offered = ", ".join(sorted(side.modules)[:8]) or "nothing"
        faults.append(
            OriginFault(
                OriginFaultKind.NOTHING_LOADED,
                "",
                f"No module of {side.tree} was imported. It offers {offered}; set `pythonpath` so that the "
                "workload finds its code there.",
            )
        )
    return tuple(faults)


def _faults_of(side: PreparedSide, origin: Origin, must: Collection[str]) -> Iterator[OriginFault]:
    name = origin.module
    if not origin.loaded:
        if name in must:
            sentence = f"{name} is named as under test, but was never imported."
            yield OriginFault(OriginFaultKind.NOT_LOADED, name, sentence)
        return
    expected = side.modules.get(name)
    place = origin.file or ", ".join(origin.folders) or "the interpreter itself"
    regular = expected is not None and expected.is_file()
    if origin.namespace and (regular or (expected is None and not _holds_code(origin))):
        yield OriginFault(OriginFaultKind.NAMESPACE, name, _namespace_text(name, place, expected))
        return
    if expected is not None:
        if not _is_expected(origin, expected):
            sentence = f"{name} should come from {expected}, but came from {place}.{_why(side, name, place)}"
            yield OriginFault(OriginFaultKind.ELSEWHERE, name, sentence)
            return
    elif side.origins and not _within(origin, side.origins):
        allowed = " or ".join(str(folder) for folder in side.origins[:3])
        sentence = f"{name} should come from {allowed}, but came from {place}.{_why(side, name, place)}"
        yield OriginFault(OriginFaultKind.ELSEWHERE, name, sentence)
        return
    yield from _inner_faults(side, origin)


def _inner_faults(side: PreparedSide, origin: Origin) -> Iterator[OriginFault]:
    name = origin.module
    for module, file in origin.strays.items():
        if side.origins and not _inside(file, side.origins):
            sentence = (
                f"{module} came from {file}, while {name} came from {origin.file or origin.folders[0]}."
            )
            yield OriginFault(OriginFaultKind.STRAY, module, sentence)
    for module, reason in origin.stale.items():
        sentence = f"{module} may not have run what {origin.file or origin.folders[0]} holds: {reason}."
        yield OriginFault(OriginFaultKind.STALE, module, sentence)
    paths = list(origin.folders) or ([origin.file] if origin.file else [])
    if paths and origin.sha256 is not None and code_hash(paths) != origin.sha256:
        sentence = (
            f"The files of {name} in {paths[0]} are not the ones that were loaded: they changed meanwhile."
        )
        yield OriginFault(OriginFaultKind.CHANGED, name, sentence)


def _is_expected(origin: Origin, expected: Path) -> bool:
    if expected.is_dir():
        return str(expected.resolve()) in origin.folders
    return origin.file is not None and Path(origin.file) == expected.resolve()


def _within(origin: Origin, roots: Sequence[Path]) -> bool:
    places = [origin.file] if origin.file else list(origin.folders)
    return all(_inside(place, roots) for place in places)


def _inside(place: str, roots: Sequence[Path]) -> bool:
    path = Path(place)
    return any(path.is_relative_to(root) for root in roots)


def _holds_code(origin: Origin) -> bool:
    return origin.sha256 is not None and origin.sha256 != code_hash([])


def _namespace_text(name: str, place: str, expected: Path | None) -> str:
    wanted = f" instead of {expected}" if expected is not None else ""
    return (
        f"{name} is only the folder {place}{wanted}: it has no __init__.py, so Python takes it for a "
        "namespace package. It may be left from another commit or a removed package; delete it."
    )


def _why(side: PreparedSide, name: str, place: str) -> str:
    """Name the usual cause of a module from elsewhere, where it can be seen."""
    for distribution in side.identity.packages.distributions.values():
        source = (distribution.source or "").removeprefix("file://").removesuffix(" (editable)")
        if distribution.editable and source and place.startswith(source):
            return (
                f" {distribution.name} is installed there as editable in {side.python}. Uninstall it there, "
                "or give the side an environment of its own with `requirements`."
            )
    cwd = side.cwd or Path.cwd()
    if Path(place).is_relative_to(cwd) and cwd != side.tree:
        return f" That is below the working directory {cwd}. Run from elsewhere, or set `cwd`."
    return (
        f" If that is meant, name the folder in the side's `origins`; a .pth file may lead there for {name}."
    )


def _differ_otherwise(first: PreparedSide, second: PreparedSide) -> bool:
    one, other = first.identity, second.identity
    data = [
        {name: value for name, value in code.parts.items() if name.startswith("data:")}
        for code in (one.code, other.code)
        if code is not None
    ]
    return (
        one.packages.digest != other.packages.digest
        or one.options != other.options
        or dict(one.environ) != dict(other.environ)
        or one.unset != other.unset
        or one.interpreter.version != other.interpreter.version
        or data[0] != data[-1]
    )
