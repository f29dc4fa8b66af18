"""The app: `streamlit run app.py`.

Streamlit reads this file twice: the server imports it and finds `app`, and each visit runs it as a
script.
"""

import streamlit as st

from pages.parts.classroom import classroom
from pages.parts.controls.url_state import replaced_values
from pages.parts.first_paint import FIRST_PAINT
from pages.parts.former_page import FORMER_PAGE
from pages.parts.layout import throttle
from pages.parts.serving.routes import routes
from pages.parts.shell.menu import menu
from pages.parts.shell.streamlit_internals import load_early, send_at_once
from pages.parts.visitors import middleware

if __name__ == "__main__":
    page = menu()
    classroom()
    with throttle(), replaced_values():
        page.run()
else:
    send_at_once()
    load_early()
    app = st.App("app.py", routes=[FIRST_PAINT, FORMER_PAGE, *routes()], middleware=middleware())
