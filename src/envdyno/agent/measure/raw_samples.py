"""Raw samples on disk: one-dimensional NumPy files of 64-bit integers, written without NumPy.

The format is NumPy's own version 1.0 (NEP 1, "A Simple File Format for NumPy Arrays"): readable by
``numpy.load(path, allow_pickle=False)`` and free of anything that could be executed.
"""

from __future__ import annotations

import struct
import sys
from array import array
from pathlib import Path


def write_npy(path: Path, values: array[int]) -> None:
    """Write 64-bit integers (array type ``q``) to ``path``.

    Raises:
        OSError: the file cannot be written.
    """
    order = "<" if sys.byteorder == "little" else ">"
    header = f"{{'descr': '{order}i8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    # Magic, version, length and header together fill whole blocks of 64 bytes.
    padding = -(10 + len(header) + 1) % 64
    text = (header + " " * padding + "\n").encode("latin-1")
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
        values.tofile(file)
