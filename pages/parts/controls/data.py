"""What would be trained on: a data set that is here, or any other number of examples, which is only
accounted for.
"""

import math
from contextlib import suppress
from typing import NamedTuple

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dpcore.data.catalogue import DATASETS, available
from dpcore.training.settings import SETTINGS
from dpcore.training.slider_stops import show
from pages.parts.controls.fields import Fields, Options, read
from pages.parts.controls.mechanism import N
from pages.parts.controls.presets import SHOWN
from pages.parts.controls.url_state import fill, from_link
from pages.parts.shell.streamlit_internals import restoring

OTHER = "other"


class Data(NamedTuple):
    """A data set and its source; for other data what settings start from stands in their place."""

    dataset: str
    source: str
    n: int
    here: bool = True  # whether it can be trained on here


def data_in(fields: Fields) -> Data:
    """What the fields say of the data."""
    dataset = fields.choice(_datasets())
    if dataset == OTHER:
        first = _datasets().names[0]
        return Data(first, _sources(first)[0], int(fields.number(N)), here=False)
    counted = lambda source: f"{source}, {DATASETS[dataset].examples(source):,}"  # noqa: E731
    source = fields.choice(Options("source", SETTINGS["source"].label, _sources(dataset), counted))
    return Data(dataset, source, DATASETS[dataset].examples(source))


def data_of(n: int, dataset: str, source: str) -> tuple[str, str]:
    """The data set and the source that have n examples: of the same data set, or other data.

    >>> data_of(10_000, "mnist", "full"), data_of(123, "mnist", "sample")
    (('mnist', 'sample'), ('other', 'sample'))
    """
    sources = available(dataset) if dataset in DATASETS else ()
    fitting = [each for each in sources if DATASETS[dataset].examples(each) == n]
    return (dataset, source if source in fitting else fitting[0]) if fitting else (OTHER, source)


def nearest_here(n: int) -> Data:
    """The data here whose number of examples is nearest to n."""
    every = [
        (name, source, DATASETS[name].examples(source))
        for name in DATASETS
        for source in _sources(name)
    ]
    return Data(*min(every, key=lambda each: abs(math.log(each[2] / n))))


def choose(n: int) -> None:
    """Let the page that trains next choose data of n examples: of the data set it has shown, or of
    another; if any.
    """
    session = st.session_state
    names = [each for each in DATASETS if available(each)]
    shown = [each for each in names if each == session.get("dataset")]
    source = session.get("source", _sources(names[0])[0])
    fitting = [
        found for each in (*shown, *names) if (found := data_of(n, each, source))[0] != OTHER
    ]
    dataset, source = fitting[0] if fitting else (OTHER, source)
    fill({"dataset": dataset, "source": source})


def follow_number() -> None:
    """Choose the data that have as many examples as are asked for, where another number was shown
    last.

    The number of examples follows from the data. Where it was asked for instead, by a link, a
    preset or another page, the data follow from it. Before the fields are read.
    """
    session, names = st.session_state, _datasets().names
    if restoring():  # the address says what all of the controls are
        for key in ("n", "dataset", SHOWN):
            session.pop(key, None)
    first = SHOWN not in session
    asked = session.get("n", _linked("n"))
    named = session.get("dataset", _linked("dataset") if first else None)
    if asked is None or named == OTHER or (first and named in names):
        return
    try:
        n = int(read(N, asked))
    except ValueError:  # the field says so
        n = session.get(SHOWN, 0)
    if n != session.get(SHOWN) or named not in names:
        dataset, source = data_of(
            n, names[0] if named is None else named, session.get("source", "sample")
        )
        fill({"dataset": dataset, "source": source})


def note_number(data: Data) -> None:
    """Let the number of examples say what the data say, here and on pages that ask for it; once the
    data are drawn.
    """
    st.session_state[SHOWN] = data.n
    if data.here:
        fill({"n": show(data.n)})
        # Where its field was drawn before, the field has to tell the address.
        with suppress(StreamlitAPIException):
            st.query_params.pop("n", None)


def _linked(key: str) -> str | None:
    return [None, *from_link(key)][-1]


def _sources(dataset: str) -> tuple[str, ...]:
    """The sources that can be loaded, the one to start from first."""
    return tuple(reversed(available(dataset)))


def _datasets() -> Options:
    names = (*(name for name in DATASETS if available(name)), OTHER)
    title = lambda name: "other n" if name == OTHER else DATASETS[name].title  # noqa: E731
    return Options("dataset", SETTINGS["dataset"].label, names, title)
