"""docs/api.md, made from the public names of dpcore: python -m tests.api_page writes it."""

import doctest
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dpcore

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
HEAD = """# The library

`python -m tests.api_page` writes this page from the names that `import dpcore` gives. `pip install .` is enough for all of them but
`train`, which needs `pip install '.[train]'`. The examples begin with `from dpcore import *`; tests run them.

Letters: `q` is the sampling rate, `sigma` the noise multiplier (standard deviation of the noise over the clipping norm), `steps` the
number T of releases, `alpha` and `beta` an attacker's type I and type II error. n and q are taken as public: both neighbouring data
sets share one q.

```python
from dpcore import *
```
"""
GROUPS = {
    "What is released": ("Mechanism", "Release", "Recipe"),
    "Beside the steps": ("Laplace", "DiscreteGaussian", "Guarantee", "Concentrated"),
    "What it costs": ("epsilon", "delta", "advantage", "beta", "tradeoff", "Reading"),
    "What a budget allows": ("calibrate_sigma", "calibrate_steps", "calibrate_batch"),
    "Claims and training": ("judge", "train", "RunConfig"),
    "In your own training": ("follow",),
    "Registries": ("ACCOUNTANTS", "SAMPLERS"),
}
ACCOUNTANTS = """The accountants by id: `ACCOUNTANTS["rdp"].curve(mechanism, steps, delta)` is epsilon (n,) after each of (n,)
numbers of steps, at one delta. Errors: KeyError for another id; ValueError that names the argument.

```python
>>> curve = ACCOUNTANTS["rdp"].curve(Mechanism.constant(q=0.01, sigma=4.0, steps=100), [10, 100], 1e-5)
>>> curve.epsilon.shape, str(curve.kind)
((2,), 'upper')

```
"""
SAMPLERS = """The ways of drawing batches by id: `SAMPLERS["shuffle"].curve(q, sigma, steps, delta)` has `lower` and `epsilon` (n,)
after each of (n,) numbers of steps, at one delta. Errors: KeyError for another id; ValueError that names the argument.

```python
>>> SAMPLERS["fixed_order"].curve(q=0.1, sigma=2.0, steps=[40], delta=1e-5).epsilon.round(2).tolist()
[4.38]

```
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, names in GROUPS.items():
        parts.append(f"\n## {title}\n")
        for name in names:
            parts.append(f"\n### `{name}`\n\n{section(name)}")
    return "".join(parts)


def section(name: str) -> str:
    """What the page says of one name."""
    if name == "ACCOUNTANTS":
        rows = [(each.name, each.title, each.kind, each.source) for each in accountants()]
        return f"{ACCOUNTANTS}\n{table(('id', 'title', 'kind', 'source'), rows)}"
    if name == "SAMPLERS":
        rows = []
        for each in dpcore.SAMPLERS.values():
            rows.append((each.form or each.name, each.title, each.adjacency, each.source))
        return f"{SAMPLERS}\n{table(('id', 'title', 'neighbours', 'source'), rows)}"
    found = getattr(dpcore, name)
    return f"```python\n{signature(name, found)}\n```\n\n{words(inspect.getdoc(found) or '')}"


def accountants() -> Iterable[Any]:
    return dpcore.ACCOUNTANTS.values()


def table(heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """A table whose first column are ids."""
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for name, *rest in rows:
        cells = [str(each).replace("|", "\\|") for each in rest]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def signature(name: str, found: Any) -> str:
    """The call of a name, one argument a line where it is long."""
    if name == "RunConfig":
        return "RunConfig(**settings)"
    given = inspect.signature(found)
    arguments = []
    for each in given.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        arguments.append(argument(each))
    end = ""
    if inspect.isfunction(found):
        end = f" -> {given.return_annotation!s}"
    whole = f"{name}({', '.join(arguments)}){end}"
    if len(whole) <= 100:
        return whole
    inside = "".join(f"    {each},\n" for each in arguments)
    return f"{name}(\n{inside}){end}"


def argument(given: inspect.Parameter) -> str:
    """An argument with its type and default."""
    kind = given.annotation
    if not isinstance(kind, str):
        kind = inspect.formatannotation(kind)
    kind = kind.replace("dpcore.privacy.mechanism.", "").replace("collections.abc.", "")
    default = "" if given.default is given.empty else f" = {given.default!r}"
    return f"{given.name}: {kind}{default}"


def words(text: str) -> str:
    """A docstring, with its examples as code."""
    said = []
    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, str):
            said.append(part)
        else:
            lines = part.source.splitlines()
            prompts = [f"... {line}" for line in lines]
            prompts[0] = f">>> {lines[0]}"
            said.append("\n".join(prompts) + "\n" + part.want)
    joined = "".join(said)
    start = joined.find(">>> ")
    if start < 0:
        return joined.rstrip() + "\n"
    return f"{joined[:start].rstrip()}\n\n```python\n{joined[start:].rstrip()}\n\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
