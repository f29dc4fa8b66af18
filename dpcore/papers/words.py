"""Texts and printed numbers of the papers, from `paper.toml` in each paper's folder.

A line break in a text is a space. A text may name computed numbers, as {sigma:g}.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpcore.papers.paper import Calculator, CheckedClaim, Quantity, Remark, Sweep, TextRows
from dpcore.privacy import words_in
from dpcore.training.config import RunConfig

Numbers = Mapping[str, object]  # by their names in a text
UNKNOWN = "Not recorded yet; the page Papers can train it."


def words_of(folder: str) -> dict[str, Any]:
    """Read a paper's `paper.toml`."""
    return words_in(Path(__file__).parent / folder / "paper.toml")


def with_numbers(texts: Mapping[str, Any], **numbers: object) -> dict[str, Any]:
    """Fill these numbers into the texts of a table."""
    return {
        name: each.format(**numbers) if isinstance(each, str) else each
        for name, each in texts.items()
    }


def findings(words: Mapping[str, Any], **computed: Callable[[], Any]) -> tuple[CheckedClaim, ...]:
    """Return the claims of a paper, each with what holds of it.

    The file has the text, and `computed` its numbers by name; or `computed` returns the whole text,
    if its sentences depend on the outcome.
    """

    def finding(texts: Mapping[str, str], own: Callable[[], Any]) -> CheckedClaim:
        return CheckedClaim(
            texts["claim"], (lambda: texts["holds"].format(**own())) if "holds" in texts else own
        )

    return tuple(
        finding(texts, computed.get(name, dict)) for name, texts in words["findings"].items()
    )


def remarks(words: Mapping[str, Any], **numbers: object) -> tuple[Remark, ...]:
    """Return the gaps and omissions of a paper, with these numbers in their texts."""
    return tuple(Remark(**with_numbers(each, **numbers)) for each in words["remarks"])


def calculator(
    texts: dict[str, Any], rows: Callable[[Mapping[str, float]], TextRows]
) -> Calculator:
    """Return a calculator with these rows."""
    asks, columns = (Quantity(**each) for each in texts["asks"]), texts["columns"]
    return Calculator(
        texts["place"], texts["title"], tuple(asks), tuple(columns), rows, texts["note"]
    )


def sweep(
    reference: RunConfig,
    *,
    setting: str,
    values: Sequence[float],
    along: Mapping[str, Sequence[float]] | None = None,
    **texts: str,
) -> Sweep:
    """Return a run for each value of a setting; `along` has the values of settings that follow it."""
    changes = {setting: values} | dict(along or {})
    rows = zip(*changes.values(), strict=True)
    configs = tuple(replace(reference, **dict(zip(changes, row, strict=True))) for row in rows)
    return Sweep(**texts, setting=setting, configs=configs, along=tuple(along or ()))
