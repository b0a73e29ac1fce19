"""Vectors in a file of NumPy's form."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from torch import Tensor


def save_vectors(path: Path, vectors: Iterable[Tensor], width: int) -> None:
    """(N, width) 32-bit numbers, written while the vectors come; a reader sees the whole file or none."""
    beside = path.with_name(f".{path.name}.part")
    count = 0
    with beside.open("wb") as file:
        _head(file, count, width)
        for vector in vectors:
            file.write(vector.float().numpy().astype("<f4", copy=False).tobytes())
            count += 1
        file.seek(0)
        _head(file, count, width)  # as long as before: NumPy leaves room for a first axis that grows
    os.replace(beside, path)


def _head(file: BinaryIO, count: int, width: int) -> None:
    about = {"descr": "<f4", "fortran_order": False, "shape": (count, width)}
    np.lib.format.write_array_header_1_0(file, about)
