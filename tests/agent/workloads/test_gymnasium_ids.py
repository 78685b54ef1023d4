"""Targets that name an id of Gymnasium's registry."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from envdyno.agent.workloads.gymnasium_ids import registered_id
from envdyno.agent.workloads.registry import WorkloadError

GYMNASIUM = SimpleNamespace(registry={"CartPole-v1": 1})


def test_an_id_is_returned_with_the_module_that_is_imported_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "registers_first.py").write_text("import os; os.environ['REGISTERED_FIRST'] = 'yes'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("REGISTERED_FIRST", "no")
    found = registered_id("torchrl", "registers_first:CartPole-v1", GYMNASIUM, lack="There is no")
    assert found == ("registers_first", "CartPole-v1")
    assert os.environ["REGISTERED_FIRST"] == "yes"
    assert registered_id("torchrl", "CartPole-v1", GYMNASIUM, lack="There is no") == (None, "CartPole-v1")


def test_an_unknown_id_is_refused_with_a_near_one_and_what_to_do() -> None:
    with pytest.raises(WorkloadError) as refused:
        registered_id("x", "CartPol-v1", GYMNASIUM, lack="X has no task", hint="Give x:MODULE:{name}.")
    assert str(refused.value).startswith("X has no task 'CartPol-v1'. Did you mean CartPole-v1?")
    assert str(refused.value).endswith(" Give x:MODULE:CartPol-v1.")
