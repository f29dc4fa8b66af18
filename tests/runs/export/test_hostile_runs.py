"""Whatever is in a file, reading it gives a run or a ValueError in a sentence, soon and without much memory."""

import gzip
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from dpcore.runs.export.imported import read_run
from dpcore.runs.export.run_json import run_json
from dpcore.runs.export.typed_json import MOST_BYTES
from dpcore.runs.store import Store
from tests.runs.export.recorded_runs import trained

HOSTILE = {
    "empty": b"",
    "no text": b"\xff\xfe\x00",
    "cut off": b'{"format": "dpcore run", "ver',
    "a list": b"[]",
    "a number": b"1e999",
    "a number of a million digits": b'{"version": ' + b"9" * 1_000_000 + b"}",
    "not a number": b'{"version": NaN}',
    "infinity": b'{"version": -Infinity}',
    "nested a million deep": b"[" * 1_000_000,
    "objects nested a million deep": b'{"a":' * 1_000_000,
    "a key twice": b'{"format": 1, "format": "dpcore run"}',
    "a pickle": b"\x80\x04\x95.",
    "compressed": gzip.compress(b"x" * 10_000_000),
    "too large": b" " * (MOST_BYTES + 1),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=list(HOSTILE))
def test_what_is_no_exported_run_is_refused_in_a_sentence(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"^Expected the file to .*\.$") as caught:
        read_run(content)
    assert len(str(caught.value)) < 400


VALUES = (
    None,
    True,
    0,
    -1,
    10**400,
    1e308,
    1e-320,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [[0.0064, 1.0, 10**30]],
    "full",
    0.5,
)


@pytest.mark.long
def test_whatever_stands_in_one_place_of_a_file_the_answer_is_a_run_or_a_sentence(store: Store) -> None:
    whole = json.loads(run_json([trained(store).record]))
    chance, refused = random.Random(0), []
    places = [(holder, key) for holder, key in _places(whole)]
    assert len(places) > 100
    for holder, key in places:
        kept = holder[key]
        for value in chance.sample(VALUES, 4):
            holder[key] = value
            try:
                read_run(json.dumps(whole).encode())
            except ValueError as error:
                refused.append(str(error))
        holder[key] = kept
    assert len(refused) > 200
    assert [words for words in refused if not re.fullmatch("(Expected|No) [^\n]{1,500}", words)] == []


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything in a JSON value that can be replaced: (what holds it, its key)."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
