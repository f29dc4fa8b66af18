"""The app: `streamlit run app.py`."""

from pages.parts.shell.menu import menu

menu().run()
