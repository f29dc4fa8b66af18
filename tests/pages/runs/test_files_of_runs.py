"""Runs leave the page as files, and come back as runs."""

import json

from dpcore.runs.export import FORMS, TextForm, record_of
from dpcore.runs.limits import Limits, write
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.runs.exporting import written
from tests.pages.runs_page import addressed, cells, finished, opened, shown
from tests.pages.train_page import CONFIG, recorded


def exporting(*runs: str, form: str = "csv"):
    """The page with these runs ticked and the expander of exports open."""
    page = opened(*runs)
    page.session_state["export_box"] = True
    page.session_state["export_form"] = form
    return page.run()


def test_a_ticked_run_is_offered_in_every_form_of_text(store: Store):
    for form in [name for name, form in FORMS.items() if isinstance(form, TextForm)]:
        page = exporting(finished(store), form=form)
        assert not page.exception, form
        assert [each.proto.label for each in page.get("download_button")].count("Download") == 1, (
            form
        )


def test_an_exported_run_is_taken_in_ticked_and_said_to_be_imported(store: Store):
    run = recorded(store, CONFIG, 40, Status.CANCELLED)
    _, content, _ = written(FORMS["json"], [record_of(store, run)])
    page = uploaded(store, str(content).encode())
    (new,) = [each.id for each in store.runs() if each.id != run]
    assert addressed(page) == [new]
    assert cells(page, new)["status"] == "cancelled, imported"
    assert run in shown(opened(new, show="settings"))


def test_an_import_beyond_the_runs_that_one_may_keep_is_refused_in_a_sentence(store: Store):
    run = recorded(store, CONFIG, 40, Status.CANCELLED)
    _, content, _ = written(FORMS["json"], [record_of(store, run)])
    write(store.home, Limits(kept=1, queued=1))
    page = uploaded(store, str(content).encode())
    assert "is 1, and this would make 2. Delete some of your runs first." in page.error[0].value
    assert [each.id for each in store.runs()] == [run]
    write(store.home, Limits(kept=3, queued=1))
    store.submit(CONFIG)  # an imported run does not wait, so it is no matter how many do
    uploaded(store, str(content).encode())
    assert len(store.runs()) == 3


def test_what_is_no_exported_run_is_a_sentence(store: Store):
    for content in [b"", b"{}", b"[1]", b"\x80\x04K\x01.", json.dumps({"format": "x"}).encode()]:
        page = uploaded(store, content)
        assert len(page.error) == 1, content
        assert store.runs() == [], content


def uploaded(store: Store, content: bytes):
    page = opened()
    page.session_state["import_box"] = True
    page.run()
    page.file_uploader(key="import_file").upload("run.json", content, "application/json").run()
    assert not page.exception
    return page
