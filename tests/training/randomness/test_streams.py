"""No noise is used twice; it follows from a secret that nobody is shown unless a seed is fixed."""

import dataclasses

import numpy as np
import pytest
import torch

from dpcore.training.config import RunConfig
from dpcore.training.events import Stepped
from dpcore.training.loop import train
from dpcore.training.plan import plan
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.randomness.streams import fingerprint, new_secret, streams_of
from dpcore.training.settings import Number, row
from dpcore.training.training_run import TrainingRun
from tests.training.small_runs import SMALL, of_both_suites, run_of, ticking
from tests.training.test_accounting import METHODS, config_of

LOOKED_AT = 784  # coordinates of each draw
FAR = 6 / np.sqrt(LOOKED_AT)  # correlations that chance gives once in a billion

CHANGES = {
    "sigma": 2.0,
    "clip_norm": 0.7,
    "lr": 0.3,
    "epochs": 0.06,
    "delta": 1e-6,
    "seed": 1,
    "batch": 65,
}


@pytest.fixture
def draws(monkeypatch):
    """The first coordinates of every draw of noise so far, in units of its std."""
    record = []
    add = GaussianNoise.add

    def recording(noise, piece, target, std, scale=None):
        before = target[:LOOKED_AT].double().clone()
        add(noise, piece, target, std, scale)
        if piece == 0:
            record.append(((target[:LOOKED_AT].double() - before) / std).numpy())

    monkeypatch.setattr(GaussianNoise, "add", recording)
    return record


def closest(vectors) -> float:
    """The largest correlation between two of the vectors."""
    table = np.corrcoef(np.stack(vectors))
    return float(np.abs(table - np.eye(len(vectors))).max())


@pytest.mark.parametrize("method", of_both_suites(METHODS, ("flat", "sa")))
def test_every_draw_of_a_run_is_fresh_also_after_a_rejection(method, draws):
    config = config_of(method)
    if method == "sa":
        config = dataclasses.replace(config, lr=20.0)  # steps so long that the public loss grows
    decisions = "".join(
        event.decisions for event in train(config, ticking()) if isinstance(event, Stepped)
    )
    assert len(draws) >= plan(config).steps
    assert closest(draws) < FAR
    if method == "sa":
        assert "r" in decisions  # or this run says nothing of rejections


def test_draws_that_are_used_again_would_be_seen():
    vectors = np.random.default_rng(0).standard_normal((3, LOOKED_AT))
    assert closest(vectors) < FAR < closest([*vectors, vectors[1] + 1e-3])


@pytest.mark.parametrize("changed", CHANGES)
def test_runs_that_differ_in_any_setting_share_neither_noise_nor_batches(changed, draws, batches):
    for config in (SMALL, dataclasses.replace(SMALL, **{changed: CHANGES[changed]})):
        run_of(config).step(1)
    assert closest(draws) < FAR
    common = np.intersect1d(batches[0][2], batches[1][2])
    assert len(common) < 10  # of 64 expected in each


def test_two_runs_of_one_seed_do_not_give_away_the_sum_without_noise():
    config = dataclasses.replace(SMALL, momentum=0.0, lr=1.0, clip_norm=0.01)
    moved = []
    for sigma in (100.0, 200.0):
        run = run_of(dataclasses.replace(config, sigma=sigma))
        before = run.engine.parameters.clone()
        run.step(1)
        moved.append((run.engine.parameters - before) * -config.batch)
    # The noise of the second is twice that of the first.
    left = (2 * moved[0] - moved[1]).std().item()
    assert left == pytest.approx(2 * np.sqrt(2) * 100 * 0.01, rel=0.05)


def test_the_same_settings_give_the_same_and_the_baseline_has_the_private_batches(batches):
    first, same, baseline = (
        SMALL,
        dataclasses.replace(SMALL),
        dataclasses.replace(SMALL, private=False),
    )
    parameters = []
    for config in (first, same, baseline):
        run = run_of(config)
        run.step(1)
        parameters.append(run.engine.parameters.clone())
    assert torch.equal(parameters[0], parameters[1])
    assert np.array_equal(batches[0][2], batches[2][2])


def test_weights_start_from_the_seed_alone():
    first = run_of(SMALL).engine.parameters
    assert torch.equal(
        run_of(dataclasses.replace(SMALL, sigma=3.0, lr=0.1)).engine.parameters, first
    )
    assert not torch.equal(run_of(dataclasses.replace(SMALL, seed=1)).engine.parameters, first)


SECRET = dataclasses.replace(SMALL, seed=None)


@dataclasses.dataclass(frozen=True)
class Later(RunConfig):
    """The configuration of a later version, which has one more setting."""

    dummy: float = row(
        Number(default=0.25, low=0, label="Dummy", help="what a later version may ask for")
    )


def state(config: RunConfig, secret: int | None = None) -> list[tuple[int, ...]]:
    streams = streams_of(config, secret)
    return [(streams.weights,), *(tuple(stream.generate_state(4)) for stream in streams[1:])]


def later(config: RunConfig, **changes: float) -> Later:
    return Later(**config.to_json(), **changes)


def test_a_secret_has_128_bits_of_the_operating_system(monkeypatch):
    asked = []
    monkeypatch.setattr("secrets.randbits", lambda bits: asked.append(bits) or 7)
    assert new_secret() == 7
    assert asked == [128]


def test_a_run_without_a_fixed_seed_draws_a_secret_of_its_own():
    first, second = (TrainingRun(SECRET, ticking()) for _ in range(2))
    assert first.secret != second.secret
    assert not torch.equal(first.engine.parameters, second.engine.parameters)
    assert TrainingRun(SMALL, ticking()).secret is None


def test_the_same_secret_gives_the_same_run():
    first, second = (TrainingRun(SECRET, ticking(), secret=5) for _ in range(2))
    for run in (first, second):
        with run.cores.working():
            run.step(1)
    assert torch.equal(first.engine.parameters, second.engine.parameters)


def test_every_bit_of_the_secret_enters_every_stream():
    for other in [6, 5 + 2**64, 5 + 2**127]:
        assert not {*state(SECRET, 5)} & {*state(SECRET, other)}, other


def test_a_secret_equal_to_a_fixed_seed_gives_other_streams_and_one_of_both_is_needed():
    assert not {*state(SECRET, 0)} & {*state(SMALL)}
    with pytest.raises(ValueError, match="a secret for a run without a fixed seed"):
        streams_of(SECRET)


def test_a_fingerprint_tells_secrets_apart_and_is_none_of_them():
    assert fingerprint(5) != fingerprint(6)
    assert fingerprint(5) not in (f"{5:032x}", f"{5:064x}")
    assert fingerprint(None) == ""


@pytest.mark.parametrize(
    "config", [SMALL, dataclasses.replace(SMALL, sigma=2.0, optimizer="adppl", ema=0.9)]
)
def test_a_new_setting_at_its_default_changes_no_stream(config):
    assert state(later(config)) == state(config)
    assert state(later(dataclasses.replace(config, seed=None)), 5) == state(
        dataclasses.replace(config, seed=None), 5
    )
    assert not {*state(later(config, dummy=0.5))[1:]} & {*state(config)[1:]}


def test_a_checkpoint_goes_on_with_its_own_secret_alone_and_only_its_owner_may_read_it(tmp_path):
    config, file = dataclasses.replace(SECRET, width=20, epochs=1.0), tmp_path / "kept" / "run.pt"
    events = train(config, ticking(1.0), file, secret=5)
    while not file.exists():
        next(events)
    events.close()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert b"%032x" % 5 not in file.read_bytes()
    with pytest.raises(ValueError, match="settings and seed"):
        next(train(config, ticking(1.0), file, secret=6))
    with pytest.raises(ValueError, match="to be a checkpoint of this run's settings and seed"):
        next(train(later(config, dummy=0.5), ticking(1.0), file, secret=5))
    *_, last = train(later(config), ticking(1.0), file, secret=5)  # a new setting at its default
    assert last.step == plan(config).steps


def test_the_streams_of_a_fixed_seed_are_those_they_have_always_been():
    known = state(RunConfig(seed=1, sigma=2.0))
    assert known[0] == (7434755675892716031,)
    assert known[1] == (685062347, 2462287388, 1869180933, 4046561754)  # batches
    assert known[2] == (3409828862, 2253844932, 2125336607, 1637213000)  # noise
