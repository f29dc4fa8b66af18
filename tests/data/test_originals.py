"""Data sets that are no images: made of their original files once, refused with a sentence, trained
like the others.
"""

import gzip
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dpcore.__main__ import main
from dpcore.data import originals
from dpcore.data.catalogue import DATASETS, available, dataset_of, missing, raw_folder
from dpcore.data.importing import import_folder
from dpcore.data.loading import load
from dpcore.data.originals import READERS, USERS, by_place, ids_of
from tests.data.original_files import (
    COUNTS,
    WRITERS,
    imdb_archive,
    movielens_archive,
    ratings,
    reviews,
    small,
)


@pytest.fixture(autouse=True)
def sets(root, monkeypatch):
    """Data sets of a few examples in place of the real ones, in an empty data root."""
    for name in READERS:
        monkeypatch.setitem(DATASETS.shipped, name, small(name))


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "given").mkdir()
    return tmp_path / "given"


@pytest.mark.parametrize("name", READERS)
def test_an_import_reads_the_original_files_and_puts_what_it_made_of_them_into_the_data_root(
    name, given, capsys
):
    assert available(name) == ()
    WRITERS[name](given)
    assert main(["data", "import", str(given)]) == 0
    assert f"{dataset_of(name).title}: checked" in capsys.readouterr().out
    assert available(name) == ("full",)
    split = load(name, "full")
    assert (len(split.train), len(split.test)) == COUNTS[name]
    assert split.train.images.shape[1:] == dataset_of(name).shape
    assert not split.train.images.flags.writeable
    assert [path.name for path in raw_folder(dataset_of(name)).iterdir()] == ["examples"]


def test_adult_has_libsvms_123_features_one_for_each_of_its_14_fields(given):
    WRITERS["adult"](given)
    import_folder(given)
    split = load("adult", "full")
    rows = np.concatenate([split.train.images, split.test.images])
    assert set(np.unique(rows)) == {0, 1}
    # A third of the rows leaves three fields open.
    assert sorted(rows.sum(1)) == [11] * 10 + [14] * 20
    by_features = {row.tobytes(): row for row in rows}
    assert len(by_features) == 3
    student = next(
        row
        for row in by_features.values()
        if row[:5].tolist() == [0, 0, 1, 0, 0] and row.sum() == 14
    )
    # State-gov, behind five ranges of age 39.
    assert student[5:13].tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
    assert student[13:18].tolist() == [1, 0, 0, 0, 0]  # 77516


def test_reviews_are_taken_from_their_folder_or_the_published_archive(given, root):
    for inner in ("", "aclImdb", "aclImdb_v1.tar.gz", "beside"):
        if inner in ("", "aclImdb"):
            WRITERS["imdb"](given)
        else:
            shutil.rmtree(given)
            given.mkdir()
            imdb_archive(given / "aclImdb_v1.tar.gz")
        import_folder(given if inner == "beside" else given / inner)
        split = load("imdb", "full")
        assert (
            np.bincount(split.train.labels).tolist()
            == np.bincount(split.test.labels).tolist()
            == [20, 20]
        )
        # The last ones may be held out: kinds are mixed.
        assert len(set(split.train.labels[-8:])) == 2
        made = {
            (*path.split("/")[:2], *ids_of(text, 10_000, 256)) for path, text in reviews().items()
        }
        seen = {
            (name, ("neg", "pos")[y], *x)
            for name, part in (("train", split.train), ("test", split.test))
            for x, y in zip(part.images, part.labels, strict=True)
        }
        assert seen == made, inner
        good = ids_of("splendid", 10_000, 1)[0]
        assert (split.train.images[:, -2] == good).tolist() == split.train.labels.astype(
            bool
        ).tolist()
        shutil.rmtree(root)


def test_an_id_follows_from_the_word_alone_and_the_last_words_are_kept():
    assert ids_of("Film", 10_000, 2).tolist() == [0, *ids_of("film", 10_000, 1)]
    assert ids_of("one two three", 50, 2).tolist() == [
        *ids_of("two", 50, 1),
        *ids_of("three", 50, 1),
    ]
    assert ids_of("", 50, 2).tolist() == [0, 0]
    many = ids_of(" ".join(f"w{number}" for number in range(9000)), 100, 9000)
    assert (many.min(), many.max()) == (1, 99)


def test_ratings_are_taken_with_ids_of_users_before_those_of_movies(given, root):
    lines = [[int(field) for field in line.split("::")] for line in ratings().splitlines()]
    for write in (WRITERS["movielens"], lambda folder: movielens_archive(folder / "ml-1m.zip")):
        write(given)
        import_folder(given)
        split = load("movielens", "full")
        seen = {
            tuple(row)
            for part in (split.train, split.test)
            for row in np.c_[part.images, part.labels].tolist()
        }
        assert seen == {
            (user - 1, USERS + movie - 1, rating - 1) for user, movie, rating, _ in lines
        }
        shutil.rmtree(root)
        (given / "ratings.dat").unlink(missing_ok=True)


def test_which_rows_are_tested_on_follows_from_places_alone():
    file = dataset_of("movielens").arrays
    assert file
    values = np.arange(300)
    (_, train), (_, test) = by_place(values, values, file, "rows")
    (_, again), _ = by_place(values, values[::-1], file, "rows")
    assert np.array_equal(again, 299 - train)
    assert sorted([*train, *test]) == values.tolist()
    with pytest.raises(ValueError, match="Expected 300 rows; there are 299"):
        by_place(values[1:], values[1:], file, "rows")


def test_a_file_that_is_wrong_is_refused_with_a_sentence_and_nothing_is_imported(
    given, root, capsys
):
    WRITERS["imdb"](given)
    for wrong, words in {
        ratings().replace("::", ":", 1): "UserID::MovieID::Rating::Timestamp",
        "": "UserID::MovieID::Rating::Timestamp",
        "1 2\n": "UserID::MovieID::Rating::Timestamp",
        ratings() + "6041::1::1::1\n": "users 1 to 6040",
        ratings() + "1::3953::1::1\n": "movies 1 to 3952",
        ratings() + "1::1::0::1\n": "ratings 1 to 5",
        ratings() + "1::1::1::1\n": "Expected 300 ratings",
    }.items():
        (given / "ratings.dat").write_text(wrong)
        assert main(["data", "import", str(given)]) == 2
        assert words in capsys.readouterr().err
        assert not root.exists()


def test_a_missing_review_is_counted_and_a_cut_archive_refused(given, capsys):
    WRITERS["imdb"](given)
    (given / "aclImdb/test/pos/3_7.txt").unlink()
    assert main(["data", "import", str(given)]) == 2
    assert "Expected 40 reviews under test/neg and test/pos" in capsys.readouterr().err
    path = imdb_archive(given / "aclImdb_v1.tar.gz")
    path.write_bytes(path.read_bytes()[:2000])
    assert main(["data", "import", str(path)]) == 2
    assert "aclImdb or its whole archive" in capsys.readouterr().err


def test_what_unpacks_to_more_than_there_is_is_refused_before_it_is_held(
    given, monkeypatch, capsys
):
    monkeypatch.setattr(originals, "MAX_REVIEWS_UNPACKED", 50_000)
    path = imdb_archive(given / "aclImdb_v1.tar.gz", {"train/unsup/1_0.txt": bytes(100_000)})
    assert main(["data", "import", str(path)]) == 2
    assert "unpacks to more than 50000 bytes" in capsys.readouterr().err
    monkeypatch.setattr(originals, "MAX_REVIEWS_UNPACKED", 1 << 30)
    imdb_archive(path, {"train/pos/99_9.txt": bytes(originals.MAX_REVIEW + 5)})
    assert main(["data", "import", str(path)]) == 2
    assert "reviews of less than 1048576 bytes" in capsys.readouterr().err
    imdb_archive(path, {f"train/pos/{number}_9.txt": b"more" for number in range(100, 200)})
    assert main(["data", "import", str(path)]) == 2
    assert "no more than there are" in capsys.readouterr().err
    monkeypatch.setattr(originals, "MAX_RATINGS", 1000)
    assert main(["data", "import", str(movielens_archive(given / "ml-1m.zip"))]) == 2
    assert "ratings.dat to hold at most 1000 bytes" in capsys.readouterr().err


def test_an_archive_without_ratings_is_refused(given, capsys):
    with zipfile.ZipFile(given / "ml-1m.zip", "w") as archive:
        archive.writestr("ml-1m/users.dat", "1::F::1::10::48067\n")
    assert main(["data", "import", str(given)]) == 2
    assert "found none" in capsys.readouterr().err


def test_paths_in_an_archive_lead_nowhere(given, root):
    path = imdb_archive(given / "aclImdb_v1.tar.gz")
    raw = gzip.decompress(path.read_bytes()).rstrip(b"\0")
    member = tarfile.TarInfo("../../escaped/other/pos/1_1.txt")
    member.size = 4
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(member, io.BytesIO(b"text"))
    path.write_bytes(gzip.compress(stream.getvalue()[:1024] + raw + bytes(2048)))
    import_folder(path)
    assert sorted(each.name for each in root.parent.iterdir()) == ["given", "root"]


def test_without_its_files_a_sentence_says_which_to_bring_and_what_was_damaged_in_the_data_root(
    given, capsys
):
    changes = {
        "adult": (lambda raw: raw[:-1], "bytes instead of"),
        "imdb": (lambda raw: b"\xff\xff" + raw[2:], "known classes and ids only"),
        "movielens": (lambda raw: raw[:-1] + b"\x05", "known classes and ids only"),
    }
    assert set(changes) == set(READERS)
    for name, (change, words) in changes.items():
        assert missing(dataset_of(name)) == ["examples is missing"]
        with pytest.raises(ValueError, match="'python -m dpcore data import DIR' makes it from"):
            load(name, "full")
        assert main(["data", "status", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["sources"][name] == []
        if name != "adult":  # which as a table is fetched
            assert main(["data", "download", "--dataset", name]) == 1
            assert (
                "not downloaded; 'python -m dpcore data import DIR' makes it from"
                in capsys.readouterr().out
            )
        WRITERS[name](given)
        import_folder(given)
        path = raw_folder(dataset_of(name)) / "examples"
        path.write_bytes(change(path.read_bytes()))
        with pytest.raises(ValueError, match=words):
            load(name, "full")
