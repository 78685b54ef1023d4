"""The sentinel: outlives a killed control just long enough to leave nothing behind.

A small process of its own that waits on a pipe. When the control ends it says so; when the control is
killed the pipe only ends, and then the sentinel kills the run's processes and removes its scratch folder.

Run as a script with ``-I -S``: the token, the scratch folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

DONE = b"done"


class Sentinel:
    """The control's handle on its sentinel."""

    def __init__(self, token: str, scratch: Path) -> None:
        """Start the sentinel for the processes that bear ``token`` and the folder ``scratch``."""
        read_fd, self._write_fd = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, token, str(scratch)],
                stdin=read_fd,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        except OSError:
            os.close(self._write_fd)
            raise
        finally:
            os.close(read_fd)

    def dismiss(self) -> None:
        """Tell the sentinel that everything has been cleaned up, and wait for it to end."""
        try:
            os.write(self._write_fd, DONE)
        except BrokenPipeError:
            pass
        finally:
            os.close(self._write_fd)
        self._process.wait()


def watch(token: str, scratch: str) -> None:
    """Wait for the control; clean up after it if it died."""
    said = b""
    while chunk := os.read(0, 64):
        said += chunk
    if said == DONE:
        return
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from reaping import end_processes  # type: ignore[import-not-found, unused-ignore]

    end_processes(token)
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    watch(*sys.argv[1:])
