"""The four places where noise can go when a model is learnt, the methods that put it there, and their picture."""

from typing import NamedTuple

import streamlit as st

from pages.parts.components.elements import places_picture
from pages.parts.controls.faults import say_unknown, unknown
from pages.parts.controls.url_state import keep, recall_ids, write_ids
from pages.parts.shell.streamlit_internals import uninterrupted

HIDDEN = "can tell which row was there no better than epsilon and delta allow"


class Place(NamedTuple):
    """A place, the methods that put noise there, and two sentences: what is noised, and who is protected and when."""

    id: str
    title: str
    method: str  # what it is called, under the picture
    methods: tuple[str, ...]
    said: str


PLACES = (
    Place(
        "data",
        "the data",
        "input perturbation",
        ("input", "paper_input"),
        "Every row gets noise on each of its features before anybody learns from it; by the local method its label may "
        "be flipped, too, and each person is protected even from those who learn, while the paper's own formula does "
        "neither. The theorem is that of the Gaussian mechanism for a row alone, so it asks for rows of bounded length "
        "and nothing of the model; its noise is by far the largest.",
    ),
    Place(
        "objective",
        "the objective",
        "objective perturbation",
        ("objective",),
        "A random slope is added once to what is minimised, and the minimiser is published: whoever sees the model "
        f"{HIDDEN}. The theorem asks for a convex and smooth loss, a Hessian of rank one for each row, and a minimiser "
        "that is exact or whose error is paid for.",
    ),
    Place(
        "gradient",
        "each gradient",
        "gradient perturbation",
        ("gradient", "bassily"),
        "Every step of the descent gets noise of its own, so each model on the way may be published as well as the "
        f"last, if it is rounded as that is here: whoever sees them {HIDDEN}. The theorem asks only for gradients of "
        "bounded length, by the loss itself or by clipping, and so it is the one that covers networks.",
    ),
    Place(
        "result",
        "the result",
        "output perturbation",
        ("output",),
        "Learning goes on without noise, which is added once to the parameters where it ends: whoever sees only the "
        f"published model {HIDDEN}. The theorem asks for a convex and smooth loss and for step sizes fixed beforehand; "
        "without them nothing bounds how far one row can move the end.",
    ),
)
BY_ID = {place.id: place for place in PLACES}
PLACE = "place"  # in the session, and in the address
PICTURE = "places_picture"
IDS = tuple(BY_ID)
UNCHOSEN = (
    "Private learning adds noise at one of four places. Press one: what is noised there, who is protected, and what "
    "its theorem needs is said here, and its methods are picked out in the charts."
)


def chosen_place() -> Place | None:
    """Draw the picture, and say of the chosen place what is noised, who is protected, and what the theorem asks for."""
    strange = unknown(PLACE, IDS)
    recall_ids(PLACE, IDS, [])
    chosen = st.session_state[PLACE][:1]
    write_ids(PLACE, chosen, [])
    keep(PLACE, chosen)
    say_unknown(PLACE, strange, IDS, chosen)
    place = BY_ID[chosen[0]] if chosen else None
    shown = [{"id": each.id, "title": each.title, "method": each.method} for each in PLACES]
    label = "Where noise can go: " + ", ".join(f"{each.title} ({each.method})" for each in PLACES)
    ends = {"first": "people's rows", "last": "published model"}
    data = {"label": label, "chosen": place.id if place else "", "places": shown, **ends}
    places_picture(data, key=PICTURE, pressed=choose_pressed)
    st.markdown(f"**Noise on {place.title}: {place.method}.** {place.said}" if place else UNCHOSEN)
    return place


@uninterrupted
def choose_pressed() -> None:
    """Choose the place that was pressed in the picture; pressed again, it is chosen no more."""
    pressed = st.session_state[PICTURE].get("pressed")
    if pressed in BY_ID:
        st.session_state[PLACE] = [] if st.session_state.get(PLACE) == [pressed] else [pressed]
