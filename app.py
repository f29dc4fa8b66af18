"""The app: `streamlit run app.py`."""

from pages.parts.shell import threads  # noqa: F401  # first: it decides how NumPy is loaded
from pages.parts.shell.menu import menu

menu().run()
