"""A chart that shows a setting: its picture, saved, says which one."""

import plotly.graph_objects as go

from pages.parts.components.live_chart import Preview, live_chart
from pages.parts.results.export_origin import Origin
from pages.parts.shell.present import SMALL


def chart(figure: go.Figure, key: str, alt: str, title: str, origin: Origin | None, preview: Preview = None) -> None:
    """Draw a figure; what a reader saves of it has the title, the settings and their link, and is named after them.

    Without an origin, where nothing is accounted for, it has the title alone. `preview` is as in `live_chart`.
    """
    name = title.lower().replace(" ", "-")
    words, file = (f"{title}\n{origin.words}", origin.file(name)) if origin else (title, name)
    live_chart(figure, [], key=key, alt=alt, title=words, file=file, config=SMALL, preview=preview)
