"""The optimizers by name; free of torch at import, so that configurations can check names."""

from dpcore.training.optimizers.adadp import ADADP
from dpcore.training.optimizers.adam_bc import ADAM_BC
from dpcore.training.optimizers.adppl import ADPPL
from dpcore.training.optimizers.base import Optimizer
from dpcore.training.optimizers.pi import PI_ADAGRAD, PI_ADAM, PI_RMSPROP
from dpcore.training.optimizers.plain import ADAGRAD, ADAM, RMSPROP, SGD

__all__ = ["OPTIMIZERS", "Optimizer"]

OPTIMIZERS = {
    each.name: each
    for each in (
        SGD,
        ADAM,
        ADAM_BC,
        ADAGRAD,
        RMSPROP,
        PI_ADAM,
        PI_RMSPROP,
        PI_ADAGRAD,
        ADADP,
        ADPPL,
    )
}
