"""The page that checks a claim, in a test: an address that holds one."""

CLAIM = {
    "claim_epsilon": "0.83",
    "claim_delta": "1e-5",
    "claim_batch": "256",
    "claim_examples": "60k",
    "claim_sigma": "1.3",
    "claim_epochs": "15",
    "claim_sampler": "poisson",
}
