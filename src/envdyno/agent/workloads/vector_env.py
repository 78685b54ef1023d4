"""Reading a specification off an object with Gymnasium's vector interface, without importing Gymnasium."""

from __future__ import annotations

import sys
from typing import Any

from envdyno.agent.workloads.contract import ArraySpec, Autoreset, WorkloadSpec
from envdyno.agent.workloads.registry import WorkloadError

_TAG = "autoreset_mode"
_TAGS = {"NextStep": Autoreset.NEXT_STEP, "SameStep": Autoreset.SAME_STEP, "Disabled": Autoreset.DISABLED}
"""Values of ``gymnasium.vector.AutoresetMode``."""


def looks_like_vector_env(built: Any) -> bool:
    """Return whether ``built`` has the attributes of ``gymnasium.vector.VectorEnv``."""
    return all(hasattr(built, name) for name in ("num_envs", "single_action_space", "step", "reset"))


def vector_env_spec(env: Any, num_envs: int) -> WorkloadSpec:
    """Return the specification that the spaces and the metadata of a vector environment tell.

    Raises:
        WorkloadError: its metadata name an autoreset mode that there is not.
    """
    return WorkloadSpec(
        num_envs=int(getattr(env, "num_envs", num_envs)),
        action=space_spec(env.single_action_space),
        observation=_observation_specs(getattr(env, "single_observation_space", None)),
        autoreset=told_autoreset(env),
    )


def told_autoreset(env: Any) -> Autoreset | None:
    """Return the autoreset mode that the metadata of a vector tell; ``None`` where they tell none.

    Understood are members of ``gymnasium.vector.AutoresetMode``, and their names and values as text.

    Raises:
        WorkloadError: it is something else.
    """
    tag = (getattr(env, "metadata", None) or {}).get(_TAG)
    if tag is None:
        return None
    known = {_letters(value): mode for value, mode in _TAGS.items()}
    mode = known.get(_letters(getattr(tag, "name", tag)))
    if mode is None:
        raise WorkloadError(
            f"The metadata of {type(env).__name__} say {_TAG}={tag!r}; it is a member of "
            f"gymnasium.vector.AutoresetMode, or its name: {', '.join(_TAGS)}."
        )
    return mode


def _letters(tag: Any) -> str:
    return str(tag).replace("_", "").lower()


def assumed_autoreset(env: Any) -> tuple[Autoreset, str]:
    """Return the mode that a vector which tells none is counted by, and the assumption as a sentence's part.

    Gymnasium itself takes a vector without the tag for next-step
    (``gymnasium.wrappers.vector.RecordEpisodeStatistics``); so are instances of its ``VectorEnv``.
    """
    gymnasium_vector = sys.modules.get("gymnasium.vector")
    if gymnasium_vector is not None and isinstance(env, gymnasium_vector.VectorEnv):
        return Autoreset.NEXT_STEP, (
            f"the metadata of {type(env).__name__} tell no {_TAG}; rows are taken to reset in the step after "
            f"the one that ends them, as Gymnasium does (set metadata[{_TAG!r}] to a member of "
            "gymnasium.vector.AutoresetMode)"
        )
    return Autoreset.SAME_STEP, (
        "the autoreset mode is not told; rows are taken to reset in the step that ends them"
    )


def processes_of(env: Any) -> int:
    """Return how many processes of their own a vector's environments are."""
    vector = getattr(env, "unwrapped", env)
    kinds = {kind.__name__ for kind in type(vector).__mro__}
    return int(vector.num_envs) if "AsyncVectorEnv" in kinds else 0


def space_spec(space: Any) -> ArraySpec | None:
    """Return a box or discrete space as an array specification; ``None`` for other spaces."""
    kinds = {kind.__name__ for kind in type(space).__mro__}
    if "Discrete" in kinds:
        start = int(getattr(space, "start", 0))
        return ArraySpec((), "int64", start, start + int(space.n) - 1)
    if "MultiDiscrete" in kinds:
        # Gymnasium gave it a start in version 1.0.
        first = getattr(space, "start", space.nvec * 0)
        return ArraySpec(
            tuple(space.shape), str(space.dtype), first.tolist(), (first + space.nvec - 1).tolist()
        )
    if "MultiBinary" in kinds:
        return ArraySpec(tuple(space.shape), str(space.dtype), 0, 1)
    if hasattr(space, "low") and hasattr(space, "high"):
        return ArraySpec(tuple(space.shape), str(space.dtype), _bound(space.low), _bound(space.high))
    return None


def _bound(values: Any) -> Any:
    """Return equal bounds as one number, and others as nested lists."""
    first = values.flat[0] if values.size else 0.0
    return float(first) if (values == first).all() else values.tolist()


def _observation_specs(space: Any) -> dict[str, ArraySpec]:
    if space is None:
        return {}
    inner = getattr(space, "spaces", None)
    if isinstance(inner, dict):
        return {str(key): spec for key, part in inner.items() if (spec := space_spec(part)) is not None}
    spec = space_spec(space)
    return {} if spec is None else {"obs": spec}
