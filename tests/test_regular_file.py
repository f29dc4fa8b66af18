"""A pipe in the place of a file is refused or passed over at once: to open one waits for its other
end.
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcore.__main__ import main
from dpcore.data.catalogue import DATASETS
from dpcore.regular_file import check_regular, open_regular
from dpcore.runs.limits import limits_of
from dpcore.runs.record import Status, StoreError, checkpoint_path, device_here, device_path
from dpcore.runs.store import Store
from dpcore.runs.store_file import FILE
from dpcore.runs.teacher_key import cookie_key, is_teacher, teacher_key
from dpcore.runs.within_limits import submit_rest
from dpcore.training.checkpoint import resume
from dpcore.training.config import RunConfig
from dpcore.training.events import Started
from dpcore.training.features.cache import key_of, read
from dpcore.training.training_run import TrainingRun
from dpcore.whole_file import private
from tests.data.image_files import folder, images
from tests.training.features.test_feature_cache import PART

SECONDS = 60  # after which an answer counts as none
TINY = RunConfig(model="linear", batch=64, epochs=0.2, seed=5, device="cpu")


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Fail a test that waits for the other end of a pipe."""

    def ended(*_: Any) -> None:
        pytest.fail("it waits for the other end of a pipe")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "root"))
    return tmp_path / "home"


def test_files_and_what_is_missing_are_opened_as_ever_and_a_device_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with open_regular(tmp_path / "file") as file:
        assert file.read() == b"x"
    check_regular(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    for path in (pipe(tmp_path / "pipe"), Path("/dev/zero")):
        with pytest.raises(OSError, match="Is a pipe or a device, not a file"):
            open_regular(path)
    with pytest.raises(OSError, match="Is a pipe"), open(tmp_path / "pipe", "wb", opener=private):
        pass


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["data", "import"], "to be a folder, or a zip or tar archive"),
        (["runs", "import"], "to be a readable file, but: Is a pipe"),
        (["check", "--text"], "to be a readable file, but: Is a pipe"),
    ],
)
def test_a_command_that_is_given_a_pipe_refuses_it(
    words: list[str], said: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, str(pipe(tmp_path / "given"))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_pipe_among_images_or_reviews_is_named(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pets = folder(tmp_path / "pets", images())
    pipe(pets / "train" / "cat" / "000.png")
    folder(tmp_path / "aclImdb", {"train/neg/0_1.txt": b"dull", "test/neg/": b""})
    pipe(tmp_path / "aclImdb" / "train" / "neg" / "1_1.txt")
    for given, name in ((pets, "train/cat/000.png in"), (tmp_path / "aclImdb", "1_1.txt")):
        assert main(["data", "import", str(given)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert name in line
        assert "Is a pipe" in line


def test_a_pipe_in_the_data_root_is_no_data_set_and_no_features(home: Path, tmp_path: Path) -> None:
    pipe(tmp_path / "root" / "images" / "pets" / "facts.json")
    assert "pets" not in dict(DATASETS)
    key = key_of(PART, "scatter", 1)
    assert read(pipe(tmp_path / "root" / "features" / key.name), key) is None


# File -> who reads it, and its error.
HOME: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    FILE: (Store, StoreError),
    "limits.toml": (limits_of, StoreError),
    "cookie.key": (cookie_key, OSError),
    "teacher.key": (teacher_key, OSError),
}


@pytest.mark.parametrize("name", HOME)
def test_a_pipe_in_the_home_is_refused(name: str, home: Path) -> None:
    pipe(home / name)
    reader, error = HOME[name]
    with pytest.raises(error, match="Is a pipe or a device, not a file"):
        reader(home)


def test_a_pipe_is_no_device_and_no_mark_of_a_teacher(home: Path) -> None:
    pipe(device_path(home))
    assert device_here(home) == ""
    owner = "ab" * 16
    pipe(home / "teachers" / owner)
    assert not is_teacher(home, owner)


def test_a_run_whose_checkpoint_is_a_pipe_is_not_resumed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(home) as store:
        run = store.submit(TINY, "", "elsewhere:1")
        store.append(run, Started(10_000, 32, TINY.q, "cpu", 1, "book-keeping"))
        store.end(run, Status.CANCELLED)
        path = pipe(checkpoint_path(home, run))
        with pytest.raises(ValueError, match=r"to be a checkpoint that can be read; .* Is a pipe"):
            submit_rest(store, run)
    assert main(["runs", "resume", run]) == 2
    assert "Is a pipe or a device, not a file" in capsys.readouterr().err
    with pytest.raises(OSError, match="Is a pipe"):
        resume(TrainingRun(TINY, lambda: 0.0), path)
