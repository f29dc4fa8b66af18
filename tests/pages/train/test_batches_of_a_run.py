"""How a run draws its batches, on the train page: what that costs stands where epsilon stands otherwise."""

import pytest

from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.settings import DRAWN
from tests.pages.train_page import opened

pytestmark = pytest.mark.usefixtures("store")


def test_what_is_proven_of_its_batches_is_said() -> None:
    for name in DRAWN:
        app = opened(batches=name, sigma="2")
        assert not app.exception, name
        assert app.selectbox(key="batches").value == name, name
        warnings = " ".join(each.value for each in app.warning)
        said = f"{SAMPLERS[name].title}: what accountants say of Poisson batches does not hold"
        assert (said in warnings) == (name != "poisson"), name
        captions = [each.value for each in app.caption]
        assert (SAMPLERS[name].note in captions) == (name != "poisson"), name
