"""The app as it is served, but for its workers, which train with a double: its pool is begun here, before any page."""

import os

import streamlit as st

from dpcore.runs import pool
from dpcore.runs.record import state_directory
from dpcore.runs.store import Store
from pages.parts.serving.routes import routes
from pages.parts.visitors import middleware
from tests.runs.faults.killing import ROOT

pool.SPARE = 0.1
pool._pools[state_directory()] = pool.Pool(Store(), 2, os.environ["DOUBLE"]).start()
app = st.App(str(ROOT / "app.py"), routes=routes(), middleware=middleware())
