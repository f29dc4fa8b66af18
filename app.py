"""The app: `streamlit run app.py`."""

from pages.parts.menu import menu

menu().run()
