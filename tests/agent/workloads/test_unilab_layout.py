"""Every generation of UniLab is told by what is there, and one that is laid out otherwise is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab_layout import installed_layout

CONFIG = "def create_env(): ...\nclass {adapter}: ...\n"
BASE = {"unilab.base.registry": "def ensure_registries(): ...\n"}
MASKING = "def timeout_bootstrap_mask(terminated, truncated):\n    return truncated & ~terminated\n"


def runtime(package: str, worker: str = "") -> dict[str, str]:
    """The modules of an off-policy runtime, by name."""
    return {
        f"{package}.offpolicy.worker": worker,
        f"{package}.offpolicy.thread_budget": "",
        f"{package}.ipc.replay_buffer": "class ReplayBuffer: ...\n",
    }


OLD = {**BASE, "unilab.base.config_adapter": CONFIG.format(adapter="BackendAdapter")}
NEW = {**BASE, "unilab.base.config_adapter": CONFIG.format(adapter="EnvConfigAdapter")}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


def install(site: Path, version: str, modules: dict[str, str]) -> None:
    """Install a UniLab that has these modules."""
    info = site / f"unilab-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: unilab\nVersion: {version}\n")
    for name, source in {"unilab.version": "", **modules}.items():
        *packages, module = name.split(".")
        for depth in range(1, len(packages) + 1):
            folder = site.joinpath(*packages[:depth])
            folder.mkdir(exist_ok=True)
            (folder / "__init__.py").touch()
        site.joinpath(*packages, f"{module}.py").write_text(source)


@pytest.mark.parametrize(
    ("version", "modules", "adapter", "replay"),
    [
        ("1.0.0", OLD | runtime("uni_rl"), "BackendAdapter", "uni_rl.ipc.replay_buffer"),
        ("1.3.5", OLD | runtime("uni_rl"), "BackendAdapter", "uni_rl.ipc.replay_buffer"),
        (
            "1.5.2",
            NEW | runtime("unilab.rl.runtime", MASKING),
            "EnvConfigAdapter",
            "unilab.rl.runtime.ipc.replay_buffer",
        ),
        (
            "1.6.0",
            NEW | runtime("unilab.rl.runtime", MASKING) | runtime("uni_rl"),
            "EnvConfigAdapter",
            "unilab.rl.runtime.ipc.replay_buffer",
        ),
    ],
)
def test_a_generation_is_told_by_what_is_there(
    version: str, modules: dict[str, str], adapter: str, replay: str, site: Path
) -> None:
    install(site, version, modules)
    layout = installed_layout()
    assert layout.config_adapter.__name__ == adapter
    assert layout.replay_buffer.__module__ == replay


@pytest.mark.parametrize(
    ("package", "worker", "stored"), [("uni_rl", "", 0b0110), ("unilab.rl.runtime", MASKING, 0b0100)]
)
def test_time_limits_are_stored_as_the_generations_own_collector_does(
    package: str, worker: str, stored: int, site: Path
) -> None:
    install(site, "1.5.2", NEW | runtime(package, worker))
    assert installed_layout().timeouts(0b0010, 0b0110) == stored


@pytest.mark.parametrize(
    ("modules", "lacks"),
    [
        ({}, "no module unilab.base.config_adapter"),
        ({"unilab.base.config_adapter": ""}, "neither EnvConfigAdapter nor BackendAdapter"),
        (NEW, "no off-policy runtime"),
        (
            NEW | runtime("unilab.rl.runtime") | {"unilab.rl.runtime.ipc.replay_buffer": ""},
            "no ReplayBuffer in unilab.rl.runtime.ipc.replay_buffer",
        ),
        (
            {**NEW, "unilab.base.registry": ""} | runtime("unilab.rl.runtime"),
            "no ensure_registries in unilab.base.registry",
        ),
    ],
)
def test_a_version_that_is_laid_out_otherwise_is_refused_with_the_versions_that_are_known(
    modules: dict[str, str], lacks: str, site: Path
) -> None:
    install(site, "2.0.0", modules)
    with pytest.raises(
        WorkloadError, match=rf"UniLab 2\.0\.0 .* has {lacks}.*knows the layouts of 1\.0 to 1\.5"
    ):
        installed_layout()


def test_a_version_before_the_known_ones_is_refused(site: Path) -> None:
    install(site, "0.1.0", OLD | runtime("uni_rl"))
    with pytest.raises(WorkloadError, match=r"needs unilab 1\.0 or newer, and 0\.1\.0 is installed"):
        installed_layout()


def test_a_collector_that_was_left_out_is_named_with_the_line_that_installs_it(site: Path) -> None:
    install(site, "1.3.5", OLD)
    with pytest.raises(
        WorkloadError, match=r"unilab-rl, which is not .*pip install 'unilab\[uni-rl\]==1\.3\.5'"
    ):
        installed_layout()


def test_a_module_that_breaks_at_import_is_not_taken_for_another_layout(site: Path) -> None:
    broken = {"unilab.rl.runtime.offpolicy.worker": "import no_such_dependency\n"}
    install(site, "1.5.2", NEW | runtime("unilab.rl.runtime") | broken)
    with pytest.raises(WorkloadError, match=r"importing .unilab\.rl\.runtime\.offpolicy\.worker. fails"):
        installed_layout()
