"""The app: `streamlit run app.py`.

Streamlit reads this file twice: the server imports it and finds `app`, and each visit runs it as a script.
"""

import streamlit as st

from pages.parts.serving.routes import routes
from pages.parts.shell.menu import menu

if __name__ == "__main__":
    menu().run()
else:
    app = st.App("app.py", routes=routes())
