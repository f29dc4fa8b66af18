"""Fields of a setting on a page whose run lasts as long as a file is there: a newer request then
breaks it off.
"""

import os
import time
from pathlib import Path

import streamlit as st

from pages.parts.controls.setting_form import setting_in
from pages.parts.controls.url_state import note_arrival, replaced_values

HOME = Path(os.environ["DPCORE_HOME"])
HOLD, DRAWN = HOME / "hold", HOME / "drawn"  # the second gets a byte with each run
LOOK = 0.01  # seconds

with replaced_values():
    note_arrival("held")
    st.title("Held")
    setting_in(st.container(), st.container())
    st.button("Something else")
    with DRAWN.open("a") as drawn:
        drawn.write(".")
    while HOLD.exists():
        time.sleep(LOOK)
        st.session_state.get("nothing")  # Streamlit looks for a newer request here
