"""Runs as files: export to other programs, and import from another store."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs import within_limits
from dpcore.runs.export import FORMS, FolderForm, RunRecord, TextForm, file_name, record_of
from dpcore.runs.export.imported import read_run
from dpcore.runs.export.imported_events import MAX_BYTES
from dpcore.runs.limits import NOBODY, may_start
from dpcore.runs.store import Store
from pages.parts.controls.url_state import MAX_REASON
from pages.parts.jobs import problems_said
from pages.parts.runs.listing import tick_only
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user

MAX_MEGABYTES = MAX_BYTES // 2**20  # of an imported file
GIVEN = "import_file"
CAUTION = (
    "The app executes nothing in the file. It cannot check the measurements, so the run is marked"
    " as imported."
)
ONE = "This format holds one run. Choose one run."


def export_box(store: Store, runs: Sequence[str]) -> None:
    """Draw the export of the runs, shut until it is opened."""
    title = "Export these runs" if len(runs) > 1 else "Export this run"
    box = st.expander(title, icon=":material/download:", key="export_box", on_change="rerun")
    if box.open:
        with box:
            _exports(store, runs)


def import_box(store: Store) -> None:
    """Draw the import of a run, shut until it is opened."""
    box = st.expander("Import a run", icon=":material/upload:", key="import_box", on_change="rerun")
    if box.open:
        box.file_uploader(
            "A run exported as JSON",
            type="json",
            key=GIVEN,
            max_upload_size=MAX_MEGABYTES,
            on_change=_import,
            args=(store,),
            help=CAUTION,
        )


def _exports(store: Store, runs: Sequence[str]) -> None:
    name = st.selectbox(
        "Format", list(FORMS), format_func=lambda each: FORMS[each].title, key="export_form"
    )
    form = FORMS[name]
    if len(runs) > 1 and not form.several:
        st.caption(ONE)
        return
    try:
        records = [record_of(store, run) for run in runs]
        file, content, media = written(form, records)
    except ValueError as error:  # a run that has no such form, or a package that is missing
        st.info(str(error))
        return
    st.download_button(
        "Download", content, file, media, key=f"export_{name}", on_click="ignore", width="stretch"
    )


def written(
    form: TextForm | FolderForm, records: Sequence[RunRecord]
) -> tuple[str, str | bytes, str]:
    """The name of the runs' file, its content and its type.

    Errors: ValueError says why there is none.
    """
    ids = [each.run.id for each in records]
    file = file_name(form, ids)
    if isinstance(form, TextForm):
        return file, form.write(records), form.media
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as beside:
        form.write(records, Path(folder))
        packed = shutil.make_archive(f"{beside}/packed", "zip", folder)
        return f"{file}.zip", Path(packed).read_bytes(), "application/zip"


@uninterrupted
def _import(store: Store) -> None:
    """Keep the run of the chosen file, and tick it. As a callback."""
    given = st.session_state.get(GIVEN)
    if given is None:
        return
    with problems_said():
        user = current_user()
        if not may_start(user):
            raise ValueError(NOBODY)
        try:
            imported = read_run(given.getvalue())
        except ValueError as error:  # it may quote the file
            reason = verbatim(str(error), MAX_REASON)
            raise ValueError(f"The file was not imported: {reason}") from None
        run = within_limits.keep(store, imported, user.owner)
        tick_only([store.run(run)])
