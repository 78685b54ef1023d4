"""A bundle: the folder that holds an experiment, or the runs of one command.

::

    experiment.json    what was fixed before the first run (experiments only)
    records.jsonl      one record a run, in the order in which runs ended
    runs/RUN/          logs and raw samples of each run

A bundle is data. Reading one parses JSON and nothing else: no pickle, no code, no network; a path in a
record is followed only if it stays inside the bundle.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from envdyno.record.experiment import ExperimentRecord
from envdyno.record.fault_text import fault_text
from envdyno.record.journal import Journal, JournalError, read_journal
from envdyno.record.run_record import RunRecord
from envdyno.record.strict_json import NotStrictJson, loads

EXPERIMENT = "experiment.json"
RECORDS = "records.jsonl"
RUNS = "runs"


class BundleError(ValueError):
    """A folder is no bundle, or cannot be used as one; the text is a sentence for the user."""


@contextlib.contextmanager
def fitting_together(name: object) -> Iterator[None]:
    """Refuse records that do not fit what is made of them.

    The schema leaves parts of a record open, such as placements: what is there need not be what fits.

    Raises:
        BundleError: something stumbled over what is or is not in them.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, ValueError) and type(error) is not ValueError:
            raise  # a refusal of ours, which is a sentence already
        raise BundleError(f"{name} does not fit together: {error!r}.") from error


class Bundle:
    """A bundle on disk."""

    def __init__(self, folder: Path) -> None:
        """Look at ``folder``; nothing is read yet."""
        self.folder = folder

    @classmethod
    def create(cls, folder: Path) -> Bundle:
        """Make the folder, or take an existing one.

        Raises:
            BundleError: it cannot be made, or nothing can be written into it.
        """
        try:
            (folder / RUNS).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder / RUNS):
                pass
        except OSError as error:
            raise BundleError(
                f"The folder {folder} cannot be written: {error.strerror}. Choose another --out."
            ) from error
        return cls(folder)

    def hide_from_git(self) -> None:
        """Have git ignore the folder, for a bundle in a checkout must not make the checkout a changed one.

        Raises:
            BundleError: it cannot be written.
        """
        try:
            (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise BundleError(f"The folder {self.folder} cannot be written: {error.strerror}.") from error

    def journal(self) -> Journal:
        """Open the records for appending.

        Raises:
            JournalError: they cannot be written.
        """
        return Journal(self.folder / RECORDS)

    def has_experiment(self) -> bool:
        """Return whether an experiment has been begun here."""
        return (self.folder / EXPERIMENT).exists()

    def has_records(self) -> bool:
        """Return whether any record has been written here."""
        path = self.folder / RECORDS
        return path.exists() and path.stat().st_size > 0

    def write_experiment(self, experiment: ExperimentRecord) -> None:
        """Write the head of the bundle, whole or not at all.

        Raises:
            JournalError: it cannot be written.
        """
        target = self.folder / EXPERIMENT
        partial = target.with_suffix(".partial")
        try:
            with partial.open("w", encoding="utf-8") as file:
                file.write(experiment.model_dump_json(by_alias=True, indent=1) + "\n")
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
            _flush_folder(self.folder)
        except OSError as error:
            raise JournalError(f"{target} cannot be written: {error.strerror}.") from error

    def experiment(self) -> ExperimentRecord:
        """Read the head of the bundle.

        Raises:
            BundleError: there is none, or it is no experiment.
        """
        path = self.folder / EXPERIMENT
        try:
            return ExperimentRecord.model_validate(loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise BundleError(
                f"{self.folder} holds no experiment: there is no {EXPERIMENT} in it. "
                "Name the folder that `envdyno ab` wrote to."
            ) from None
        except (OSError, UnicodeDecodeError, NotStrictJson, ValidationError) as error:
            raise BundleError(f"{path} is no experiment. {fault_text(error)}") from error

    def records(self) -> Iterator[RunRecord]:
        """Yield the records, in the order in which they were written.

        Raises:
            JournalError: they cannot be read.
        """
        return read_journal(self.folder / RECORDS)

    def path_of(self, name: str) -> Path:
        """Return the file that a record names, such as its raw samples.

        Raises:
            BundleError: the name leads outside the bundle.
        """
        relative = PurePosixPath(name)
        try:
            path = (self.folder / relative).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise BundleError(f"The bundle {self.folder} names {name!r}, which is no path.") from error
        if relative.is_absolute() or not path.is_relative_to(self.folder.resolve()):
            raise BundleError(f"The bundle {self.folder} names a file outside itself: {name!r}.")
        return path


def _flush_folder(folder: Path) -> None:
    """See the names in a folder onto the disk, so that a power cut leaves no nameless file.

    Some network file systems cannot do that; there it is up to the server.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)
