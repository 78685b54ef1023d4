"""Preparing sides: from what a plan asks for to what a launcher starts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from packaging.utils import canonicalize_name

from envdyno.sides.cache_home import CacheHome, cache_home
from envdyno.sides.caches import CacheDir, CompiledRecipe, OwnFolder, Scope, cache_dirs
from envdyno.sides.checkout import NO_SETUP, Setup
from envdyno.sides.code import ResolvedCode, SideCode, check_out, look_at_working_tree, resolve_ref
from envdyno.sides.environment import EnvironmentRecipe, Sharing
from envdyno.sides.interpreter import Descriptions, Interpreter, find_interpreter
from envdyno.sides.prepared import PreparedSide, SideIdentity, child_environ, inherited_and_dropped
from envdyno.sides.problems import SideError, SideNotice, SideProblem
from envdyno.sides.project import read_project
from envdyno.sides.request import GitRef, OptionValue, SideRequest, WorkingTree
from envdyno.sides.requirement_text import RequirementText, read_requirements
from envdyno.sides.store import Kind, Notify, Store

_OWN_WAY = {"PYTHONPATH": "`pythonpath`", "PYTHONHOME": "`python`"}


@contextmanager
def prepared_sides(
    requests: Sequence[SideRequest],
    *,
    home: CacheHome | None = None,
    caller: Mapping[str, str] | None = None,
    notify: Notify = lambda _: None,
) -> Iterator[tuple[PreparedSide, ...]]:
    """Prepare sides, and keep their checkouts and environments from being removed until the end of the block.

    Refs are resolved here, once. Nothing in the user's checkouts is written.

    Args:
        requests: the sides, in the order of the plan.
        home: the cache folder; found if not given.
        caller: the environment that runs inherit from; this process's own if not given.
        notify: called with each sentence that the user should read.

    Raises:
        SideError: a side cannot be prepared; the message says what to do.
    """
    found = home or cache_home()
    if found.notice is not None:
        notify(found.notice)
    inherited = dict(os.environ if caller is None else caller)
    with ExitStack() as leases:
        store = Store(found.path, notify)
        descriptions = Descriptions()
        resolved = [resolve_ref(one.code) if isinstance(one.code, GitRef) else None for one in requests]
        yield tuple(
            _Preparation(one, code, store, inherited, leases, descriptions).prepare()
            for one, code in zip(requests, resolved, strict=True)
        )


class _Preparation:
    """One side on its way from request to prepared."""

    def __init__(
        self,
        request: SideRequest,
        resolved: ResolvedCode | None,
        store: Store,
        caller: Mapping[str, str],
        leases: ExitStack,
        descriptions: Descriptions,
    ) -> None:
        self._request = request
        self._resolved = resolved
        self._store = store
        self._caller = caller
        self._leases = leases
        self._descriptions = descriptions
        self._generation = ""

    def prepare(self) -> PreparedSide:
        """Run all steps."""
        request = self._request
        _refuse_variables(request)
        base = self._descriptions.of(find_interpreter(request.python, request.directory), self._environ({}))
        text, python = self._environment(base.interpreter)
        code = self._code(text, python)
        environ, options = _filled(request, code)
        sys_path = code.sys_path if code else self._plain_sys_path()
        described = self._descriptions.of(python, self._environ(environ), sys_path)
        identity = SideIdentity(
            code=code.identity if code else None,
            interpreter=described.interpreter,
            packages=described.packages,
            requirements=text.text if text else None,
            declared_packages=self._declared(text, code),
            pythonpath=_shown(sys_path, code),
            setup=request.setup,
            environ=dict(environ),
            unset=request.unset,
            options=options,
        )
        caches = self._caches(identity, environ)
        return PreparedSide(
            name=request.name,
            python=python,
            sys_path=sys_path,
            environ={**{cache.variable: str(cache.path) for cache in caches}, **environ},
            cwd=self._cwd(code),
            options=options,
            cache_dirs={cache.variable: cache.path for cache in caches},
            identity=identity,
            tree=code.tree if code else None,
            tree_guard=code.guard if code else None,
            modules=code.modules if code else {},
            named_modules=request.modules,
            origins=self._origins(described.interpreter, described.user_site, sys_path),
            caches=tuple(cache.to_json() for cache in caches),
        )

    @property
    def _isolated(self) -> bool:
        request = self._request
        return request.code is not None or request.installs or request.python is not None

    def _environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return child_environ(
            self._caller, isolated=self._isolated, unset=self._request.unset, environ=environ
        )

    def _environment(self, base: Interpreter) -> tuple[RequirementText | None, Path]:
        """Return the requirement text and the interpreter of the environment built from it, if asked for."""
        request = self._request
        if request.requirements is None:
            return None, base.path
        text = read_requirements(request.requirements, request.directory)
        recipe = EnvironmentRecipe(text, request.requirements.dependencies, base, Path())
        if request.setup and self._resolved is not None:
            owner = "\n".join([self._resolved.repository.key, self._resolved.commit.sha, *request.setup])
            recipe = replace(recipe, sharing=Sharing.PRIVATE, owner=owner)
        recipe = replace(recipe, log=self._store.log_path(Kind.ENVIRONMENTS, recipe.key))
        entry = self._store.lease(recipe, self._leases)
        self._generation = entry.generation
        return text, recipe.python(entry.path)

    def _code(self, text: RequirementText | None, python: Path) -> SideCode | None:
        request = self._request
        if isinstance(request.code, WorkingTree):
            code, notices = look_at_working_tree(request.code, request)
            self._tell(notices)
            return code
        if self._resolved is None:
            if request.setup:
                raise SideError(
                    SideProblem.SETUP,
                    f"The side {request.name} has setup commands, but no code to run them in. Give it a "
                    "`ref`.",
                )
            return None
        self._tell(self._resolved.commit.notices)
        dropped = inherited_and_dropped(self._caller)
        if dropped:
            remedy = "name the folders in the side's `pythonpath`"
            self._tell(
                [SideNotice(f"{' and '.join(dropped)} is not passed to the side {request.name}; {remedy}.")]
            )
        setup = self._setup(self._resolved, text, python) if request.setup else NO_SETUP
        return check_out(self._resolved, setup, request, self._store, self._leases)

    def _setup(self, code: ResolvedCode, text: RequirementText | None, python: Path) -> Setup:
        """Return the setup commands, to be run with the side's own interpreter first on the PATH."""
        request = self._request
        environ = self._environ(request.environ)
        environ["PATH"] = f"{python.parent}{os.pathsep}{environ.get('PATH', os.defpath)}"
        identity = str(python)
        if text is not None:
            environ["VIRTUAL_ENV"] = str(python.parent.parent)
            identity += f" {self._generation}"
        return Setup(
            commands=request.setup,
            environ=environ,
            deadline_s=request.setup_deadline_s,
            identity=identity,
            log=self._store.log_path(Kind.TREES, f"{code.commit.sha[:16]}-setup-{request.name}"),
        )

    def _plain_sys_path(self) -> tuple[Path, ...]:
        """Return the import folders of a side without code: those asked for, from the plan's folder."""
        request = self._request
        folders = tuple((request.directory / entry).resolve() for entry in request.pythonpath or ())
        for folder in folders:
            if not folder.is_dir():
                raise SideError(
                    SideProblem.PATH,
                    f"`pythonpath` of the side {request.name} names {folder}, which is no folder.",
                )
        return folders

    def _cwd(self, code: SideCode | None) -> Path | None:
        request = self._request
        start = code.tree if code else request.directory
        if request.cwd is None:
            return code.tree if code else None
        folder = (start / request.cwd).resolve()
        if not folder.is_dir():
            raise SideError(
                SideProblem.PATH, f"`cwd` of the side {request.name} names {folder}, which is no folder."
            )
        return folder

    def _declared(self, text: RequirementText | None, code: SideCode | None) -> tuple[str, ...]:
        names = set(text.names) if text else set()
        project = read_project(code.tree) if code else None
        if project is not None and project.name:
            names.add(canonicalize_name(project.name))
        return tuple(sorted(names))

    def _origins(
        self, interpreter: Interpreter, user_site: str | None, sys_path: tuple[Path, ...]
    ) -> tuple[Path, ...]:
        """Return where modules outside the side's code may come from; empty for a side of mere options."""
        if not self._isolated:
            return ()
        folders = [Path(interpreter.prefix), Path(interpreter.base_prefix)]
        folders += [Path(user_site)] if user_site else []
        return tuple(dict.fromkeys(one.resolve() for one in (*folders, *sys_path, *self._request.origins)))

    def _caches(self, identity: SideIdentity, environ: Mapping[str, str]) -> tuple[CacheDir, ...]:
        # A checkout has a path of its own; a working tree has one path for all that is ever in it.
        path_tells = not isinstance(self._request.code, WorkingTree)
        keyed_by = {
            Scope.CONTENT: identity.digest,
            Scope.ENVIRONMENT: identity.environment_digest if path_tells else identity.digest,
        }
        own = {scope: self._own_folder(scope, digest) for scope, digest in keyed_by.items()}
        return cache_dirs(own, self._caller, environ)

    def _own_folder(self, scope: Scope, digest: str) -> OwnFolder:
        # The name keeps two equal sides of an A/A apart.
        text = "\n".join([self._request.name, scope.value, digest])
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        recipe = CompiledRecipe(key, f"the compiled code of {self._request.name}")
        return OwnFolder(self._store.lease(recipe, self._leases).path, key)

    def _tell(self, notices: Sequence[SideNotice]) -> None:
        for notice in notices:
            self._store.notify(notice)


def _refuse_variables(request: SideRequest) -> None:
    for variable, way in _OWN_WAY.items():
        if variable in request.environ:
            raise SideError(
                SideProblem.PATH,
                f"The side {request.name} sets {variable}, which would hide what it imports. Use {way} "
                "instead.",
            )


def _filled(request: SideRequest, code: SideCode | None) -> tuple[dict[str, str], dict[str, OptionValue]]:
    """Put the folder of the side's code in the place of ``{tree}``."""
    values = [*request.environ.values(), *map(str, request.options.values())]
    if code is None and any("{tree}" in value for value in values):
        raise SideError(
            SideProblem.PATH,
            f"The side {request.name} uses {{tree}}, the folder of its code, but has no code. Give it a "
            "`ref` or `working_tree = true`.",
        )
    tree = str(code.tree) if code else ""
    environ = {name: value.replace("{tree}", tree) for name, value in request.environ.items()}
    options = {
        name: value.replace("{tree}", tree) if isinstance(value, str) else value
        for name, value in request.options.items()
    }
    return environ, options


def _shown(sys_path: tuple[Path, ...], code: SideCode | None) -> tuple[str, ...]:
    if code is None:
        return tuple(map(str, sys_path))
    return tuple(os.path.relpath(folder, code.tree) for folder in sys_path)
