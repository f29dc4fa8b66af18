"""The four places where noise can go when a model is learnt, and which methods put it there."""

from typing import NamedTuple

from dpcore.training.perturbation.methods import METHODS

HIDDEN = "can tell which row was there no better than epsilon and delta allow"


class Place(NamedTuple):
    """A place, the methods that put noise there, and two sentences: what is noised, and who is protected and when."""

    id: str
    title: str
    method: str  # what it is called, under the picture
    methods: tuple[str, ...]
    said: str

    @property
    def known(self) -> tuple[str, ...]:
        """The methods among those that there are."""
        return tuple(name for name in self.methods if name in METHODS)


PLACES = (
    Place(
        "data",
        "the data",
        "input perturbation",
        ("input", "paper_input"),
        "Every row gets noise on each of its features before anybody learns from it; by the local method its label may "
        "be flipped, too, and each person is protected even from those who learn, while the paper's own formula does "
        "neither. The theorem is that of the Gaussian mechanism for a row alone, so it asks for rows of bounded length "
        "and nothing of the model; its noise is by far the largest.",
    ),
    Place(
        "objective",
        "the objective",
        "objective perturbation",
        ("objective",),
        "A random slope is added once to what is minimised, and the minimiser is published: whoever sees the model "
        f"{HIDDEN}. The theorem asks for a convex and smooth loss, a Hessian of rank one for each row, and a minimiser "
        "that is exact or whose error is paid for.",
    ),
    Place(
        "gradient",
        "each gradient",
        "gradient perturbation",
        ("gradient", "bassily"),
        "Every step of the descent gets noise of its own, so each model on the way may be published as well as the "
        f"last, if it is rounded as that is here: whoever sees them {HIDDEN}. The theorem asks only for gradients of "
        "bounded length, by the loss itself or by clipping, and so it is the one that covers networks.",
    ),
    Place(
        "result",
        "the result",
        "output perturbation",
        ("output",),
        "Learning goes on without noise, which is added once to the parameters where it ends: whoever sees only the "
        f"published model {HIDDEN}. The theorem asks for a convex and smooth loss and for step sizes fixed beforehand; "
        "without them nothing bounds how far one row can move the end.",
    ),
)
BY_ID = {place.id: place for place in PLACES}


def place_of(method: str) -> Place | None:
    """Where a method puts its noise; None for the one without noise."""
    return next((place for place in PLACES if method in place.methods), None)
