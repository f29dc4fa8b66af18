"""Tiny data sets in the IDX format, true to their own checks."""

import gzip
import hashlib
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpcore.data.catalogue import DATASETS, Dataset, IdxFile

SHAPES = ((12, 28, 28), (12,), (5, 28, 28), (5,))


def tiny(name: str, seed: int) -> tuple[Dataset, dict[str, bytes]]:
    """A data set of 12 and 5 images that claims the name, and its files' contents."""
    generator = np.random.default_rng(seed)
    contents, files = {}, []
    for file, shape in zip(DATASETS[name].idx, SHAPES, strict=True):
        values = generator.integers(0, 256 if len(shape) == 3 else 10, shape, dtype=np.uint8)
        raw = struct.pack(f">{1 + len(shape)}I", 0x0800 + len(shape), *shape) + values.tobytes()
        contents[file.name] = raw
        files.append(IdxFile(file.name, shape, hashlib.md5(raw, usedforsecurity=False).hexdigest()))
    return replace(DATASETS[name], idx=tuple(files)), contents


def write(folder: Path, contents: dict[str, bytes], *, gzipped: bool = False) -> Path:
    """Put the files into the folder; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in contents.items():
        if gzipped:
            (folder / f"{name}.gz").write_bytes(gzip.compress(raw))
        else:
            (folder / name).write_bytes(raw)
    return folder
