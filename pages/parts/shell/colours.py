"""The colours of `dpcore/figures/roles.toml` as variables of CSS."""

from dpcore.figures.style import COLOURS, THEMES


def css_colours() -> str:
    """The rule that gives each colour its name; those of a theme follow light and dark paper.

    >>> "--link: light-dark(#" in css_colours()
    True
    """
    values = [f"--{name}: {color}" for name, color in COLOURS.items()]
    for name, (light, dark) in THEMES.items():
        values.append(f"--{name}: light-dark({light}, {dark})")
    return f":root {{{'; '.join(values)}}}"
