"""The app with a paper of our own, whose one accuracy is trained within a second."""

from dataclasses import replace
from pathlib import Path

from dpcore.papers import PAPERS
from dpcore.papers.entry import Trained
from dpcore.papers.paper import Paper
from dpcore.training.config import RunConfig
from pages.parts.shell import menu

ROOT = Path(__file__).parents[2]
RUN = Trained("Table 1", "test accuracy, %", "90", config=RunConfig(batch=64, epochs=0.05, model="mlp", lr=0.25))

if __name__ == "__main__":  # as a script, and not where tests are collected
    PAPERS["999"] = Paper("999", "Own", "A paper of our own", "Nobody", "2026", "One small run.", entries=(RUN,))
    menu.PAGES = tuple(replace(page, file=str(ROOT / page.file)) for page in menu.PAGES)  # which do not lie beside this
    menu.menu().run()
