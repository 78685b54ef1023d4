"""Runs the commands of the documentation, with small batches and short windows.

Every line ``$ envdyno ...`` in a ``console`` block of the README and of ``docs/`` is run as written, except
that batch sizes and durations are cut. Prints one line a command; the exit status tells whether all did well.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMALL = {
    "--num-envs": "64",
    "-n": "64",
    "--duration": "0.3s",
    "--warmup": "3",
    "--steps": "20",
    "--pairs": "3",
}
"""What stands in for the documented values."""
DEFAULTS = dict.fromkeys(("run", "ab", "sweep"), ("--duration", "--warmup", "--num-envs"))
"""Options that are added where a command relies on their defaults."""
ENOUGH = dict.fromkeys(("ab", "gate", "compare", "replay", "sweep"), (0, 1, 3))
"""Exit codes that are as they should be; short pairs on a busy machine may end in any verdict."""


def commands(path: Path) -> Iterator[str]:
    """Yield the commands in the console blocks of a page."""
    for block in re.findall(
        r"^```console\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        joined = block.replace("\\\n", " ")
        yield from (line[2:] for line in joined.splitlines() if line.startswith("$ envdyno"))


def shortened(command: str) -> list[str]:
    """Return a command's words with small batches and short windows."""
    words = shlex.split(command)
    verb = words[1] if len(words) > 1 else ""
    for index, word in enumerate(words[:-1]):
        if word in SMALL:
            words[index + 1] = SMALL[word]
    given = set(words)
    for option in DEFAULTS.get(verb, ()):
        short = {"--num-envs": "-n"}.get(option, option)
        if not given & {option, short} and not (option == "--duration" and "--steps" in given):
            words += [option, SMALL[option]]
    if verb in ("ab", "sweep"):
        words += ["--disturbed-repeats", "0"]
    return [*words, "--attribution-pairs", "1"] if verb == "ab" else words


def prepare(scratch: Path, environ: dict[str, str]) -> None:
    """Make the bundles that the commands name: BUNDLE, and the folder ``bundles`` with one in it."""
    sides = ["-o", "fast:step_ms=1.0", "-o", "slow:step_ms=1.3", "synthetic", "-n", "8"]
    lengths = ["--pairs", "3", "--attribution-pairs", "1", "--duration", "0.3s", "--warmup", "3"]
    command = ["envdyno", "ab", *sides, *lengths, "--disturbed-repeats", "0", "--quiet", "--out", "BUNDLE"]
    subprocess.run(command, cwd=scratch, env=environ, capture_output=True, check=True)
    shutil.copytree(scratch / "BUNDLE", scratch / "bundles" / "monday")


def main() -> int:
    """Run all; return the number of those that failed."""
    failed = 0
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    folder = Path(sys.executable).parent
    environ = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done: set[tuple[str, ...]] = set()
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as state:
        # Noise floors of these short experiments are not for the user's own.
        environ["XDG_STATE_HOME"] = state
        prepare(Path(scratch), environ)
        for page in pages:
            for command in commands(page):
                words = shortened(command)
                if tuple(words) in done:
                    continue
                done.add(tuple(words))
                result = subprocess.run(
                    words, cwd=scratch, env=environ, capture_output=True, text=True, input="y\n", check=False
                )
                good = result.returncode in ENOUGH.get(words[1], (0,))
                failed += not good
                print(f"{'ok  ' if good else 'FAIL'} {page.name}: {command}", flush=True)
                if not good:
                    print(result.stdout + result.stderr)
    print(f"{len(done) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main()))
