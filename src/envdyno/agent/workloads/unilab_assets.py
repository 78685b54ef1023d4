"""Where UniLab's meshes and motion clips are, and which one an error is about.

Facts that this file rests on, each seen with the published wheels:

- configurations name ``src/unilab/assets/...`` relative to the working folder, in the wheel too, so that a
  run needs a folder that holds it;
- meshes and motion clips are not in the wheel; a hub serves them, and they are looked for in the installed
  package (``unilab.assets.ASSETS_ROOT_PATH``);
- a mesh that is missing is an error of MuJoCo's compiler or of MotrixSim's, which name the first one, MuJoCo
  without the folder of meshes; a clip that is missing is an error of the hub, which does not name it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from envdyno.agent.workloads.registry import WorkloadError
from envdyno.agent.workloads.unilab_layout import FRAMEWORK

_FILE_ERRORS = {"FileNotFoundError"}
_HUB_ERRORS = {"LocalEntryNotFoundError", "OfflineModeIsEnabled"}
_ENGINE_WORDS = re.compile("opening file|asset .*not found", re.IGNORECASE)
"""What MuJoCo and MotrixSim write of a file that a model names."""
_FILE_NAME = re.compile(r"[\w.-]+\.(?:stl|obj|msh|png)\b", re.IGNORECASE)


class WorkingFolder:
    """A folder that holds ``src/unilab``, entered for the life of the workload."""

    def __init__(self, package: Path, assets: str | None) -> None:
        """Enter the folder; the current one where it is a checkout and no other assets are given.

        Raises:
            WorkloadError: there is no folder of assets where one was said to be.
        """
        self._leave: Callable[[], object] | None = None
        self.assets = package / "assets"
        if assets is not None:
            self.assets = Path(assets).expanduser().resolve()
            if not (self.assets / "robots").is_dir():
                raise WorkloadError(
                    f"unilab was given assets={assets}, and there is no folder {self.assets / 'robots'}. It "
                    "has to be laid out as UniLab's own: robots/NAME/*.xml with their meshes, motions/."
                )
        elif Path("src/unilab/assets").is_dir():
            self.assets = Path("src/unilab/assets").resolve()
            return
        home, made = Path.cwd(), tempfile.mkdtemp(prefix="envdyno-unilab-")
        self._leave = weakref.finalize(self, _leave, made, home)
        source = Path(made, "src", "unilab")
        source.mkdir(parents=True)
        (source / "assets").symlink_to(self.assets)
        os.chdir(made)

    def close(self) -> None:
        """Remove the folder if it was made, and go back to where we were."""
        if self._leave is not None:
            self._leave()


def _leave(made: str, home: Path) -> None:
    if Path.cwd() == Path(made).resolve():
        os.chdir(home if home.is_dir() else "/")
    shutil.rmtree(made, ignore_errors=True)


def look_for_assets_in(folder: WorkingFolder) -> None:
    """Let UniLab look for its assets where the folder has them."""
    # A missing asset fails at once, instead of waiting for a hub.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    assets, hub = FRAMEWORK.load("unilab.assets"), FRAMEWORK.load("unilab.assets.hub")
    assets.ASSETS_ROOT_PATH = hub.ASSETS_ROOT_PATH = folder.assets


def missing_asset(error: BaseException | None, config: Any, folder: WorkingFolder) -> str | None:
    """Return what is missing, if an error or one of its causes is about a file."""
    while error is not None:
        names = {kind.__name__ for kind in type(error).__mro__}
        text = " ".join(str(error).split()).rstrip(".")
        if names & _HUB_ERRORS:
            clips = [str(clip) for clip in _clips(config, folder.assets) if not clip.exists()]
            return ", ".join(clips) or text
        if names & {"ValueError", "RuntimeError"} and _ENGINE_WORDS.search(text):
            return _missing_meshes(text, folder.assets) or text
        if names & _FILE_ERRORS:
            return text.replace(str(Path.cwd() / "src" / "unilab" / "assets"), str(folder.assets))
        error = error.__cause__ or error.__context__
    return None


def _missing_meshes(text: str, assets: Path) -> str | None:
    """Return where the mesh that an engine names has to be, and how many more its model is without."""
    named = _FILE_NAME.search(text)
    for model in sorted(assets.glob("robots/*/*.xml")):
        source = model.read_text(errors="replace")
        meshes = model.parent / _attribute(source, "meshdir")
        files = {meshes / name for name in re.findall(r'<mesh\b[^>]*\bfile="([^"]+)"', source)}
        if named is None or meshes / named[0] not in files:
            continue
        others = sum(not file.exists() for file in files - {meshes / named[0]})
        more = f", and {others} more that {model.name} names" if others else ""
        return f"{meshes / named[0]}{more}"
    return None


def _attribute(source: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', source)
    return found[1] if found else ""


def _clips(config: Any, assets: Path) -> Iterator[Path]:
    """Return the motion clips that a configuration names anywhere."""
    for key, value in config.items():
        if key == "motion_file":
            files = [value] if isinstance(value, str) else value or []
            yield from (assets / file for file in files)
        elif hasattr(value, "items"):
            yield from _clips(value, assets)
