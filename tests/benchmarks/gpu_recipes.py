"""Whole runs of recipes, as many as the time allows, for `tests.benchmarks.gpu`: the ladders first, then all others.

Whatever is left out, or fails, is named with the reason, and the others go on.
"""

import time
from collections.abc import Iterator, Mapping

from dpcore.papers.better_features.recipes import LADDERS, RECORD
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Preparing, Started, Stepped
from dpcore.training.loop import train
from tests.benchmarks.gpu_data import data_for
from tests.benchmarks.gpu_phases import Figures, Size
from tests.benchmarks.recipes import RECIPES, Recipe


def rungs() -> dict[str, Recipe]:
    """The recipes of both data sets at epsilon 3, those last whose features take the longest to compute."""
    found = {f"{each.place}, {rung.name}": rung.at(RECORD) for each in LADDERS for rung in each.rungs}
    ordered = sorted(found.items(), key=lambda item: item[1].views if item[1].features != "pixels" else 0)
    return {name: config.to_json() | {"seed": 0} for name, config in ordered}


def ladders(size: Size) -> Iterator[tuple[str, Figures]]:
    """One run of each recipe of the ladders."""
    return recipes(size, dict(list(rungs().items())[: size.rungs]))


def named_recipes(size: Size) -> Iterator[tuple[str, Figures]]:
    """One run of each recipe that has a name of its own."""
    return recipes(size, {name: RECIPES[name] for name in size.recipes})


def recipes(size: Size, named: Mapping[str, Recipe]) -> Iterator[tuple[str, Figures]]:
    """One run of each; one that takes more than its share of the time that is left is cut, and counts as left out."""
    end = time.perf_counter() + size.time
    for i, (name, recipe) in enumerate(named.items()):
        config = RunConfig(**(recipe | {"device": size.device}))
        share = (end - time.perf_counter()) / (len(named) - i)
        if share <= 0:
            yield name, {"done": False, "left out": "no time was left"}
            continue
        with data_for(config.source) as data:
            yield name, {**one_run(config, share), "data": data(config)}


def one_run(config: RunConfig, seconds: float) -> Figures:
    """Where a run gets within the time, the computing of features included."""
    figures = Figures(done=False, seconds=0.0)
    try:
        advance(config, seconds, figures)
    except Exception as error:  # whatever a driver may raise: the other recipes are to be tried
        return figures | {"failed": f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"}
    if not figures["done"]:
        figures["left out"] = f"it was not done in its share of the time, {seconds:.1f} s"
    return figures


def advance(config: RunConfig, seconds: float, figures: Figures) -> None:
    """Train until the end or until the time is over, and write down what is known so far."""
    start = time.perf_counter()
    for event in train(config):
        figures["seconds"] = time.perf_counter() - start
        if isinstance(event, Preparing):
            figures["features"] = f"{event.done:,} of {event.total:,} examples"
        if isinstance(event, Started):
            figures |= {"engine": event.engine, "seconds before the first step": figures["seconds"]}
            figures.pop("features", None)
        if isinstance(event, Stepped | Evaluated | Finished):
            figures["steps"] = event.step
        if isinstance(event, Evaluated | Finished):
            averaged = event.averaged_accuracy
            figures |= {"accuracy": event.accuracy} | ({} if averaged is None else {"averaged accuracy": averaged})
        figures["done"] = isinstance(event, Finished)
        if figures["seconds"] > seconds:
            break
