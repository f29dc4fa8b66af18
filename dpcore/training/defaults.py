"""Settings to start from; free of torch."""

from dpcore import check
from dpcore.data.catalogue import dataset_of
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS

BATCH = {"sample": 256, "full": 512}  # expected batch for each source


def defaults(
    dataset: str,
    model: str,
    optimizer: str,
    source: str | None = None,
    *,
    private: bool = True,
    reading: str = "scaled",
) -> RunConfig:
    """A configuration that learns well: on the samples within seconds on two cores.

    Test accuracy after its five epochs on the samples, seed 0, by sgd or adam: MNIST 0.90 (cnn) and 0.84 (mlp),
    Fashion-MNIST 0.77 and 0.80. The others that were tried come within 0.05 of it. The literal and the raw reading
    release directions of at most C, whatever the gradients' length: they take a C and a rate of their own.

    >>> defaults("mnist", "cnn", "sgd").lr, defaults("mnist", "cnn", "sgd", private=False).lr
    (1.0, 0.05)
    >>> defaults("mnist", "cnn", "pi_adam").lr, defaults("mnist", "cnn", "pi_adam", reading="literal").lr
    (0.02, 5.0)
    """
    check.one_of(OPTIMIZERS, optimizer=optimizer)
    source = dataset_of(dataset).sources[0] if source is None else source
    check.one_of(BATCH, source=source)
    chosen = OPTIMIZERS[optimizer]
    clip_norm, lr = chosen.clip_norm, chosen.special_lr.get((dataset, model), chosen.lr)
    if reading != "scaled" and chosen.directions:
        clip_norm, lr = chosen.directions
    return RunConfig(
        dataset=dataset,
        source=source,
        model=model,
        optimizer=optimizer,
        private=private,
        reading=reading,
        batch=BATCH[source],
        clip_norm=clip_norm,
        lr=lr if private else chosen.baseline_lr,
    )
