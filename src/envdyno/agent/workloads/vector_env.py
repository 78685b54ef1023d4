"""Reading a specification off an object with Gymnasium's vector interface, without importing Gymnasium."""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import ArraySpec, Autoreset, WorkloadSpec


def looks_like_vector_env(built: Any) -> bool:
    """Return whether ``built`` has the attributes of ``gymnasium.vector.VectorEnv``."""
    return all(hasattr(built, name) for name in ("num_envs", "single_action_space", "step", "reset"))


def vector_env_spec(env: Any, num_envs: int) -> WorkloadSpec:
    """Return the specification that the spaces and the metadata of a vector environment tell."""
    mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode")
    known = {member.name: member for member in Autoreset}
    return WorkloadSpec(
        num_envs=int(getattr(env, "num_envs", num_envs)),
        action=space_spec(env.single_action_space),
        observation=_observation_specs(getattr(env, "single_observation_space", None)),
        autoreset=known.get(getattr(mode, "name", "")),
    )


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
