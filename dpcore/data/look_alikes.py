"""Names of classes that look the same, though their letters differ."""

import unicodedata
from collections.abc import Iterable

# Letters that are drawn like Latin ones: Cyrillic and Greek capitals, then small ones
FOREIGN = (
    "\u0410\u0412\u0415\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0405\u0422\u0423\u0425"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u043a\u043e\u0440\u051b\u0455\u0475\u051d\u0445\u0443"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7"
)
LATIN = "ABEIJKMHOPCSTYXABEZHIKMNOPTYXacdehijkopqsvwxyaikvopux"
DRAWN_LIKE = str.maketrans(FOREIGN, LATIN)


def skeleton(name: str) -> str:
    """Return a name without case, width and script: names with one skeleton look the same.

    >>> skeleton("C\u0430t"), skeleton("\uff43\uff41\uff54")
    ('cat', 'cat')
    """
    latin = unicodedata.normalize("NFKC", name).translate(DRAWN_LIKE)
    return " ".join(latin.casefold().split())


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of names that look the same, in order; none if all can be told apart.

    >>> look_alikes(["a", "b", "A"])
    [('a', 'A')]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(skeleton(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]
