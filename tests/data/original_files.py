"""Small files in the formats in which data sets that are no images are published, and data sets of
their sizes.
"""

import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpcore.data.catalogue import DATASETS, Dataset
from tests.data.table_files import ADULT, ADULT_TEST

COUNTS = {"adult": (24, 6), "imdb": (40, 40), "movielens": (240, 60)}  # to train on, to test on


def small(name: str) -> Dataset:
    """The data set, with so few examples that its files are small."""
    dataset, (train, test) = DATASETS[name], COUNTS[name]
    assert dataset.arrays
    return replace(dataset, arrays=replace(dataset.arrays, train=train, test=test))


def write_adult(folder: Path) -> None:
    (folder / "adult.data").write_text(ADULT * 10)
    (folder / "adult.test").write_text(ADULT_TEST)


def reviews() -> dict[str, str]:
    """Reviews by their paths: half of each part is good; one word says so."""
    found = {}
    for part in ("train", "test"):
        for kind, word in (("neg", "dull"), ("pos", "splendid")):
            for number in range(20):
                words = " ".join(f"word{number}x{place}" for place in range(5 + 15 * number))
                found[f"{part}/{kind}/{number}_7.txt"] = (
                    f"A {word} film.<br /><br />It's {words} <i>{word}</i>"
                )
    return found


def write_imdb(folder: Path) -> None:
    for path, text in reviews().items():
        target = folder / "aclImdb" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def imdb_archive(path: Path, more: dict[str, bytes] | None = None) -> Path:
    """The archive as it is published: reviews among other files."""
    others = {"README": b"Large Movie Review Dataset v1.0", "imdb.vocab": b"the\nand\n"}
    others |= {"train/unsup/0_0.txt": b"unlabelled", "train/labeledBow.feat": b"9 0:9 1:1"} | (
        more or {}
    )
    with tarfile.open(path, "w:gz") as archive:
        for name, raw in (
            others | {name: text.encode() for name, text in reviews().items()}
        ).items():
            member = tarfile.TarInfo(f"aclImdb/{name}")
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
    return path


def ratings() -> str:
    """300 ratings: who likes a movie depends on the movie."""
    random = np.random.default_rng(0)
    lines = []
    for place in range(300):
        movie = int(random.integers(1, 3953))
        lines.append(f"{1 + 20 * place % 6040}::{movie}::{1 + movie % 5}::97830{place:04d}\n")
    return "".join(lines)


def write_movielens(folder: Path) -> None:
    (folder / "ratings.dat").write_text(ratings())


def movielens_archive(path: Path) -> Path:
    """The archive as it is published."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ml-1m/README", "SUMMARY")
        archive.writestr("ml-1m/ratings.dat", ratings())
        archive.writestr("ml-1m/users.dat", "1::F::1::10::48067\n")
    return path


WRITERS = {"adult": write_adult, "imdb": write_imdb, "movielens": write_movielens}
