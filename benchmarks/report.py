"""How long reports of many records take, and how much memory: a page, Markdown, terminal text, every export.

Prints one line a report. Bounds to hold, on a quiet machine: 10,000 records in under 10 s and 1 GB.

    python benchmarks/report.py [RECORDS]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "builders"))

RECORDS = 10_000
CASES = 50
KINDS = (
    "show",
    "html",
    "md",
    *("csv", "jsonl", "go", "bencher", "github-action", "pyperf", "junit", "prometheus"),
)
BOUND_S = 10.0
BOUND_BYTES = 1 << 30


def write_bundle(folder: Path, records: int) -> None:
    """Write an experiment of many pairs, with raw samples of its first case."""
    from made_bundles import NOISE, Made, experiment

    pairs = max(3, records // (2 * CASES))
    rates = {
        f"suite/case_{case:02d}/mujoco": (
            [100_000.0 * NOISE[pair % len(NOISE)] for pair in range(pairs)],
            [(0.7 + 0.01 * case) * 100_000.0 * NOISE[(pair + 3) % len(NOISE)] for pair in range(pairs)],
        )
        for case in range(CASES)
    }
    made = experiment(rates)
    made.write(folder)
    first = [one for one in made.records if one.experiment and one.experiment.case == next(iter(rates))]
    Made(None, tuple(first)).write(folder / "raw", raw=True)
    (folder / "raw" / "runs").replace(folder / "runs-of-first")
    for path in (folder / "runs-of-first").iterdir():
        path.replace(folder / "runs" / path.name)


def one(kind: str, folder: Path) -> None:
    """Make one report in this process, and print what it took."""
    from envdyno.cli.show_verbs import material_lines
    from envdyno.experiment.material import opened
    from envdyno.export.formats import FORMATS
    from envdyno.report.html.page import html_page
    from envdyno.report.markdown import markdown_text

    begin, begin_cpu = time.perf_counter(), time.process_time()
    with opened(folder) as material:
        read_s = time.perf_counter() - begin
        if kind == "show":
            size = sum(len(line) for line in material_lines(material, 80))
        elif kind == "html":
            size = len(html_page(material))
        elif kind == "md":
            size = len(markdown_text(material))
        else:
            size = len(FORMATS[kind].text(material))
        count = len(material.records)
    seconds, cpu_s = time.perf_counter() - begin, time.process_time() - begin_cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    verdict = "held" if max(seconds, cpu_s) < BOUND_S and memory < BOUND_BYTES else "NOT held"
    if cpu_s < BOUND_S <= seconds and memory < BOUND_BYTES:
        verdict = "held by CPU time only; other work was running"
    print(
        f"{kind:14} {count:,} records  {seconds:5.2f} s, reading and judging {read_s:5.2f} s  "
        f"CPU {cpu_s:5.2f} s  "
        f"{memory / (1 << 20):4.0f} MiB  {size / 1e6:6.2f} MB written  bounds {verdict}",
        flush=True,
    )


def main() -> None:
    """Make each report in a process of its own, so that memory is that of one report."""
    if len(sys.argv) == 3:
        one(sys.argv[1], Path(sys.argv[2]))
        return
    records = int(sys.argv[1]) if len(sys.argv) == 2 else RECORDS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "bundle"
        write_bundle(folder, records)
        for kind in KINDS:
            subprocess.run([sys.executable, __file__, kind, str(folder)], check=True)


if __name__ == "__main__":
    main()
