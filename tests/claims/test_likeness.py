"""Numbers without a name: held-out texts of texts.jsonl.xz, which the weights have not seen, and
what is marked.
"""

from fractions import Fraction
from typing import Any

from dpcore.claims.claim import values_of
from dpcore.claims.likeness import LEARNT, likeness
from dpcore.claims.reading import read_claim, read_text
from tests.claims.learn import fitted, numbers_of, texts

WORDS = {"add/remove": "add_remove", "replace": "replace_one", "prv": "pld"}
# Samplers that no expectation names, though a text may.
UNASKED = ("fixed_size", "random_allocation")


def wanted(value: Any) -> Any:
    """Return an expected value as the reader has it."""
    if not isinstance(value, str):
        return value
    return float(Fraction(value)) if value[0].isdigit() else WORDS.get(value, value)


def misread(text: str, expected: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the fields that are read otherwise than expected, each with both values; those in
    "may" may lack.
    """
    may = expected.get("may", ())
    want = {field: wanted(value) for field, value in expected.items() if field != "may"}
    got = {
        field: getattr(value, "value", value)
        for field, value in values_of(read_claim(text).claim).items()
    }
    got = {
        field: value
        for field, value in got.items()
        if field != "mechanism" and value not in UNASKED
    }
    return {
        field: (got.get(field), want.get(field))
        for field in {*got, *want}
        if not (field in may and (field not in got or field not in want))
        and not _same(got.get(field), want.get(field))
    }


def _same(got: Any, want: Any) -> bool:
    if isinstance(want, float | int) and isinstance(got, float | int):
        return abs(got - want) <= 1e-12 * abs(want)
    return got == want


def test_six_in_seven_of_the_texts_held_out_are_read_in_full() -> None:
    held = texts(held=True)
    wrong = [bad for each in held if (bad := misread(each["text"], each["expected"]))]
    assert len(held) >= 150
    assert len(wrong) <= len(held) / 7, wrong


def test_a_number_is_read_by_the_words_around_it_and_marked_so() -> None:
    text = "Our 38,000 letters were trained on for a while, with epsilon = 3 and delta = 1e-6."
    read = read_text(text)
    assert read.claim.examples == 38_000
    assert [
        each for each in read.left_out if "words around it" in each and "examples 38000" in each
    ]
    assert ("38,000", "examples") in [(part, each.field) for part, each in read.parts(text) if each]


def test_weights_of_a_few_texts_tell_these_apart() -> None:
    known = [
        (f"we drew {n} from all {10 * n} of them", {"batch": n, "examples": 10 * n})
        for n in range(20, 60)
    ]
    weights = fitted([numbers_of(*each) for each in known])
    batch, examples = LEARNT.index("batch"), LEARNT.index("examples")
    rows = [each.features for each in numbers_of("we drew 77 from all 770 of them", {})]
    scores = [weights[each].sum(0) / len(each) ** 0.5 + weights[-1] for each in rows]
    assert [int(each.argmax()) for each in scores] == [batch, examples]
    assert likeness([]).shape == (0, len(LEARNT))


def test_odd_numbers_are_read_at_once_and_where_they_stand() -> None:
    for text in (
        "1/0 gpus x 2 = 3",
        "2 gpus x 1e400 = 1e400",
        "1" * 39 + ("x" + "1" * 39) * 3 + " gpu",
        "5 \ud800 rows 7",
    ):
        assert not read_text(text).found, text
    for text, part in [
        ("1 234 567 records of training", "1 234 567"),
        ("8 GPUs x 4 x 16 accumulated = 512", "512"),
    ]:
        assert [text[each.start : each.end] for each in read_text(text).found] == [part]
