"""The scratch folder of one session: the agent's import path, logs and raw samples.

It lives in the system's folder for temporary files and is removed at the end, also when the control is
killed (by the sentinel).
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from pathlib import Path
from types import TracebackType

import envdyno
from envdyno.launch.reaping import end_processes
from envdyno.launch.sentinel import Sentinel

AGENT_PARTS = ("__init__.py", "_version.py", "placement.py", "agent", "suite")
"""What of this package a worker can import. Links, so that compiled files are shared."""


class ScratchError(OSError):
    """There is no folder to work in; the text is a sentence for the user."""


def _no_folder(error: OSError) -> ScratchError:
    return ScratchError(
        f"A run needs a folder for temporary files, and cannot make one ({error}): "
        "set TMPDIR to one that can be written."
    )


class Scratch:
    """A temporary folder, a token that marks the processes of this session, and a sentinel for both."""

    def __init__(self) -> None:
        """Make the folder and start the sentinel.

        Raises:
            ScratchError: no temporary folder can be written, or the sentinel cannot be started.
        """
        self.token = uuid.uuid4().hex
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="envdyno-"))
        except OSError as error:
            raise _no_folder(error) from error
        self.agent_path = self.folder / "agent-path"
        try:
            self._link_agent()
            self._start_sentinel()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _link_agent(self) -> None:
        package = self.agent_path / "envdyno"
        try:
            package.mkdir(parents=True)
            for part in AGENT_PARTS:
                (package / part).symlink_to(Path(envdyno.__file__).parent / part)
        except OSError as error:
            raise _no_folder(error) from error

    def _start_sentinel(self) -> None:
        try:
            self._sentinel = Sentinel(self.token, self.folder)
        except OSError as error:
            raise ScratchError(
                f"A run needs a small process that cleans up after it, and none can be started ({error}). "
                "Look at the limits on processes and memory."
            ) from error

    def __enter__(self) -> Scratch:  # noqa: PYI034 (typing.Self needs Python 3.11)
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what is still running, remove the folder and dismiss the sentinel."""
        end_processes(self.token)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._sentinel.dismiss()

    def new_folder(self, name: str) -> Path:
        """Make and return a folder for one run's logs and samples."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder
