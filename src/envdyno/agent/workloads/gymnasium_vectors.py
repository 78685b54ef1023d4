"""Making Gymnasium vectors: by id, or by a factory of the user's; and what a vector tells of itself."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any

from envdyno.agent.workloads.contract import BuildContext
from envdyno.agent.workloads.framework import import_user_module, split_target
from envdyno.agent.workloads.gymnasium_count import counting_wrapper
from envdyno.agent.workloads.options import choice, refusing_values, truth, whole
from envdyno.agent.workloads.registry import Resolved, WorkloadError, call_factory
from envdyno.agent.workloads.vector_env import looks_like_vector_env, processes_of


class Resets(str, Enum):
    """Autoreset modes, by the names of ``gymnasium.vector.AutoresetMode`` in lower case."""

    NEXT_STEP = "next_step"
    SAME_STEP = "same_step"
    DISABLED = "disabled"


class Vectorization(str, Enum):
    """How separate environments become a vector, by Gymnasium's own names."""

    SYNC = "sync"
    ASYNC = "async"
    """A process for each environment."""
    VECTOR_ENTRY_POINT = "vector_entry_point"
    """The environment brings a vectorised implementation."""


class StartMethod(str, Enum):
    """How the processes of an asynchronous vector are started (``multiprocessing``)."""

    FORK = "fork"
    SPAWN = "spawn"
    FORKSERVER = "forkserver"


def _vectorization(name: str | None) -> Vectorization | None:
    return None if name is None else choice("gymnasium", "vectorization_mode", name, Vectorization)


def vector_options(
    gymnasium: Any,
    *,
    autoreset_mode: str | None,
    shared_memory: bool | None,
    start_method: str | None,
    max_concurrency: int | None,
) -> dict[str, Any]:
    """Return the options that were given, as the vector's constructor takes them."""
    vector: dict[str, Any] = {}
    if autoreset_mode is not None:
        mode = choice("gymnasium", "autoreset_mode", autoreset_mode, Resets)
        vector["autoreset_mode"] = gymnasium.vector.AutoresetMode[mode.name]
    if shared_memory is not None:
        vector["shared_memory"] = truth("gymnasium", "shared_memory", shared_memory)
    if start_method is not None:
        vector["context"] = choice("gymnasium", "start_method", start_method, StartMethod).value
    if max_concurrency is not None:
        vector["max_concurrency"] = whole("gymnasium", "max_concurrency", max_concurrency)
    return vector


def factory_of(gymnasium: Any, target: str) -> Any:
    """Return the factory, or the vector, that ``module:name`` names; ``None`` where it names an id."""
    module_name, name = split_target(target)
    if module_name is None:
        return None
    module = import_user_module("gymnasium", module_name)
    return None if name in gymnasium.registry else _attribute(module, name)


def _attribute(module: Any, name: str) -> Any:
    """Return what a dotted name means in a module, or ``None``."""
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def own_part(env: Any, name: str) -> Any:
    """Return an optional part of the contract that a vector of the user's has, or ``None``."""
    for holder in (env, env.unwrapped):
        part = getattr(holder, name, None)
        if callable(part):
            return part
    return None


def call_factory_of(
    made_by: Any, target: str, num_envs: int, seed: int, options: Mapping[str, Any], context: BuildContext
) -> Any:
    """Return the vector that a factory of the user's makes, or that the user made.

    Raises:
        WorkloadError: it is no vector.
    """
    if looks_like_vector_env(made_by):
        return made_by
    if not callable(made_by):
        raise WorkloadError(f"{target} is a {type(made_by).__name__}, and neither a VectorEnv nor a factory.")
    resolved = Resolved(target, target)
    env = call_factory(resolved, made_by, num_envs=num_envs, seed=seed, options=options, context=context)
    if not looks_like_vector_env(env):
        raise WorkloadError(f"{target} returned a {type(env).__name__}; a VectorEnv of num_envs is needed.")
    return env


def make_vec(
    gymnasium: Any,
    target: str,
    num_envs: int,
    vectorization_mode: str | None,
    vector: dict[str, Any],
    environment: dict[str, Any],
    *,
    check: bool,
) -> Any:
    """Return what ``gymnasium.make_vec`` makes.

    Raises:
        WorkloadError: there is no such environment, or it does not take what was given.
    """
    how = _vectorization(vectorization_mode)
    given = {**{key: getattr(value, "value", value) for key, value in vector.items()}, **environment}
    try:
        separate = how is not Vectorization.VECTOR_ENTRY_POINT
        if check and separate and (how or gymnasium.spec(split_target(target)[1]).vector_entry_point is None):
            wrappers = [counting_wrapper(gymnasium)]
        else:
            wrappers = None
        with refusing_values(f"gymnasium:{target}", given):
            env = gymnasium.make_vec(
                target,
                num_envs=num_envs,
                vectorization_mode=how and how.value,
                vector_kwargs=vector,
                wrappers=wrappers,
                **environment,
            )
    except (gymnasium.error.Error, ImportError) as error:
        hint = " Give -o vectorization_mode=sync or async." if vector and how is None else ""
        raise WorkloadError(
            f"Gymnasium {gymnasium.__version__} cannot make {target!r}: "
            f"{_reason(gymnasium, target, error)}{hint}"
        ) from error
    _check_render_mode(env, target, environment.get("render_mode"))
    return env


def _reason(gymnasium: Any, target: str, error: Exception) -> str:
    """Return why an id cannot be made; for ``module:name``, also that the module has no such attribute."""
    module, name = split_target(target)
    if module is None or not isinstance(error, gymnasium.error.UnregisteredEnv):
        return str(error)
    return f"the module {module!r} has no attribute {name!r}, and Gymnasium has no such id either. {error}"


def _check_render_mode(env: Any, target: str, asked: Any) -> None:
    """Refuse a mode that the environment does not have: Gymnasium itself only warns, or is silent.

    Raises:
        WorkloadError: it is not among the ``render_modes`` of its metadata, nor made of them by Gymnasium's
            wrappers ``RenderCollection`` (``_list``) and ``HumanRendering``.
    """
    modes = (getattr(env, "metadata", None) or {}).get("render_modes")
    if asked is None or modes is None:
        return
    offered = [*modes, *(f"{mode}_list" for mode in modes if not mode.endswith("_list") and mode != "human")]
    if {"rgb_array", "rgb_array_list"} & set(modes):
        offered.append("human")
    if asked in offered:
        return
    env.close()
    has = f"it has: {', '.join(dict.fromkeys(offered))}" if offered else "it has none"
    raise WorkloadError(f"gymnasium:{target} has no render_mode={asked!r}; {has}.")


def told_by(env: Any, target: str) -> dict[str, Any]:
    """Return what a vector tells beside its spaces and its mode."""
    kind = type(env.unwrapped).__name__
    substeps, step_dt_s = (_common(env, name) for name in ("frame_skip", "dt"))
    made = getattr(env.unwrapped, "spec", None)
    limit = None if made is None else made.kwargs.get("max_episode_steps", made.max_episode_steps)
    return {
        "substeps": substeps,
        "step_dt_s": step_dt_s,
        "episode_limit_steps": limit,
        "threads": 1 if kind == "SyncVectorEnv" else None,
        "details": {
            "id": target,
            "vector": kind,
            "processes": processes_of(env),
            "render_mode": getattr(env, "render_mode", None),
        },
        "modules_under_test": _modules(env),
    }


def _common(env: Any, name: str) -> Any:
    """Return an attribute that all environments of a vector have alike, or ``None``."""
    if not every_one_has(env, name):
        return None
    first, *others = env.get_attr(name)
    alike = isinstance(first, (int, float)) and all(value == first for value in others)
    return first if alike else None


def every_one_has(env: Any, name: str) -> bool:
    """Return whether the vector has separate environments, and each of them has an attribute."""
    # Asking a process for an attribute that it has not ends the process, so it is asked whether it has.
    return hasattr(env, "call") and all(env.call("has_wrapper_attr", name))


def _modules(env: Any) -> tuple[str, ...]:
    made = getattr(env.unwrapped, "spec", None)
    entry = getattr(made, "entry_point", None)
    own = entry.partition(":")[0] if isinstance(entry, str) else type(env.unwrapped).__module__
    names = ["gymnasium", own.partition(".")[0], *(["mujoco"] if "mujoco" in sys.modules else [])]
    return tuple(dict.fromkeys(names))
