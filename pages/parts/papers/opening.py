"""Links that open a paper's settings on other pages, and names of its parts in the address."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.papers.comparison import Comparison
from dpcore.papers.entry import PrintedSetting, Trained
from dpcore.papers.records import trainable
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults, usual_of
from dpcore.training.models import models_for
from dpcore.training.slider_stops import show
from pages.parts.components.elements import FRAME, text_sent
from pages.parts.controls.data import OTHER, data_of
from pages.parts.controls.fields import text_of
from pages.parts.page_change import load
from pages.parts.shell import menu
from pages.parts.shell.menu import ON, PRESENT_MODE, presenting
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.form import (
    clip_norm_of,
    learning_rate_of,
    plain_method,
)

Thing = TypeVar("Thing")
PLAIN = {"sampling": "batch", "length": "epochs"}
NO_CONTROL = ("private", "device", "rate_constant")


def links(comparison: Comparison) -> str:
    """Return links as HTML that open an entry's setting on other pages; "" if there are none."""
    if menu.SEEN not in st.session_state:
        return ""
    entry = comparison.entry
    what = f"{entry.quantity}, {entry.place}"
    run = None
    if isinstance(entry, Trained) and entry.config.private:
        run = trainable(entry.config)
    if entry.setting is None:
        return link_of_run(run, what) if run else ""
    setting = fields_of(entry.setting)
    ways = []
    for page in menu.PAGES:
        if not page.has_controls:
            continue
        fields = setting
        if run and page == menu.LAB:
            fields = fields_of_run(run)
        ways.append(_link(page, fields, what))
    return " ".join(ways)


def link_of_run(config: RunConfig, what: str) -> str:
    """Return a link as HTML to a run's settings in the Lab; "" without other pages."""
    if menu.SEEN not in st.session_state:
        return ""
    return _link(menu.LAB, fields_of_run(config), what)


def by_name(titles: Sequence[str], things: Sequence[Thing]) -> dict[str, Thing]:
    """Return things by their names in the address: titles, with letters where several share one.

    >>> [*by_name(["Figure 5 (1)", "Table 2", "Table 2"], [1, 2, 3])]
    ['figure-5-1', 'table-2-a', 'table-2-b']
    """
    plain = [re.sub("[^a-z0-9]+", "-", title.lower()).strip("-") for title in titles]
    named: dict[str, Thing] = {}
    for place, (name, thing) in enumerate(zip(plain, things, strict=True)):
        if plain.count(name) > 1:
            before = plain[:place].count(name)
            name = f"{name}-{chr(ord('a') + before)}"
        named[name] = thing
    return named


def fields_of(setting: PrintedSetting) -> dict[str, str]:
    """Return the fields of the controls at a setting, as texts by their names in the address."""
    dataset, source = data_of(setting.n, setting.dataset, "full")
    fields = {"dataset": dataset}
    if dataset != OTHER:
        fields["source"] = source
    fields |= plain_method() | PLAIN
    for name in ("n", "batch", "sigma", "epochs", "delta", "clip_norm", "optimizer", "schedule"):
        fields[name] = text_of(getattr(setting, name))
    if dataset != OTHER:
        fields["model"] = models_for(dataset)[-1]
        usual = defaults(dataset, fields["model"], setting.optimizer, source)
        fields[clip_norm_of(usual).key] = fields["clip_norm"]
    if setting.schedule != "constant":
        fields[f"rate_{setting.schedule}"] = show(setting.rate)
    return fields


def fields_of_run(config: RunConfig) -> dict[str, str]:
    """Return the fields of the Lab at a run's settings, as texts by their names."""
    fields = {name: text_of(value) for name, value in config.to_json().items()}
    usual = usual_of(config)
    fields[clip_norm_of(usual).key] = fields.pop("clip_norm")
    fields[learning_rate_of(usual).key] = fields.pop("lr")
    fields[f"rate_{config.schedule}"] = fields.pop("rate")
    if config.acceptance != "sa":
        del fields["public"]  # the field starts from what a choice of it needs
    if config.seed is not None:
        fields["seed"] = str(config.seed)  # with all its digits
    fields = plain_method() | PLAIN | fields
    if config.source not in available(config.dataset):
        fields |= {"dataset": OTHER, "n": show(DATASETS[config.dataset].examples(config.source))}
    return {name: text for name, text in fields.items() if name not in NO_CONTROL}


@uninterrupted
def open_link() -> None:
    """Set the controls to the clicked link's settings, and ask for its page. As a callback."""
    address = urlsplit(text_sent(FRAME, "opened"))
    name = address.path.removeprefix("./")
    ours = address.path and not address.netloc
    addresses = [page.address for page in menu.PAGES if page.has_controls]
    if ours and name in addresses:
        fields = dict(parse_qsl(address.query, keep_blank_values=True))
        fields.pop(PRESENT_MODE, None)
        load(fields, menu.page_at(name).file)


def _link(page: menu.Page, query: Mapping[str, str], what: str) -> str:
    asked = dict(query)
    if presenting():
        asked[PRESENT_MODE] = ON
    address = escape(f"{page.address or './'}?{urlencode(asked)}")
    label = escape(f"{page.title}: open {what}")
    return (
        f'<a href="{address}" target="_self" data-opens'
        f' aria-label="{label}">{escape(page.title)}</a>'
    )
