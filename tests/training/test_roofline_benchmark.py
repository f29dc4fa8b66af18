"""The command that says how fast a private step of the mlp can be at least: its bound follows from its parts."""

import doctest

import pytest

from tests.benchmarks import roofline
from tests.benchmarks.roofline import AMOUNTS, VECTORS, WANTED, Parts, table
from tests.benchmarks.training import WORK, contenders

PARTS = Parts(words=0.5, functions=1.0, product=3.0, vector=0.1)


def test_a_bound_is_the_plain_step_and_all_that_has_to_be_done_beyond_it():
    rows = {name: {"ms": 12.0} for name in WANTED} | {"non-private": {"ms": 10.0}}
    found = table(PARTS, rows)
    assert found["dpcore"]["at least"] == pytest.approx(1.15)
    assert found["dpcore pi_adam"]["at least"] == pytest.approx(1 + (1.5 + 3.0 + 0.7) / 10)
    assert found["dpcore adadp"]["at least"] == pytest.approx(1 + (1.5 + 3.0 + 0.5) / 10)
    assert [row["verdict"] for row in found.values()] == ["cannot be reached here", "reached", "reached"]


def test_every_contender_is_one_that_is_measured_and_every_part_has_an_amount():
    assert WANTED.keys() == VECTORS.keys() <= contenders(*WORK["mlp-600"], with_opacus=False).keys()
    assert AMOUNTS.keys() == set(Parts._fields)


def test_the_parts_are_those_of_the_network():
    assert roofline.NUMBERS == 795_010
    assert AMOUNTS["vector"] == "3.2 MB"
    assert AMOUNTS["product"] == "0.94 GFLOP"


def test_what_its_docstrings_show_is_so():
    assert doctest.testmod(roofline).failed == 0
