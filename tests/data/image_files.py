"""Small folders and zip files of images by class."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

Edit = Callable[[dict[str, bytes]], Any]


def png(pixels: np.ndarray, form: str = "PNG", mode: str | None = None) -> bytes:
    """An image (h, w) or (h, w, 3) as a file."""
    file, image = io.BytesIO(), Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, form)
    return file.getvalue()


def images(
    *shape: int, classes: tuple[str, ...] = ("cat", "dog"), train: int = 6, test: int = 3
) -> dict[str, bytes]:
    """Files of a data set by their paths, with so many images of each class: noise, and brighter
    for later classes.
    """
    random = np.random.default_rng(0)
    files = {}
    for part, count in (("train", train), ("test", test)):
        for label, name in enumerate(classes):
            for number in range(count):
                pixels = random.integers(0, 120, shape or (12, 10)) + 120 * label // max(
                    len(classes) - 1, 1
                )
                files[f"{part}/{name}/{number:03d}.png"] = png(pixels.astype(np.uint8))
    return files


def folder(path: Path, files: dict[str, bytes]) -> Path:
    """Write the files below the path; a name that ends in a slash is an empty folder."""
    for name, raw in files.items():
        target = path / name
        (target if name.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            target.write_bytes(raw)
    return path


def zipped(path: Path, files: dict[str, bytes], *, within: str = "") -> Path:
    """Write the files as a zip file, maybe within a folder of it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in files.items():
            archive.writestr(within + name, raw)
    return path
