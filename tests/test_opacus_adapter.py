"""The certified accountant within Opacus: what its engine counts, and the noise that it finds."""

import pytest
import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant
from opacus.accountants.utils import get_noise_multiplier
from torch.utils.data import DataLoader, TensorDataset

import dpcore
import dpcore.opacus

pytestmark = pytest.mark.filterwarnings("ignore")
DELTA = 1e-3


@pytest.fixture(autouse=True)
def registered() -> None:
    dpcore.opacus.register()
    dpcore.opacus.register()  # a second call changes nothing


def trained(epochs: int) -> PrivacyEngine:
    """The engine after training a linear model on 40 examples in batches of 8."""
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(40, 3), torch.randint(0, 2, (40,)))
    model = torch.nn.Linear(3, 2)
    engine = PrivacyEngine(accountant="dpcore")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data, batch_size=8),
        noise_multiplier=1.1,
        max_grad_norm=1.0,
    )
    for _ in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
    return engine


def test_an_engine_of_opacus_counts_by_the_certified_accountant() -> None:
    engine = trained(2)
    assert len(engine.accountant) == 10
    counted = dpcore.epsilon(dpcore.Mechanism.constant(q=0.2, sigma=1.1, steps=10), DELTA)
    assert engine.get_epsilon(DELTA) == float(counted)
    again = create_accountant("dpcore")
    again.load_state_dict(engine.accountant.state_dict())
    assert again.get_epsilon(DELTA) == engine.get_epsilon(DELTA)


def test_steps_that_change_are_counted_apart_and_a_rate_above_1_as_1() -> None:
    accountant = create_accountant("dpcore")
    assert accountant.get_epsilon(DELTA) == 0.0
    for sigma, q in ((1.1, 0.2), (1.1, 0.2), (0.9, 0.2), (5.0, 1.2)):
        accountant.step(noise_multiplier=sigma, sample_rate=q)
    assert accountant.history == [(1.1, 0.2, 2), (0.9, 0.2, 1), (5.0, 1.2, 1)]
    whole = dpcore.Mechanism.constant(0.2, 1.1, 2) + dpcore.Mechanism.constant(0.2, 0.9, 1)
    whole = whole + dpcore.Mechanism.constant(1.0, 5.0, 1)
    assert accountant.get_epsilon(DELTA) == float(dpcore.epsilon(whole, DELTA))


def test_opacus_finds_the_noise_that_the_certified_accountant_allows() -> None:
    sigma = get_noise_multiplier(
        target_epsilon=3.0, target_delta=1e-5, sample_rate=0.01, steps=1000, accountant="dpcore"
    )
    reached = dpcore.epsilon(dpcore.Mechanism.constant(0.01, sigma, 1000), 1e-5)
    assert 2.99 <= float(reached) <= 3.0
