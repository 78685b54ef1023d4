"""Go benchmark text, which ``benchstat`` and the Go performance dashboard read.

The format is that of https://go.dev/design/14313-benchmark-format, with units declared as
https://pkg.go.dev/golang.org/x/perf/benchfmt has it. Each run is a line, so that benchstat has the spread::

    benchstat -col /side result.txt

benchstat takes a name apart at slashes. A part such as ``terrain=flat`` of a case is a key that it can group
by; a part that would pass for one of the keys made here has its ``=`` encoded.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdyno.experiment.material import Material
from envdyno.export.names import plain_name, short_name
from envdyno.export.series import Series, series_of, step_time_s, without_figure
from envdyno.record.run_record import RunRecord

UNITS = ("Unit transitions/s better=higher", "Unit transitions/cpu-s better=higher")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Go's names of machine architectures, where they differ from the kernel's."""
OWN_KEYS = ("side", "envs", "gomaxprocs")
"""Keys of a name that are made here, and the one that benchstat makes of the number of CPUs."""
MAX_NAME_BYTES = 4096
"""Go's readers refuse lines of more than 64 KiB (``bufio.MaxScanTokenSize``), and the rest of the file."""


def go_benchmark_text(material: Material) -> str:
    """Return the runs as benchmark lines, the machine's configuration before them."""
    return "\n".join([*_lines(material), ""])


def _lines(material: Material) -> Iterator[str]:
    yield "toolchain: envdyno"
    yield from UNITS
    told: tuple[str, ...] = ()
    for series in series_of(material):
        for record in series.records:
            machine = tuple(_configuration(record))
            if machine != told:
                yield from machine
                told = machine
            yield _benchmark(series, record)
    for name, why in without_figure(material):
        yield f"# no figure: {short_name(name, MAX_NAME_BYTES)}: {short_name(why, MAX_NAME_BYTES)}"


def _configuration(record: RunRecord) -> Iterator[str]:
    identity = record.fingerprint.identity if record.fingerprint else {}
    kernel = str(identity.get("kernel_major") or "").partition(" ")[0].lower()
    architecture = str(identity.get("architecture") or "")
    yield f"goos: {_word(kernel or 'unknown')}"
    yield f"goarch: {_word(ARCHITECTURES.get(architecture, architecture) or 'unknown')}"
    model = plain_name(str(identity.get("cpu_model") or "unknown")).strip()
    yield f"cpu: {short_name(model, MAX_NAME_BYTES) or 'unknown'}"


def _benchmark(series: Series, record: RunRecord) -> str:
    found, steps = record.throughput, record.totals.vector_steps if record.totals else 1
    # Every part after the case is key=value, as benchstat takes names apart; Go ends a name with its CPUs.
    side = "" if series.side is None else f"/side={_word(series.side, '/')}"
    name = f"BenchmarkStep/{_case(series.case)}{side}/envs={record.case.num_envs}-{_cpus(record)}"
    fields = [name, str(max(1, steps))]
    step_s = step_time_s(record)
    if step_s is not None:
        fields.append(f"{step_s * 1e9:.6g} ns/op")
    if found is not None:
        fields.append(f"{found.transitions_per_s!r} transitions/s")
        if found.transitions_per_cpu_s is not None:
            fields.append(f"{found.transitions_per_cpu_s!r} transitions/cpu-s")
    return "\t".join(fields)


def _cpus(record: RunRecord) -> int:
    cpus = {cpu for worker in record.workers for cpu in worker.placement.get("cpus") or ()}
    return max(1, len(cpus))


def _case(text: str) -> str:
    """Return a case as parts of a name, none of which passes for a key of ours."""
    parts = _word(text).split("/")
    return "/".join(
        part.replace("=", "%3D", 1) if part.partition("=")[0] in OWN_KEYS else part for part in parts
    )


def _word(text: str, also: str = "") -> str:
    """Return text without white space: percent-encoded, as the name of a benchmark is one word.

    Args:
        text: of any length; what is too long is cut.
        also: further characters that are encoded.
    """
    return "".join(
        character
        if character.isprintable() and not character.isspace() and character not in f"%,{also}"
        else "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "backslashreplace"))
        for character in short_name(text, MAX_NAME_BYTES)
    )
