"""Runs as files: each form of export of the ticked ones, and runs that were exported elsewhere taken in."""

import io
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs import within_limits
from dpcore.runs.export import FORMS, FolderForm, RunRecord, TextForm, file_name, record_of
from dpcore.runs.export.imported import read_run
from dpcore.runs.export.imported_events import MOST_BYTES
from dpcore.runs.limits import NOBODY, may_start
from dpcore.runs.record import Run, StoreError
from dpcore.runs.store import Store
from pages.parts.controls.faults import MAX_REASON
from pages.parts.jobs.start_and_stop import PROBLEM
from pages.parts.runs.choosing import Chosen, tick_only
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user

MEGABYTES = MOST_BYTES // 2**20  # of a file that is taken in
GIVEN = "import_file"
ONE = "This form is of one run: tick one alone."


def files_of_runs(store: Store, chosen: Chosen) -> None:
    """Draw the ways out of here and into it, shut until they are opened."""
    if chosen.charted:
        box = st.expander("Export the ticked runs", icon=":material/download:", key="export_box", on_change="rerun")
        if box.open:
            with box:
                _exports(store, chosen.charted)
    box = st.expander("Import a run", icon=":material/upload:", key="import_box", on_change="rerun")
    if box.open:
        with box:
            st.file_uploader(
                "A run that was exported as JSON", type="json", key=GIVEN, max_upload_size=MEGABYTES,
                on_change=_import, args=(store,),
                help="Nothing in the file is executed. What it says of a run cannot be checked against the training "
                "itself, so the run says that it was imported.",
            )  # fmt: skip


def _exports(store: Store, runs: Sequence[Run]) -> None:
    name = st.selectbox("As", list(FORMS), format_func=lambda each: FORMS[each].title, key="export_form")
    form = FORMS[name]
    if len(runs) > 1 and not form.several:
        st.caption(ONE)
        return
    try:
        records = [record_of(store, run.id) for run in runs]
        file, content, media = written(form, records)
    except ValueError as error:  # a run that has no such form, or a package that is missing
        st.info(str(error))
        return
    st.download_button("Download", content, file, media, key=f"export_{name}", on_click="ignore", width="stretch")


def written(form: TextForm | FolderForm, records: Sequence[RunRecord]) -> tuple[str, str | bytes, str]:
    """The name of the runs' file, what is in it, and its type. Errors: ValueError says why there is none."""
    file = file_name(form, [each.run.id for each in records])
    if isinstance(form, TextForm):
        return file, form.write(records), form.media
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        form.write(records, Path(folder))
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(folder))
    return f"{file}.zip", packed.getvalue(), "application/zip"


@uninterrupted
def _import(store: Store) -> None:
    """Take in what was given, and tick it. As a callback."""
    given = st.session_state.get(GIVEN)
    if given is None:
        return
    if not may_start(user := current_user()):
        st.session_state[PROBLEM] = NOBODY
        return
    try:
        imported = read_run(given.getvalue())
    except ValueError as error:  # what the file says may stand in it
        st.session_state[PROBLEM] = f"The file was not taken in: {verbatim(str(error), MAX_REASON)}"
        return
    try:
        run = within_limits.keep(store, imported, user.owner)
        tick_only([store.run(run)])
    except (ValueError, StoreError) as error:
        st.session_state[PROBLEM] = str(error)
