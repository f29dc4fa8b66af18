"""The trainers that can be audited: ours, and ours with one thing broken, which no other page or command has."""

from dpcore.audit.broken.accepted_only import ACCEPTED_ONLY
from dpcore.audit.broken.base import Trainer
from dpcore.audit.broken.batches_reused import BATCHES_REUSED
from dpcore.audit.broken.half_noise import HALF_NOISE
from dpcore.audit.broken.layers_charged_once import LAYERS_CHARGED_ONCE
from dpcore.audit.broken.no_clipping import NO_CLIPPING
from dpcore.audit.broken.no_noise import NO_NOISE
from dpcore.audit.broken.noise_divided_twice import NOISE_DIVIDED_TWICE
from dpcore.audit.broken.raw_state import RAW_STATE
from dpcore.audit.broken.realised_divisor import REALISED_DIVISOR
from dpcore.audit.broken.same_noise import SAME_NOISE

OWN = Trainer(name="own", title="Ours", story="The trainer of this program, as it trains every run.")
BROKEN = {
    each.name: each
    for each in (
        NO_NOISE,
        HALF_NOISE,
        NOISE_DIVIDED_TWICE,
        NO_CLIPPING,
        LAYERS_CHARGED_ONCE,
        BATCHES_REUSED,
        REALISED_DIVISOR,
        SAME_NOISE,
        RAW_STATE,
        ACCEPTED_ONLY,
    )
}
TRAINERS = {OWN.name: OWN, **BROKEN}
