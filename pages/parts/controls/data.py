"""The data to train on: a data set that is here, or any number of examples, only accounted for."""

import math
from contextlib import suppress
from typing import NamedTuple

import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.training.settings import SETTINGS
from dpcore.training.slider_stops import show
from pages.parts.controls.fields import Fields, Options, read
from pages.parts.controls.mechanism import N
from pages.parts.controls.presets import SHOWN
from pages.parts.controls.url_state import page_text, write
from pages.parts.shell.streamlit_internals import restoring

OTHER = "other"


class Data(NamedTuple):
    """A data set and its source; other data have those from which settings start in their place."""

    dataset: str
    source: str
    n: int
    here: bool = True  # whether it can be trained on here


def data_in(fields: Fields) -> Data:
    """The data in the fields."""
    dataset = fields.choice(_datasets())
    if dataset == OTHER:
        first = _datasets().names[0]
        return Data(first, _sources(first)[0], int(fields.number(N)), here=False)

    def counted(source: str) -> str:
        return f"{source}, {DATASETS[dataset].examples(source):,}"

    source = fields.choice(Options("source", SETTINGS["source"].label, _sources(dataset), counted))
    return Data(dataset, source, DATASETS[dataset].examples(source))


def data_of(n: int, dataset: str, source: str) -> tuple[str, str]:
    """The data set and the source that have n examples: of the same data set, or other data.

    >>> data_of(10_000, "mnist", "full"), data_of(123, "mnist", "sample")
    (('mnist', 'sample'), ('other', 'sample'))
    """
    sources = available(dataset) if dataset in DATASETS else ()
    fitting = [each for each in sources if DATASETS[dataset].examples(each) == n]
    if not fitting:
        return OTHER, source
    if source in fitting:
        return dataset, source
    return dataset, fitting[0]


def nearest_here(n: int) -> Data:
    """The data here whose number of examples is nearest to n."""
    every = []
    for name, dataset in DATASETS.items():
        every += [Data(name, each, dataset.examples(each)) for each in _sources(name)]
    return min(every, key=lambda data: abs(math.log(data.n / n)))


def choose(n: int) -> None:
    """Choose data of n examples for the page that trains next, if any.

    The data set that it has shown comes before the others.
    """
    session = st.session_state
    names = _datasets().names
    dataset = OTHER
    source = session.get("source", _sources(names[0])[0])
    for name in (session.get("dataset", OTHER), *names):
        if dataset == OTHER:
            dataset, source = data_of(n, name, source)
    write({"dataset": dataset, "source": source})


def follow_number() -> None:
    """Choose data with the number of examples asked for, if another number was shown last.

    The number of examples follows from the data. Where it was asked for instead, by a link, a
    preset or another page, the data follow from it. Before the fields are read.
    """
    # Where the reader went back, the address has the values of all controls.
    shown = None if restoring() else st.session_state.get(SHOWN)
    asked = page_text("n", "")
    named = page_text("dataset", "")
    if not asked or named == OTHER or (named and shown is None):
        return
    n = shown or 0
    with suppress(ValueError):  # the field says so
        n = int(read(N, asked))
    if n != shown or not named:
        first = _datasets().names[0]
        dataset, source = data_of(n, named or first, page_text("source", "sample"))
        write({"dataset": dataset, "source": source})


def note_number(data: Data) -> None:
    """Set the number of examples to that of the data, for all pages; once the data are drawn."""
    st.session_state[SHOWN] = data.n
    if data.here:
        write({"n": show(data.n)})


def _sources(dataset: str) -> tuple[str, ...]:
    """The sources that can be loaded, the one to start from first."""
    return tuple(reversed(available(dataset)))


def _datasets() -> Options:
    names = (*(name for name in DATASETS if available(name)), OTHER)
    return Options("dataset", SETTINGS["dataset"].label, names, _titled)


def _titled(dataset: str) -> str:
    return "other n" if dataset == OTHER else DATASETS[dataset].title
