from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envdyno.agent.measure.contact_look import look_at_contacts
from envdyno.agent.protocol import FromWorker, encode, finite
from envdyno.agent.workloads.contract import ContactSample


def test_contacts_of_an_engines_own_number_types_can_be_sent() -> None:
    seen = look_at_contacts(lambda: ContactSample(np.uint32(7), np.int64(4)))
    assert seen == {"contacts": 7, "rows": 4}
    assert b'"contacts":7' in encode(FromWorker.READY, finite(seen))


@pytest.mark.parametrize("contacts_now", [None, lambda: None])
def test_a_workload_that_does_not_tell_was_not_looked_at(contacts_now: Any) -> None:
    assert look_at_contacts(contacts_now) is None


@pytest.mark.parametrize("found", [(-1, 4), (3, 0)])
def test_what_cannot_be_is_refused(found: Any) -> None:
    with pytest.raises(ValueError, match=rf"found {found[0]} contacts in {found[1]} rows"):
        look_at_contacts(lambda: found)
