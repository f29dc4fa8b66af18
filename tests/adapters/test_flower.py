"""The certified accountant within Flower: its three models, and a whole simulation."""

import json
import math
from types import SimpleNamespace
from typing import Any

import dp_accounting
import numpy as np
import pytest
from scipy.stats import norm

import dpcore
from dpcore.flower import METHODS, CertifiedAccountant
from dpcore.runs.store import Store
from tests.adapters.examples import check_stopped, kept_in, library, lines_of

pytestmark = pytest.mark.filterwarnings("ignore")
N = 100  # clients
DELTA = 1e-5
MODELS = {
    "poisson": "add-or-remove-one",
    "without-replacement": "replace-one",
    "no-amplification": "add-or-remove-one",
}


def event(sigma: float, clients: int, population: int = N) -> Any:
    return SimpleNamespace(noise_multiplier=sigma, sample_size=clients, population_size=population)


def accountant(method: str, run: Any = None) -> CertifiedAccountant:
    config = SimpleNamespace(
        sampling_method=method, population_size=N, target_delta=DELTA, max_epsilon=None
    )
    return CertifiedAccountant(config, run)


def epsilon(method: str, sigma: float, clients: int, rounds: int) -> float:
    counted = accountant(method)
    counted.compose(event(sigma, clients), rounds)
    return counted.get_epsilon(DELTA)


@pytest.mark.parametrize(
    ("method", "clients", "q", "sigma", "sampler"),
    [
        ("poisson", 10, 0.1, 2.0, "poisson"),
        ("without-replacement", 10, 0.1, 2.0, "fixed_size"),
        ("without-replacement", N, 1.0, 2.0, "fixed_size"),
        ("no-amplification", N, 1.0, 2.0, "poisson"),
        ("no-amplification", 10, 1.0, 1.0, "poisson"),
    ],
)
def test_each_model_is_counted_as_its_batches(method, clients, q, sigma, sampler):
    mechanism = dpcore.Mechanism.constant(q, sigma, 40)
    counted = dpcore.epsilon(mechanism, DELTA, sampler=sampler)
    assert epsilon(method, 2.0, clients, 40) == float(counted)


def test_rounds_that_differ_are_counted_together_and_without_replacement_as_the_dearest():
    for method in MODELS:
        counted = accountant(method)
        assert (counted.get_epsilon(DELTA), counted.get_delta(1.0)) == (0.0, 0.0)
        for each in (event(3.0, 10), event(3.0, 10), event(2.0, 5), event(3.0, 10)):
            counted.compose(each)
        assert counted.num_releases == 4
        if method == "without-replacement":
            assert counted.get_epsilon(DELTA) == epsilon(method, 2.0, 10, 4)
    mixed = accountant("poisson")
    mixed.compose(event(3.0, 10), 3)
    mixed.compose(event(2.0, 5))
    whole = dpcore.Mechanism.constant(0.1, 3.0, 3) + dpcore.Mechanism.constant(0.05, 2.0, 1)
    assert mixed.get_epsilon(DELTA) == float(dpcore.epsilon(whole, DELTA))
    assert mixed.get_delta(0.5) == float(dpcore.delta(whole, 0.5))
    together = accountant("no-amplification")
    all_clients = []
    for sigma in np.linspace(4.0, 8.0, 30).tolist():
        mixed.compose(event(sigma, 10))
        together.compose(event(sigma, N))
        whole = whole + dpcore.Mechanism.constant(0.1, sigma, 1)
        all_clients.append(dpcore.Release(1.0, sigma))
    quick = dpcore.epsilon(whole, DELTA, accountant="rdp")  # too many kinds for the certified bound
    assert mixed.get_epsilon(DELTA) == pytest.approx(float(quick))
    certified = dpcore.epsilon(dpcore.Mechanism(tuple(all_clients)), DELTA)
    assert together.get_epsilon(DELTA) == float(certified)


def test_a_tiny_share_without_replacement_has_an_epsilon_that_is_not_too_small():
    clients = 1_000_000
    config = SimpleNamespace(sampling_method="without-replacement", population_size=clients)
    counted = CertifiedAccountant(config)
    counted.compose(event(4.0, 50, clients), 10)
    mechanism = dpcore.Mechanism.constant(1e-4, 4.0, 10)
    larger = dpcore.epsilon(mechanism, 1e-6, sampler="fixed_size")
    exact = dpcore.epsilon(dpcore.Mechanism.constant(5e-5, 2.0, 10), 1e-6)  # one direction
    assert exact.lower <= counted.get_epsilon(1e-6) == float(larger) < 1


def test_a_round_that_would_exceed_is_known_before_and_changes_nothing():
    counted = accountant("no-amplification")
    spent = epsilon("no-amplification", 8.0, N, 3)
    counted.compose(event(8.0, N), 2)
    assert not counted.would_exceed(event(8.0, N), max_epsilon=spent)
    assert counted.would_exceed(event(8.0, N), max_epsilon=spent, count=2)
    assert counted.num_releases == 2
    with pytest.raises(ValueError, match="max_epsilon"):
        counted.would_exceed(event(8.0, N))


@pytest.mark.parametrize(
    "told",
    [
        event(1.0, 10, population=200),
        event(0.0, 10),
        event(math.nan, 10),
        event(1.0, 101),
        event(1.0, 0),
    ],
)
def test_a_release_that_no_epsilon_covers_is_refused(told):
    counted = accountant("poisson")
    with pytest.raises(ValueError, match="Expected"):
        counted.compose(told)
    assert counted.num_releases == 0
    with pytest.raises(ValueError, match="count"):
        counted.compose(event(1.0, 10), 0)
    with pytest.raises(ValueError, match="sampling_method"):
        accountant("shuffled")


def test_another_library_agrees_on_poisson_rounds_and_on_rounds_of_all_clients():
    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    gaussian = dp_accounting.GaussianDpEvent(4.0)
    for method, clients, one in (
        ("poisson", 10, dp_accounting.PoissonSampledDpEvent(0.1, gaussian)),
        ("no-amplification", N, gaussian),
    ):
        oracle = dp_accounting.pld.PLDAccountant(relation)
        oracle.compose(one, 50)
        assert epsilon(method, 4.0, clients, 50) == pytest.approx(
            oracle.get_epsilon(DELTA), rel=2e-3
        )


def test_without_replacement_a_replaced_client_moves_the_sum_by_twice_the_norm():
    """Rényi DP at half the noise is above ours; at the noise as told it is below what is proven."""
    found = {}
    for sigma in (2.0, 4.0):  # over 2 C, and over C
        oracle = dp_accounting.rdp.RdpAccountant(
            neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE
        )
        gaussian = dp_accounting.GaussianDpEvent(sigma)
        oracle.compose(dp_accounting.SampledWithoutReplacementDpEvent(N, 10, gaussian), 50)
        found[sigma] = oracle.get_epsilon(DELTA)
    mechanism = dpcore.Mechanism.constant(0.1, 4.0, 50)
    proven = dpcore.epsilon(mechanism, DELTA, sampler="fixed_size")
    ours = epsilon("without-replacement", 4.0, 10, 50)
    assert proven.lower <= ours < found[2.0]
    assert found[4.0] < proven.lower


def test_a_client_whose_place_is_taken_moves_the_sum_by_twice_the_norm():
    """Of 100 clients 99 are drawn; all push one way, and one client, if there, the other way.

    Its sum is then 2 C away from that of any 99 others. Noise as told in place of half of it would
    promise too little, and ours suffices.
    """
    sigma, q = 2.0, 0.99
    delta = 1e-3

    def shown(budget: float) -> float:
        """The exact delta of that pair at an epsilon: the ratio rises along the line."""
        place = sigma**2 / 2 * math.log((math.exp(budget) - 1 + q) / q) + 1
        tail = norm.sf(place / sigma)
        with_client = (1 - q) * tail + q * norm.sf((place - 2) / sigma)
        return float(with_client - math.exp(budget) * tail)

    counted = accountant("no-amplification")
    counted.compose(event(sigma, 99))
    as_told = dpcore.epsilon(dpcore.Mechanism.constant(1.0, sigma, 1), delta)
    assert shown(float(as_told)) > delta
    assert shown(counted.get_epsilon(delta)) <= delta


def test_a_followed_run_gets_a_step_for_each_release(store: Store):
    with dpcore.follow("mine", delta=DELTA, examples=N, q=1.0, sigma=2.0, unit="client") as run:
        counted = accountant("no-amplification", run)
        counted.compose(event(2.0, N), 3)
        counted.compose(event(2.0, 10))
        assert run.steps == 4
        assert float(run.epsilon()) == counted.get_epsilon(DELTA)
        with pytest.raises(ValueError, match="run="):
            accountant("without-replacement", run)
    assert kept_in(store).done == 4


def test_the_steps_of_a_run_that_goes_on_count_before_all_rounds(store: Store):
    told: dict[str, Any] = {"delta": DELTA, "examples": N, "q": 0.1, "sigma": 3.0, "id": "flower1"}
    first = dpcore.follow(**told)
    accountant("poisson", first).compose(event(3.0, N // 10), 40)
    first.finish()
    again = dpcore.follow(**told)
    counted = accountant("poisson", again)
    whole = accountant("poisson")
    whole.compose(event(3.0, N // 10), 41)
    assert counted.num_releases == 40
    limit = whole.get_epsilon(DELTA)
    assert not counted.would_exceed(event(3.0, N // 10), limit)
    assert counted.would_exceed(event(3.0, N // 10), limit, 2)
    counted.compose(event(3.0, N // 10))
    assert (counted.get_epsilon(DELTA), counted.num_releases) == (limit, 41)
    with pytest.raises(ValueError, match="goes on"):
        counted.load_state_dict({})
    again.finish()


@pytest.mark.long
@pytest.mark.parametrize("method", MODELS)
def test_flower_takes_it_for_one_of_its_own(method: str):
    theirs = library("flwr.supercore.privacy_accounting")
    config = theirs.PrivacyConfig(
        target_delta=DELTA,
        population_size=N,
        neighboring_relation=theirs.NeighboringRelation(MODELS[method]),
        sampling_method=theirs.SamplingMethod(method),
        max_epsilon=5.0,
    )
    counted: Any = CertifiedAccountant(config)
    protocol = [each for each in vars(theirs.PrivacyAccountant) if each[0] != "_"]
    assert len(protocol) == 9
    assert [each for each in protocol if not hasattr(counted, each)] == []
    released = theirs.GaussianPrivacyEvent(4.0, 10, N)
    counted.compose(released, 20)
    counted.compose(theirs.GaussianPrivacyEvent(5.0, 10, N))
    spent = counted.get_privacy_spent()
    assert (spent.delta, spent.num_releases) == (DELTA, 21)
    assert spent.accounting_method == METHODS[method]
    assert spent.epsilon == counted.get_epsilon(DELTA)
    # Their own accountant counts by Rényi DP, for a sum that moves by C at most.
    own = library("flwr.supercore.privacy_accounting.rdp_accountant").RdpAccountant(config)
    own.compose(released, 20)
    ours = CertifiedAccountant(config)
    ours.compose(released, 20)
    if method == "poisson":
        assert ours.get_epsilon(DELTA) < own.get_epsilon(DELTA)
    else:
        assert ours.get_epsilon(DELTA) > own.get_epsilon(DELTA)
    state = json.loads(json.dumps(counted.state_dict()))
    again = CertifiedAccountant(config)
    again.load_state_dict(state)
    assert again.get_privacy_spent() == spent
    assert again.state_dict() == counted.state_dict()
    with pytest.raises(ValueError, match="backend"):
        again.load_state_dict(own.state_dict())
    with pytest.raises(ValueError, match="compositions"):
        again.load_state_dict({**state, "compositions": [{"count": 1}]})
    assert again.get_privacy_spent() == spent


@pytest.mark.long
def test_a_simulation_of_flower_stops_at_its_budget(store: Store):
    """Three clients, whose updates are clipped and noised on the server."""
    library("ray")
    app, serverapp = library("flwr.app"), library("flwr.serverapp")
    strategies = library("flwr.serverapp.strategy")
    exception = library("flwr.serverapp.exception")
    simulation = library("flwr.simulation")
    client = library("flwr.clientapp").ClientApp()
    clients, sigma, clip = 3, 3.0, 1.0

    @client.train()
    def train(message, context):
        import numpy as np

        (weights,) = message.content["arrays"].to_numpy_ndarrays()
        moved = weights + np.full(weights.shape, 0.1)
        content = app.RecordDict(
            {
                "arrays": app.ArrayRecord([moved]),
                "metrics": app.MetricRecord({"num-examples": 10}),
            }
        )
        return app.Message(content=content, reply_to=message)

    names: dict[str, Any] = {
        "PrivacyConfig": serverapp.PrivacyConfig,
        "ADD_OR_REMOVE_ONE": serverapp.NeighboringRelation.ADD_OR_REMOVE_ONE,
        "NO_AMPLIFICATION": serverapp.SamplingMethod.NO_AMPLIFICATION,
        "DifferentialPrivacyServerSideFixedClipping": (
            strategies.DifferentialPrivacyServerSideFixedClipping
        ),
        "FedAvg": lambda: strategies.FedAvg(
            fraction_evaluate=0.0, min_train_nodes=clients, min_available_nodes=clients
        ),
        "dpcore": dpcore,
        "clients": clients,
        "sigma": sigma,
        "clip": clip,
    }
    server = serverapp.ServerApp()
    stopped = []

    @server.main()
    def main(grid, context):
        exec(lines_of("Flower"), names)
        arrays = app.ArrayRecord([np.zeros(3)])
        try:
            names["strategy"].start(grid, arrays, num_rounds=20)
        except exception.PrivacyBudgetExhausted as error:
            stopped.append(error)
        names["run"].finish()

    simulation.run_simulation(server, client, num_supernodes=clients)
    assert len(stopped) == 1
    kept = kept_in(store)
    assert names["accountant"].num_releases == kept.done
    check_stopped(kept, 3.0)
