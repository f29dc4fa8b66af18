"""The one way to a table in HTML, on the pages and in a notebook."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape


def html_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    kind: str = "",
    numbers: Collection[str] = (),
    explained: Mapping[str, str] = {},
) -> str:
    """A table under heads, which are plain texts or "", unless they are `explained` in HTML.

    Cells are HTML; the first of a row is its head. Each other cell carries its head, since a narrow
    screen shows a row as a block. Under some heads stand `numbers`; `kind` names a style.

    >>> html_table(["", "Epsilon"], [["PLD", "1.2"]]).partition("<tbody>")[2]
    '<tr><th scope=row>PLD</th><td data-label="Epsilon">1.2</td></tr></tbody></table>'
    """
    top = ""
    opened = []  # the beginning of each cell below a head
    for head in heads:
        look = " class=number" if head in numbers else ""
        shown = explained.get(head, escape(head))
        top += f"<th scope=col{look}>{shown}</th>" if head else "<td></td>"
        opened.append(f'<td{look} data-label="{escape(head)}">')
    body = ""
    for first, *rest in rows:
        body += f"<tr><th scope=row>{first}</th>"
        for begin, cell in zip(opened[1:], rest, strict=True):
            body += f"{begin}{cell}</td>"
        body += "</tr>"
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
