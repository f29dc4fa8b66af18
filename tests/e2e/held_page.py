"""Fields of a setting on a page whose run lasts as long as a file is there: a newer request then
breaks it off.
"""

import os
import time
from pathlib import Path

import streamlit as st

from pages.parts.controls.setting_form import setting_in
from pages.parts.controls.url_state import note_arrival, replaced_values

LOOK = 0.01  # seconds


def run(home: Path) -> None:
    """Draw the fields, add a byte to the file `drawn` of the home, and stay while there is a file `hold`."""
    note_arrival("held")
    st.title("Held")
    setting_in(st.container(), st.container())
    st.button("Something else")
    with (home / "drawn").open("a") as drawn:
        drawn.write(".")
    while (home / "hold").exists():
        time.sleep(LOOK)
        st.session_state.get("nothing")  # Streamlit looks for a newer request here


if __name__ == "__main__":
    with replaced_values():
        run(Path(os.environ["DPCORE_HOME"]))
