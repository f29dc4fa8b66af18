"""Features of a part of a data set, computed once and kept below the data root.

The name of a file is a hash of what its features follow from: the examples themselves, the kind and its version, the
views, and the machine, since another one may round otherwise. What cannot be read is computed, what cannot be kept is
used all the same. Like the data beside it a file is as private as the images are.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from dpcore import check
from dpcore.data.catalogue import data_root
from dpcore.data.loading import Images, fingerprint_of_part
from dpcore.training.features.feature_file import HEADER, Key, digest_of, read, write
from dpcore.training.features.kinds import kind_of
from dpcore.training.features.pieces import Progress, Steps, computing, drained, image_shape, overheard
from dpcore.training.features.turn import Turn
from dpcore.training.features.views import MOST as MOST_VIEWS
from dpcore.training.randomness.machine import machine_of

MOST = 4 * 10**9  # bytes of all files together
UNFINISHED_FOR = 3600.0  # seconds without a word after which what was never finished, or its lock file, is removed


class Features(NamedTuple):
    """Features and what there is to say of them."""

    values: Tensor  # (n, views, channels, h, w), float16 on the CPU; nobody writes to them
    digest: str  # SHA-256 of the values: a run that is taken up again must find the same
    note: str = ""  # a sentence where they could not be kept; empty otherwise


def features_of(
    part: Images, kind: str, views: int, progress: Progress, *, cores: int | None = None, root: Path | None = None
) -> Features:
    """All that `finding` finds. What `progress` raises ends the work."""
    return drained(finding(part, kind, views, cores=cores, root=root), progress)


def finding(
    part: Images, kind: str, views: int, *, cores: int | None = None, root: Path | None = None
) -> Steps[Features]:
    """The features of all examples of a part, in their order, each of `views` views of it, some at a time.

    They are read from the features' folder below the root (None: the data root), or computed and kept there. Whoever
    computes the same ones is waited for, and says how far that is; where that comes to nothing they are computed here.
    **Guarantees:** the same bits whether read or computed, on any number of `cores`.
    Errors: ValueError for an unknown kind, a number of views that is not from 1 to 16, and examples that the kind does
    not take.
    """
    folder = (root or data_root()) / "features"
    key = key_of(part, kind, views)
    found = read(folder / key.name, key)
    if found is None and key.size > MOST:  # nobody will keep them, so that it is no use to wait for anybody
        return (yield from made(part, key, folder, cores))
    if found is None:
        with Turn(folder / f".{key.name}.lock") as turn:
            yield from turn.awaited(len(part))
            found = read(folder / key.name, key)  # by now somebody else may have kept them
            if found is None:
                return (yield from made(part, key, folder, cores, turn.tell))
    yield len(part), len(part)
    return Features(*found)


def made(
    part: Images, key: Key, folder: Path, cores: int | None, tell: Progress = lambda done, total: None
) -> Steps[Features]:
    """Features that are computed and, where that can be, kept; `tell` hears how far they are, too."""
    values = yield from overheard(computing(part.images, kind_of(key.kind), key.views, cores), tell)
    digest = digest_of(values.numpy())
    return Features(values, digest, keep(folder, key, values, digest))


def key_of(part: Images, kind: str, views: int) -> Key:
    """What the features of a part follow from; ValueError where there are none."""
    check.whole(1, MOST_VIEWS, views=views)
    check.whole(1, examples=len(part))
    chosen, machine = kind_of(kind), machine_of(torch.device("cpu"), 1)
    shape = chosen.shape_of(image_shape(part.images))
    return Key(fingerprint_of_part(part), kind, chosen.version, views, machine, (len(part), views, *shape))


def keep(folder: Path, key: Key, values: Tensor, digest: str) -> str:
    """Write the features into the folder, where older ones make room; a sentence where they cannot be kept, else ""."""
    if key.size > MOST:
        return f"The features are not kept: {key.size} bytes are more than the {MOST} that {folder} may hold."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        make_room(folder, HEADER + key.size)
        write(folder / key.name, key, values, digest)
    except OSError as error:
        return f"The features could not be kept in {folder}, so the next run computes them again; {error}."
    return ""


def make_room(folder: Path, size: int) -> None:
    """Remove what was never finished, and of the features those used the longest ago, until so many bytes are free."""
    for file in (*folder.glob(".*.part"), *folder.glob(".*.lock")):
        if time.time() - used_at(file) > UNFINISHED_FOR:
            file.unlink(missing_ok=True)
    files = sorted(folder.glob("*.features"), key=used_at)
    while files and size + sum(map(size_of, files)) > MOST:
        files.pop(0).unlink(missing_ok=True)


def used_at(file: Path) -> float:
    """When a file was last read or written, in seconds; now where it is gone by now."""
    with suppress(FileNotFoundError):
        return file.stat().st_mtime
    return time.time()


def size_of(file: Path) -> int:
    """Bytes of a file, none where it is gone by now."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0
