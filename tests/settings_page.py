"""docs/settings.md, made from the table of settings: python -m tests.settings_page writes it."""

from pathlib import Path

from dpcore.commands.train import option
from dpcore.training.settings import SETTINGS, Setting

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings of a run

`python -m tests.settings_page` writes this page from the table in `dpcore/training/settings.py`. The default is the
value of a setting that is not named. `train` and the pages start from settings that suit data set, model and optimizer
(`dpcore/training/defaults.py`). The command line refuses an option that would change nothing.
`python -m dpcore train --help` lists the ids of data sets, models, optimizers and all else from a registry.

| setting | option | what it is | range | unit | default | only with | since |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(line(name, setting) for name, setting in SETTINGS.items())


def line(name: str, setting: Setting) -> str:
    """A setting's row."""
    typed = "--non-private" if name == "private" else option(name)
    default = "secret" if setting.default is None else setting.default
    words = (setting.help, setting.range, setting.unit)
    needed = " and ".join(need.words for need in setting.needs)
    cells = (f"`{name}`", f"`{typed}`", *words, f"`{default}`", needed, setting.since)
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
