"""A worker trains what a page starts on data sets that are no images, and on imported ones, and the
page shows it.
"""

from types import SimpleNamespace

import pytest

from dpcore.data.catalogue import DATASETS
from dpcore.data.importing import import_folder
from dpcore.data.originals import READERS
from dpcore.papers.catalogue import PAPERS
from dpcore.runs import pool
from dpcore.runs.plain_text import escaped
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.defaults import BATCH
from dpcore.training.events import Finished
from dpcore.training.loop import train
from tests.data.image_files import folder, images
from tests.data.original_files import WRITERS, small
from tests.pages.train_page import opened, started, whole

__all__ = ["PAPERS"]  # imported before the data sets shrink: its runs are of the real ones


GONE = "This machine has no `run={}`, or not its data. It may have been made elsewhere."
PETS = "pets"  # imported images


@pytest.fixture(params=(*READERS, PETS))
def name(request, tmp_path, monkeypatch) -> str:
    """One of the data sets, of a few examples, in a data root of its own."""
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "root"))
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(BATCH, "full", 12)
    for each in READERS:
        monkeypatch.setitem(DATASETS.shipped, each, small(each))
    given = folder(
        tmp_path / request.param,
        {"given/": b""} | (images(20, 20, 3) if request.param == PETS else {}),
    )
    WRITERS.get(request.param, lambda folder: None)(given)
    import_folder(given)
    return request.param


@pytest.mark.long
def test_a_worker_trains_what_the_page_starts_and_the_page_shows_it(name, monkeypatch):
    with Store() as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None))
        started(store, dataset=name, batch="12", epochs="1")
        run = store.runs()[0]
        assert (run.config.dataset, run.config.source) == (name, "full")
        assert run.config.model == name or name == PETS
        events = list(train(run.config))
        assert isinstance(events[-1], Finished)
        for event in events:
            store.append(run.id, event)
        store.end(run.id, Status.FINISHED, None)
        page = whole(run.id)
        assert not page.error
        assert any(escaped(DATASETS[name].title) in each.value for each in page.markdown)
        monkeypatch.setenv("DPCORE_DATA", "elsewhere")
        page = opened(run.id)
        assert not page.exception
        assert [each.value for each in page.warning] == [GONE.format(run.id)] * (name == PETS)
