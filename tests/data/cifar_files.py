"""CIFAR-10 with few images: batches with every key that the originals have, pickled as Python 2
pickled them.
"""

import hashlib
import io
import struct
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dpcore.data.catalogue import CIFAR10, CifarFile, Dataset

EACH = 20  # images in a batch
HEADER = (  # of an array, as numpy was called then
    b"cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85U\x01b\x87Rq\x05(K\x01"
    b"%bM\x00\x0c\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|NNN"
    b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T%b%btb"
)


@dataclass
class TinyCifar:
    """The data set that stands in for the real one, its batches, and what they hold."""

    dataset: Dataset
    contents: dict[str, bytes]
    pixels: np.ndarray  # (6 EACH, 3072)
    labels: np.ndarray


def text(value: str) -> bytes:
    """A byte string of Python 2, pickled."""
    return b"U" + bytes([len(value)]) + value.encode()


def batch(pixels: np.ndarray, labels: list[int], title: str) -> bytes:
    """A batch: byte strings throughout, an array of numpy.core.multiarray, and entries that nobody
    needs.
    """
    raw = pixels.tobytes()
    array = HEADER % (b"M" + struct.pack("<H", len(pixels)), struct.pack("<I", len(raw)), raw)
    numbers = b"]q\x09(" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    names = (
        b"]q\x0d("
        + b"".join(text(f"domestic_cat_s_{place:06d}.png") for place in range(len(labels)))
        + b"e"
    )
    entries = {"data": b"q\x02" + array, "labels": b"q\x08" + numbers}
    entries |= {"batch_label": b"q\x0a" + text(title) + b"q\x0b", "filenames": b"q\x0c" + names}
    return (
        b"\x80\x02}q\x01(" + b"".join(text(name) + value for name, value in entries.items()) + b"u."
    )


def tiny_cifar(seed: int = 3) -> TinyCifar:
    """Six batches of 20 images; the labels can be seen in the images."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 10, 6 * EACH)
    pixels = generator.integers(0, 64, (6 * EACH, 3072)).astype(np.uint8)
    pixels[np.arange(6 * EACH), labels * 300] += 190
    contents, files = {}, []
    for i, file in enumerate(CIFAR10.batches):
        part, title = (
            slice(EACH * i, EACH * (i + 1)),
            f"training batch {i + 1} of 5" if i < 5 else "testing batch 1 of 1",
        )
        contents[file.name] = batch(pixels[part], labels[part].tolist(), title)
        files.append(
            CifarFile(
                file.name, EACH, hashlib.md5(contents[file.name], usedforsecurity=False).hexdigest()
            )
        )
    return TinyCifar(replace(CIFAR10, batches=tuple(files)), contents, pixels, labels)


def archived(path: Path, contents: dict[str, bytes]) -> Path:
    """The archive as it is published: the batches in their folder, among other files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, raw in {**contents, "batches.meta": b"labels", "readme.html": b"<p>"}.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
    return path
