"""The picture of the four places, and the one that the reader has chosen in it."""

import streamlit as st

from pages.parts.components.elements import places_picture
from pages.parts.controls.faults import say_unknown, unknown
from pages.parts.controls.url_state import keep, recall_ids, write_ids
from pages.parts.perturbation.places import BY_ID, PLACES, Place
from pages.parts.shell.streamlit_internals import uninterrupted

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
