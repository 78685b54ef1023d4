"""Contacts in states of a MuJoCo model, for batch steppers that do not hand out their ``MjData``."""

from __future__ import annotations

from typing import Any

from envdyno.agent.workloads.contract import ContactSample

LOOKED_AT = 1024
"""Rows of a batch that are looked at, some ten to fifty microseconds each."""


def mujoco_contacts(mujoco: Any, model: Any, positions: Any) -> ContactSample:
    """Count the contacts that MuJoCo detects in rows of a batch, by a position pass (``mj_fwdPosition``).

    Those are the contacts (``ncon``) that the next step of a row begins with.

    Args:
        mujoco: the package.
        model: the compiled model.
        positions: (rows, nq); of more than :data:`LOOKED_AT` rows that many are looked at, evenly spread.
    """
    rows = len(positions)
    looked_at = [index * rows // LOOKED_AT for index in range(LOOKED_AT)] if rows > LOOKED_AT else range(rows)
    data = mujoco.MjData(model)
    contacts = 0
    for row in looked_at:
        data.qpos[:] = positions[row]
        mujoco.mj_fwdPosition(model, data)
        contacts += int(data.ncon)
    return ContactSample(contacts, len(looked_at))
