"""Test accuracy of named recipes on the full data, over several seeds, beside what they cost.

python -m benchmarks.accuracy [RECIPE ...] [--seeds 3] [--device auto]

Each recipe's file in benchmarks/results/ holds the configuration, seeds, accuracies, their
mean and spread, and the certified epsilon; it is written anew after every seed, and goes on from
the seeds that it already has. Each seed names the commit that trained it: where random streams
changed since, it stands for another run of the same settings.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.counts import repeats
from benchmarks.recipes import RECIPES
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Stepped
from dpcore.training.loop import train
from dpcore.training.plan import plan
from dpcore.training.seed_summary import summary

RESULTS = Path(__file__).parent / "results"


def epsilons(config: RunConfig) -> dict[str, Any]:
    """What the run costs: the certified band, and the classic bound that the papers use."""
    mechanism = plan(config).mechanism
    if mechanism is None:
        return {"none": plan(config).unaccounted}
    steps = [mechanism.steps]
    band = ACCOUNTANTS["pld"].curve(mechanism, steps, config.delta)
    classic = ACCOUNTANTS["moments"].curve(mechanism, steps, config.delta)
    assert band.lower is not None
    return {
        "pld": float(band.epsilon[0]),
        "pld_lower": float(band.lower[0]),
        "moments": float(classic.epsilon[0]),
    }


def one(config: RunConfig) -> dict[str, Any]:
    """Train one seed; its figures."""
    start, accepted, final = time.perf_counter(), None, None
    for event in train(config):
        if isinstance(event, Stepped):
            accepted = event.accepted
        if isinstance(event, Evaluated):
            print(f"  seed {config.seed} epoch {event.epoch:.1f}: {event.accuracy:.4f}", flush=True)
        if isinstance(event, Finished):
            final = event
    assert final is not None
    return {
        "seed": config.seed,
        "commit": commit(),
        "accuracy": final.accuracy,
        "averaged_accuracy": final.averaged_accuracy,
        "accepted": accepted,
        "seconds": round(time.perf_counter() - start, 1),
    }


def commit() -> str:
    """The short name of the commit whose code this is."""
    told = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent
    )
    return told.stdout.strip()


def cells(done: dict[str, Any]) -> str:
    """The cells that a recipe's row in docs/benchmarks.md begins with; the band is rounded
    outwards.
    """
    figures = [done["accuracy"], done.get("averaged_accuracy")]
    accuracy, averaged = ("" if each is None else _percent(each) for each in figures)
    lower, upper = done["epsilon"]["pld_lower"], done["epsilon"]["pld"]
    band = f"{math.floor(1e3 * lower) / 1e3:.3f} to {math.ceil(1e3 * upper) / 1e3:.3f}"
    return f"| `{done['recipe']}` | {done['accuracy']['runs']} | {accuracy} | {averaged} | {band} |"


def _percent(figure: dict[str, float]) -> str:
    mean = f"{100 * figure['mean']:.2f} %"
    return mean if figure["runs"] == 1 else f"{mean} ± {100 * figure['spread']:.2f}"


def report(name: str, config: RunConfig, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The file's content."""
    figures = {"accuracy": summary([row["accuracy"] for row in rows])._asdict()}
    if config.ema:
        figures["averaged_accuracy"] = summary([row["averaged_accuracy"] for row in rows])._asdict()
    return {
        "recipe": name,
        "command": f"python -m benchmarks.accuracy {name} --seeds {len(rows)}",
        "torch": torch.__version__,
        "steps": plan(config).steps,
        "epochs_run": plan(config).steps * config.q,
        "epsilon": epsilons(config),
        **figures,
        "runs": rows,
        "config": config.to_json(),
    }


def measure(name: str, config: RunConfig, seeds: int) -> dict[str, Any]:
    """Train the seeds that the file does not have yet."""
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {"config": None}
    rows = before["runs"] if before["config"] == config.to_json() else []
    for seed in range(len(rows), seeds):
        rows.append(one(replace(config, seed=seed)))
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(report(name, config, rows), indent=1) + "\n")
    return report(name, config, rows)


def main() -> None:
    """Measure the recipes and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help="all of them if none is named")
    parser.add_argument("--seeds", type=repeats, default=3)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    for name in options.recipes or RECIPES:
        if name not in RECIPES:
            sys.exit(f"Expected RECIPE={name!r} to be one of: {', '.join(RECIPES)}.")
        config = RunConfig(**(RECIPES[name] | {"device": options.device}))
        print(f"{name}: {plan(config).steps} steps", flush=True)
        done = measure(name, config, options.seeds)
        print(
            f"{name}: {done['accuracy']} {done.get('averaged_accuracy', '')} {done['epsilon']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
