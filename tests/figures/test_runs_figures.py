"""The charts of many runs: the front is that of the definition, and nothing in a name is markup."""

import itertools
import random

from dpcore.figures.runs import (
    FRONT,
    MAX_POINTS,
    MAX_WRITTEN,
    OTHERS,
    Cell,
    Outcome,
    confusion_figure,
    front,
    front_alt,
    front_figure,
    seen_bars,
    sweep_line,
)
from dpcore.privacy.mechanism import Kind


def outcomes(count: int, seed: int = 0) -> list[Outcome]:
    draw = random.Random(seed)
    return [
        Outcome(f"run {i}", round(draw.random(), 1), round(draw.random() * 5, 1) + 0.1)
        for i in range(count)
    ]


def traces(figure) -> dict[str, dict]:
    return {each["name"]: each for each in figure.to_dict()["data"]}


def test_the_front_holds_every_run_that_no_other_beats_and_no_other():
    for seed in range(20):
        runs = outcomes(30, seed)
        points = {(each.epsilon or 0.0, each.accuracy) for each in runs}
        best = [(each.epsilon or 0.0, each.accuracy) for each in front(runs)]
        beaten = {
            (x, y)
            for x, y in points
            for other in points
            if other != (x, y) and other[0] <= x and other[1] >= y
        }
        assert {*best} == points - beaten
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(best))


def test_a_point_lies_at_its_epsilon_and_its_bar_reaches_to_what_that_is_at_least():
    drawn = traces(front_figure([Outcome("a", 0.9, 2.0, 1.5)], "PLD"))[FRONT]
    assert (drawn["x"][0], drawn["y"][0]) == (2.0, 90.0)
    assert (drawn["error_x"]["array"][0], drawn["error_x"]["arrayminus"][0]) == (0.0, 0.5)


def test_runs_without_privacy_are_a_line_across_and_an_infinite_epsilon_is_no_point():
    figure = front_figure(
        [Outcome("a", 0.9, 2.0), Outcome("b", 0.97, None), Outcome("c", 0.99, float("inf"))], "PLD"
    )
    drawn = traces(figure)
    assert drawn["without privacy"]["y"] == [97.0, 97.0]
    low, high = figure.layout.xaxis.range
    assert drawn["without privacy"]["x"] == [low, high], "also where all runs have one epsilon"
    assert low < 2.0 == (low + high) / 2, "their column stands in the middle"
    wide = front_figure(
        [Outcome("a", 0.8, 0.1), Outcome("b", 0.9, 9.0), Outcome("c", 0.97, None)], "PLD"
    )
    assert wide.layout.xaxis.type == "log"
    low, high = traces(wide)["without privacy"]["x"]
    assert low < 0.1 < 9.0 < high
    assert len(drawn[FRONT]["x"]) + len(drawn[OTHERS]["x"]) == 1


def test_accuracy_axes_leave_room_and_start_at_zero_where_no_spread_is_known():
    low, high = front_figure(
        [Outcome("a", 0.96, 2.0), Outcome("b", 0.97, None)], "PLD"
    ).layout.yaxis.range
    assert high - low >= 20
    assert high > 100
    assert (
        sweep_line([Cell((1.0,), [0.7]), Cell((2.0,), [0.71])], "sigma").layout.yaxis.range[0] == 0
    )
    assert sweep_line([Cell((1.0,), [0.7, 0.72])], "sigma").layout.yaxis.range[0] > 40


def test_only_bars_that_are_seen_are_spoken_of():
    assert seen_bars([Outcome("a", 0.9, 2.0, 1.5)])
    for unseen in (Outcome("a", 0.9, 2.0, 1.99), Outcome("b", 0.9, 2.0), Outcome("c", 0.9, None)):
        assert not seen_bars([unseen])


def test_the_front_is_drawn_whole_and_the_rest_is_bounded():
    runs = [Outcome(f"{i}", 0.1, 1.0 + i) for i in range(2 * MAX_POINTS)] + [
        Outcome("best", 0.9, 9.0)
    ]
    drawn = traces(front_figure(runs, "PLD"))
    assert len(drawn[OTHERS]["x"]) == MAX_POINTS
    assert list(drawn[FRONT]["x"]) == [1.0, 9.0]
    assert [len(each["x"]) for each in front_figure([], "PLD").to_dict()["data"]] == [0, 0]
    assert "none yet" in front_alt([], "PLD")


def test_nothing_in_a_name_is_markup_beside_a_point_and_an_approximation_says_so():
    runs = [Outcome("<b>x</b><a href='//y'>z</a>" + "w" * 500, 0.9, 2.0, None, Kind.APPROXIMATE)]
    (text,) = traces(front_figure(runs, "CLT"))[FRONT]["text"]
    assert text.startswith("&lt;b&gt;x&lt;/b&gt;&lt;a href=")
    assert len(text) < 150
    assert text.endswith("epsilon ≈ 2.00")


def test_counts_of_many_classes_are_told_when_pointed_at_as_their_cells_have_no_room():
    for count, written in ((MAX_WRITTEN, "%{text}"), (100, "")):
        figure = confusion_figure(
            [f"class {place}" for place in range(count)], [[1] * count] * count
        )
        assert figure.data[0].texttemplate == written
        assert "%{text}" in figure.data[0].hovertemplate
        assert figure.layout.height == 80 + 32 * MAX_WRITTEN
