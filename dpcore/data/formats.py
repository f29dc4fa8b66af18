"""The kinds of files that a data set consists of: what each is called, and how large it is."""

import math
from dataclasses import dataclass

CIFAR_SHAPE = (3, 32, 32)  # of an image in CIFAR's Python batches


@dataclass(frozen=True)
class IdxFile:
    """One file in the IDX format: big-endian magic number and sizes, then bytes."""

    name: str
    shape: tuple[int, ...]
    md5: str  # of the uncompressed file

    @property
    def magic(self) -> int:
        """0x0800 for unsigned bytes, plus the number of dimensions."""
        return 0x0800 + len(self.shape)

    @property
    def size(self) -> int:
        """Bytes of the uncompressed file."""
        return 4 + 4 * len(self.shape) + math.prod(self.shape)

    @property
    def most(self) -> int:
        """Bytes that it may have: no more are read."""
        return self.size


@dataclass(frozen=True)
class CifarFile:
    """One of CIFAR-10's Python batches: a pickled dictionary of pixels and labels."""

    name: str
    count: int  # images in it
    md5: str

    @property
    def size(self) -> int:
        """Bytes of its pixels: the file has some more."""
        return self.count * math.prod(CIFAR_SHAPE)

    @property
    def most(self) -> int:
        """Bytes that it may have, so that no more are read: the real ones are 1.01 times their pixels."""
        return 2 * self.size + 4096


@dataclass(frozen=True)
class ArraysFile:
    """Examples that are no images, as `data import` makes them of a set's original files.

    Training examples, their labels, test examples, their labels, one after another without a header: ids as 16-bit
    numbers, low byte first, all else as bytes.
    """

    shape: tuple[int, ...]  # of one example
    train: int
    test: int
    originals: str  # what it is made of, in words
    ids: int = 0  # how many there are to name, where an example's numbers are ids; 0: they are quantities
    name: str = "examples"

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return (self.train + self.test) * (math.prod(self.shape) * (2 if self.ids else 1) + 1)

    @property
    def most(self) -> int:
        """Bytes that it may have: no more are read."""
        return self.size


File = IdxFile | CifarFile | ArraysFile
