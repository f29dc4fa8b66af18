"""Every test of the runs on the charts, as a table and as a file, and the mean over seeds."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.runs.record import Run, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.described import described
from dpcore.training.seed_summary import in_words
from pages.parts.controls.widgets import titled
from pages.parts.results.exports import Columns, address, csv_button
from pages.parts.train.run_exports import evaluations_columns, file_of
from pages.parts.train.run_history import Watched, watched_runs


def evaluations_table(watched: Sequence[Watched], accountant: str) -> None:
    """Every test of the runs on the charts, with the epsilon spent until then, in an expander."""
    table = st.expander("The numbers in the charts", key="evaluations", on_change="rerun")
    if not table.open:
        return
    columns: dict[str, list[object]] = {
        name: []
        for name in ("run", "sigma", "step", "epoch", "accuracy", "loss", f"epsilon, {titled(accountant)}", "id")
    }
    for place, each in enumerate(watched):
        label = f"{place + 1}: {each.label}" if len(watched) > 1 else each.label  # as on the charts
        tests = each.history.evaluated
        spent = each.epsilons(accountant, [test.step for test in tests]) or [None] * len(tests)
        sigma = each.config.sigma if each.config.private else None
        for test, epsilon in zip(tests, spent, strict=True):
            row = (label, sigma, test.step, test.epoch, test.accuracy, test.loss, epsilon, each.run.id)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    averaged = [test.averaged_accuracy for each in watched for test in each.history.evaluated]
    if any(each is not None for each in averaged):
        columns["averaged accuracy"] = [*averaged]
    table.dataframe(columns, hide_index=True)
    if any(each.run.active for each in watched):
        table.caption("Up to the latest test when this was opened: open it again for the tests since.")


def evaluations_download(store: Store, watched: Sequence[Watched], accountant: str) -> None:
    """A button for every test of the runs as CSV, up to the latest when it is pressed, with the runs' settings."""
    link = address()

    def columns() -> Columns:
        try:
            now = watched_runs(store, [each.run.id for each in watched])
        except UnknownRun:  # the store has one of them no longer: what was shown of it can still be kept
            now = watched
        return evaluations_columns(now, accountant, link)

    csv_button("Download the runs (CSV)", columns, f"{file_of('tests', watched)}.csv", "download_runs")


def seed_summaries(watched: Sequence[Watched]) -> None:
    """Say what each configuration with several seeds reached; nothing of one that still goes on, or was imported."""
    groups: dict[RunConfig, list[Watched]] = {}
    for each in [each for each in watched if not each.run.imported]:
        groups.setdefault(replace(each.config, seed=None), []).append(each)
    for config, group in groups.items():
        seeds = {_seed(each.run, each.config) for each in group}
        finals = {  # a seed that ran twice counts once
            _seed(each.run, each.config): each.history.finished for each in group if each.history.finished
        }
        if len(finals) < 2 or any(each.run.active for each in group):
            continue
        early = len(seeds) - len(finals)
        left_out = f" Left out, for it did not finish: {early} of {len(seeds)} seeds." if early else ""
        st.markdown(f"**{described(config)}** · {in_words(list(finals.values())).replace(chr(10), '; ')}.{left_out}")


def _seed(run: Run, config: RunConfig) -> int | str:
    """What tells the run's seed from others: a secret one is the run's own."""
    return run.id if config.seed is None else config.seed
