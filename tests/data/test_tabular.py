"""Tables of two classes: rows of norm at most 1 by constants alone, and a test part that depends on
no value.
"""

import numpy as np
import pytest

from dpcore.data.tabular import TABLES
from dpcore.data.tabular.columns import Category, Number, features_of, unit_rows
from dpcore.data.tabular.table import Problem, Rows, Table, parts_of

HERE = [name for name, table in TABLES.items() if not table.absent()]


def table_of(features: np.ndarray, labels: list[int]) -> Table:
    rows = Rows(features, np.array(labels))
    return Table("made", "Made", ("a", "b", "c"), features.shape[1], 1.0, "here", lambda: rows)


@pytest.mark.parametrize("name", HERE)
def test_every_table_makes_a_problem(name: str) -> None:
    table = TABLES[name]
    problem = table.problem()
    assert problem.features == table.features + 1
    norms = np.linalg.norm(problem.rows, axis=1)
    assert norms.max() <= 1
    assert norms.mean() > 0.5  # the bound is no larger than it needs to be
    assert 0.1 < (problem.labels > 0).mean() < 0.9


def test_a_row_is_scaled_alike_whatever_the_others_are() -> None:
    random = np.random.default_rng(0)
    columns = (Number("x", -1, 1), Number("y", 0, 100, log=True), Category("z", ("p", "q")))
    values = [random.normal(size=9), random.uniform(0, 200, size=9), ["p"] * 8 + ["unseen"]]
    whole = unit_rows(features_of(columns, values), 1.2)
    alone = unit_rows(features_of(columns, [each[-1:] for each in values]), 1.2)
    assert np.array_equal(whole[-1:], alone)
    assert features_of(columns, values)[-1, 2:].tolist() == [0, 0]


def test_long_rows_are_cut_and_short_ones_kept() -> None:
    rows = unit_rows(np.array([[3.0], [0.5]]), 2.0)
    assert 1 - 1e-12 < np.linalg.norm(rows[0]) <= 1
    assert rows[1].tolist() == [0.25, 0.5]
    random = unit_rows(np.random.default_rng(1).normal(size=(100_000, 30)), 1.0)
    assert np.linalg.norm(random, axis=1).max() <= 1


def test_the_test_part_depends_on_the_number_of_rows_alone() -> None:
    learnt, tested = parts_of(100)
    assert sorted([*learnt, *tested]) == list(range(100))
    assert len(tested) == 20
    assert tested[:5].tolist() == [26, 86, 2, 55, 75]  # never to change: figures rest on it
    learnt, tested = parts_of(5, np.array([3, 4]))
    assert (learnt.tolist(), tested.tolist()) == ([0, 1, 2], [3, 4])


def test_two_classes_are_taken_or_one_against_the_rest() -> None:
    labels = [place % 3 for place in range(60)]
    table = table_of(np.zeros((60, 2)), labels)
    pair, rest = table.problem(("c", "a")), table.problem(("b", "rest"))
    assert pair.examples + len(pair.test_labels) == 40
    assert rest.examples + len(rest.test_labels) == 60
    assert (rest.labels == 1).sum() + (rest.test_labels == 1).sum() == 20
    for wrong in (("a",), ("a", "a"), ("rest", "a"), ("a", "d")):
        with pytest.raises(ValueError, match="class"):
            table.problem(wrong)


def test_one_class_only_and_features_that_are_not_finite_are_a_sentence() -> None:
    with pytest.raises(ValueError, match="there is one only"):
        table_of(np.zeros((20, 2)), [0] * 20).problem(("a", "b"))
    with pytest.raises(ValueError, match="at least 2 rows to learn from"):
        table_of(np.zeros((20, 2)), [2] * 20).problem(("a", "b"))
    for value in (np.nan, np.inf):
        features = np.zeros((20, 2))
        features[3, 1] = value
        with pytest.raises(ValueError, match=r"1 of (16|4) rows have a missing or infinite one"):
            table_of(features, [0, 1] * 10).problem(("a", "b"))


def test_rows_beyond_the_unit_ball_are_refused() -> None:
    rows, labels = np.full((4, 2), 0.8), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="norm at most 1"):
        Problem(rows, labels, rows, labels)
    with pytest.raises(ValueError, match="labels of -1 and"):
        Problem(rows / 2, labels + 1, rows / 2, labels)


def test_a_number_that_is_not_finite_is_not_cut_to_the_range() -> None:
    assert np.isnan(Number("x", 0, 1).features([np.inf, -np.inf, np.nan])).all()
    assert np.isnan(Number("x", 0, 1, log=True).features(["inf", "many", ""])).all()
    assert Number("x", 0, 1).features(["7", "-7", "0.25"])[:, 0].tolist() == [1, -1, -0.5]
