"""One guest: boot a topology under software emulation, run a command inside, collect what it wrote."""

from __future__ import annotations

import enum
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import host_clock
import initramfs
import kernel
import packages
from topologies import Topology

# The job folder of a guest, as seen inside.
JOB_INSIDE = "/run/job"

# AMD's vendor id would hide the threads of a core, for QEMU does not emulate that maker's way to list them.
_CPU_MODEL = "max,la57=off,vendor=GenuineIntel"
# What makes an emulated boot short: no self-tests, no mitigations.
# Balancing moves pages on its own account; a check that wants it turns it on.
_KERNEL_ARGUMENTS = (
    "console=ttyS0 quiet loglevel=4 panic=-1 tsc=reliable no_timer_check nokaslr mitigations=off "
    "cryptomgr.notests random.trust_cpu=on numa_balancing=disable"
)
_MINIMAL_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
}
# Debian builds its kernels with CONFIG_HZ_250.
_TICKS_PER_SECOND = 250
# One host thread for all CPUs of a guest: CPUs that wait for each other would burn the host's few cores,
# and a run takes half the CPU time that it takes with a thread for each.
_ACCELERATOR = "tcg,thread=single"
_POLL_S = 0.1
_STOP_S = 5.0


class End(enum.Enum):
    """How a guest ended."""

    FINISHED = "finished"
    HUNG = "hung"
    NEVER_BOOTED = "never booted"
    CRASHED = "crashed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Installation:
    """What every guest is booted from."""

    qemu: str
    kernel: Path
    initramfs: Path
    repository: Path
    counter_khz: int | None
    """Frequency of the time stamp counter that guests read."""


@dataclass(frozen=True)
class Limits:
    """How long a guest may take."""

    boot_s: float = 90.0
    """From power-on to the command. An emulated boot hangs now and then; it is then started anew."""
    boots: int = 3
    silence_s: float = 150.0
    """From one sign of progress of the command to the next; after that the guest is taken to hang."""


@dataclass(frozen=True)
class Outcome:
    """What became of a guest."""

    end: End
    status: int | None
    """Exit status of the command; None if it did not end."""
    boots: int
    boot_s: float
    """From power-on to the command, in the boot that got there."""
    wall_s: float


class Guest:
    """One run of one topology. The job folder holds what goes in and what comes out.

    Inside, the host's file system is the root, read-only; the job folder is writable at `/run/job`.
    `console` has the kernel's messages, `output` the command's stdout and stderr.
    """

    def __init__(self, topology: Topology, installation: Installation, job: Path, limits: Limits) -> None:
        self.topology = topology
        self.job = job
        self._installation = installation
        self._limits = limits

    def run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        progress: Callable[[], bool],
        stop: threading.Event,
    ) -> Outcome:
        """Boot, run the command, power off.

        Args:
            command: Program and arguments, by their paths on the host.
            environment: Variables for it, beside a minimal set.
            progress: Called about ten times a second, and once after the end; tells whether the command
                got on since the last call.
            stop: When set, the guest is switched off at once.
        """
        self._write_job(command, environment)
        started = time.monotonic()
        outcome = Outcome(End.NEVER_BOOTED, None, 0, 0.0, 0.0)
        for boot in range(1, self._limits.boots + 1):
            (self.job / "booted").unlink(missing_ok=True)
            power_on = time.monotonic()
            end, boot_s = self._boot_once(power_on, progress, stop)
            progress()
            outcome = Outcome(end, self._status(), boot, boot_s, time.monotonic() - started)
            if end is not End.NEVER_BOOTED:
                break
        return outcome

    def _write_job(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        variables = _MINIMAL_ENVIRONMENT | dict(environment)
        exports = [f"export {key}={shlex.quote(value)}" for key, value in variables.items()]
        script = "\n".join([*exports, f"cd {JOB_INSIDE} || exit 126", f"exec {shlex.join(command)}", ""])
        (self.job / "command.sh").write_text(script)
        (self.job / "repository").write_text(f"{self._installation.repository}\n")

    def _boot_once(
        self, power_on: float, progress: Callable[[], bool], stop: threading.Event
    ) -> tuple[End, float]:
        with (self.job / "qemu").open("w") as log:
            machine = subprocess.Popen(
                self._command_line(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        boot_s: float | None = None
        last_progress = power_on
        try:
            while machine.poll() is None:
                time.sleep(_POLL_S)
                now = time.monotonic()
                if boot_s is None and (self.job / "booted").exists():
                    boot_s, last_progress = now - power_on, now
                if progress():
                    last_progress = now
                if self._status() is not None:
                    self._await_power_off(machine)
                    break
                if stop.is_set():
                    return End.STOPPED, boot_s or 0.0
                if boot_s is None and now - power_on > self._limits.boot_s:
                    return End.NEVER_BOOTED, 0.0
                if boot_s is not None and now - last_progress > self._limits.silence_s:
                    return End.HUNG, boot_s
        finally:
            _switch_off(machine)
        if boot_s is None and not (self.job / "booted").exists():
            return End.NEVER_BOOTED, 0.0
        return (End.CRASHED if self._status() is None else End.FINISHED), boot_s or 0.0

    @staticmethod
    def _await_power_off(machine: subprocess.Popen[bytes]) -> None:
        try:
            machine.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            return  # the command's result is in; how the guest goes down does not matter

    def _status(self) -> int | None:
        try:
            return int((self.job / "status").read_text())
        except FileNotFoundError:
            return None

    def _command_line(self) -> list[str]:
        topology, installation = self.topology, self._installation
        kernel_arguments = (
            _KERNEL_ARGUMENTS,
            _clock_arguments(installation.counter_khz),
            topology.kernel_arguments,
        )
        console = _escaped(self.job / "console")
        return [
            installation.qemu,
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-machine", f"q35{topology.machine_options}"),
            *("-accel", _ACCELERATOR, "-cpu", _CPU_MODEL),
            *topology.qemu_arguments(),
            *("-kernel", str(installation.kernel), "-initrd", str(installation.initramfs)),
            *("-append", " ".join(kernel_arguments)),
            *("-chardev", f"file,id=console,path={console}", "-serial", "chardev:console"),
            *_share("tree", Path("/"), "readonly=on,multidevs=remap"),
            *_share("repository", installation.repository, "readonly=on,multidevs=remap"),
            *_share("job", self.job, "readonly=off"),
        ]


def _clock_arguments(counter_khz: int | None) -> str:
    """Tell the kernel how fast its clock is: on a busy host it could not find out."""
    if counter_khz is None:
        return ""
    return f"tsc_early_khz={counter_khz} lpj={counter_khz * 1000 // _TICKS_PER_SECOND}"


def _share(tag: str, path: Path, options: str) -> list[str]:
    return [
        *("-fsdev", f"local,id={tag},path={_escaped(path)},security_model=none,{options}"),
        *("-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
    ]


def _escaped(path: Path) -> str:
    """QEMU ends a value at a comma, unless there are two."""
    return os.fspath(path).replace(",", ",,")


def _switch_off(machine: subprocess.Popen[bytes]) -> None:
    if machine.poll() is not None:
        return
    machine.terminate()
    try:
        machine.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        machine.kill()
        machine.wait()


def prepare(build: Path, repository: Path) -> Installation:
    """Make the installation that every guest is booted from; quick when it was made before.

    Raises:
        packages.UnavailableError: Something that it needs cannot be had here.
    """
    packages.require_platform()
    build.mkdir(parents=True, exist_ok=True)
    qemu = packages.require_qemu()
    linux = kernel.obtain(build)
    return Installation(
        qemu, linux.image, initramfs.build(linux, build), repository, host_clock.counter_khz()
    )
