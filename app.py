"""The app: `streamlit run app.py`."""

from pages.parts import blas  # noqa: F401  # first: it decides how NumPy is loaded
from pages.parts.menu import menu

menu().run()
