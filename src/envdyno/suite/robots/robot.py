"""What a task knows of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Robot:
    """A floating-base robot whose every joint has one position actuator, in joint order."""

    name: str
    mjcf: str
    """File beside this module; a complete scene with floor and without meshes."""
    base: str
    """Name of the floating body."""
    joints: tuple[str, ...]
    """Hinges in the order of the MJCF, which is that of ``qpos[7:]``, ``qvel[6:]`` and the actuators."""
    default_pose: tuple[float, ...]
    """Joint angles (rad) that a zero action holds."""
    stand_height: float
    """Height of the base (m) over flat ground in the default pose, with a hair of air under the feet."""
    action_scale: tuple[float, ...]
    """Radians for an action of 1, joint by joint."""
    feet: tuple[str, ...]
    """Sites in the soles."""

    @property
    def num_joints(self) -> int:
        """Number of actuated hinges."""
        return len(self.joints)

    def xml(self) -> str:
        """Return the text of the MJCF."""
        return resources.files(__package__).joinpath(self.mjcf).read_text(encoding="utf-8")
