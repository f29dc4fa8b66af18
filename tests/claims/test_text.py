"""What is read from texts: numbers as people write them, the usual names, and nothing that is not
there.
"""

import json
import re
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.claims.claim import values_of
from dpcore.claims.plain_text import plain_text
from dpcore.claims.printed import Printed, printed_epsilon
from dpcore.claims.reading import MAX_TEXT_CHARS, Read, read
from dpcore.claims.values import FIGURE
from dpcore.claims.verdict import Standing, judge
from dpcore.claims.vocabulary import REASONS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.written_number import read_number
from tests.test_written_number import DECIMAL_COMMAS, WRITTEN

WRITTEN_CLAIMS = tomllib.loads(
    Path(__file__).with_name("written_claims.toml").read_text(encoding="utf-8")
)
CARD = (
    "epsilon = 2.92, delta=1e-5, noise multiplier 1.1, batch size 256, 60,000 examples, 15 epochs,"
    " Opacus RDP"
)
PAPER = (
    "We reach (ε, δ) = (3, 10⁻⁵) with sampling rate q = 512/60000, σ=1.068 and 40 epochs of Poisson"
    " batches."
)
TEX = r"With $\varepsilon = 8$, $\delta = 10^{-5}$, $\sigma=6$ and a lot size of $4{,}000$"
CONFIG = (
    '{"epsilon": 3.0, "noise_multiplier": 1.1, "sample_rate": 0.01, "steps": 1000, "delta": 1e-05}'
)
LOG = (
    "Train Epoch: 1 \tLoss: 0.52 Acc@1: 85.1 (ε = 0.92, δ = 1e-05)\n"
    "Train Epoch: 2 \tLoss: 0.41 Acc@1: 88.3 (ε = 1.32, δ = 1e-05)\n"
)
READ = {
    CARD: {"epsilon": "2.92", "delta": 1e-5, "sigma": 1.1, "batch": 256, "examples": 60_000, "epochs": 15.0,
           "accountant": "rdp"},
    PAPER: {"epsilon": "3", "delta": 1e-5, "q": 512 / 60_000, "sigma": 1.068, "epochs": 40.0, "sampler": "poisson"},
    TEX: {"epsilon": "8", "delta": 1e-5, "sigma": 6.0, "batch": 4000},
    CONFIG: {"epsilon": "3.0", "delta": 1e-5, "sigma": 1.1, "q": 0.01, "steps": 1000},
    LOG: {"epsilon": "1.32", "delta": 1e-5, "epochs": 2.0},
    "It is (8, 1e-5)-DP; lot size 4,000; 50,000 training images.": {
        "epsilon": "8", "delta": 1e-5, "batch": 4000, "examples": 50_000},
    "(2, 10^-5)-differential privacy": {"epsilon": "2", "delta": 1e-5},
    "ε ≤ 3.0 at δ = 1/60000": {"epsilon": "3.0", "delta": 1 / 60_000},
    "privacy budget of 8, n = 60k, T = 14,062, B=256": {
        "epsilon": "8", "examples": 60_000, "steps": 14_062, "batch": 256},
    "noise_multiplier: 0.7\nsample rate: 1 %\nnum_epochs: 3": {"sigma": 0.7, "q": 0.01, "epochs": 3.0},
    "batches of 256 examples for 1000 steps": {"batch": 256, "steps": 1000},
    "batches are shuffled and accounted as Poisson, add/remove": {"sampler": "shuffle", "adjacency": "add_remove"},
    "epochs: 15 steps: 300": {"epochs": 15.0, "steps": 300},
    "zero-out adjacency, random allocation, privacy loss distributions": {
        "adjacency": "zero_out", "sampler": "random_allocation", "accountant": "pld"},
}  # fmt: skip
OUT_OF_RANGE = (
    "delta = 1",
    "epsilon = 0",
    "noise multiplier -1.1",
    "sampling rate 1.5",
    "steps: 0",
    "n = 1.5",
)
AWRY = {  # texts from which a wrong number was read, and what is in them
    "1 500 steps": {"steps": 1500}, "60 000 images": {"examples": 60_000}, "1\u2009500 steps": {"steps": 1500},
    "1\u202f500 steps": {"steps": 1500}, "batch sizes 64 x 8": {}, "epsilon: [1, 3, 8]": {}, "ε of 1, 3 and 8": {},
    "batch size 64 with gradient accumulation over 8 steps": {},
    "batch size 64, gradient_accumulation_steps: 1": {"batch": 64},
    "accumulated privacy loss, batch size 64": {"batch": 64},
    "Warmup steps: 100, T = 900": {"steps": 900}, "warmup for 100 steps, then 900 steps": {"steps": 900},
    "warm-up of 100 steps": {}, "accumulation steps: 8": {}, "logging steps: 50": {},
    "(ε, δ) = (0.5, 1/N), σ = 2": {"epsilon": "0.5", "sigma": 2.0}, "(ε, δ) = (8, n⁻¹), 40 epochs": {"epsilon": "8",
    "epochs": 40.0},
    "10 epochs of 500 steps": {"epochs": 10.0}, "500 steps in each epoch": {},
    "noise multiplier 1.1–0.5": {}, "noise multiplier 1.1 to 0.5": {}, "noise multiplier 1.1-0.5": {},
    "5 to 10 epochs": {}, "5–10 epochs": {}, "epochs: 3/10": {}, "δ=10-5, σ = 2": {"sigma": 2.0},
    "unlike Poisson sampling": {}, "shuffled rather than Poisson batches": {"sampler": "shuffle"},
    "the RDP accountant of Opacus, Poisson sampling.": {"sampler": "poisson", "accountant": "rdp"},
    "the RDP accountant, which assumes Poisson sampling": {"accountant": "rdp"},
    "we do not use Poisson sampling": {}, "not shuffled but Poisson": {"sampler": "poisson"},
    "batch size 256 and 60,000 examples": {"batch": 256, "examples": 60_000},
    "epsilon of 3 or less": {"epsilon": "3"},
    "epsilon = 3,0; delta = 0,001": {"epsilon": "3.0", "delta": 0.001}, "(ε, δ) = (3,1e-5)": {"epsilon": "3",
    "delta": 1e-5},
    "σ = 1,1; learning rate 0.5": {"sigma": 1.1}, "σ = 1,100": {}, "σ = 0,9; n = 60.000": {"sigma": 0.9,
    "examples": 60_000},
    "sampling rate q = 0,010": {"q": 0.01}, "sigma=1,2 and 3": {},
}  # fmt: skip
FORMS = {  # of settings, as people's scripts, threads and reports have them
    "| MIN_DP_EPOCHS | 5 |": {}, "add('--epochs', default=15, help='Local epochs a round')": {},
    "257 train + 91 val patients": {"examples": 257}, "add('--comm_round', default=9)": {"steps": 9},
    "| ε | Means |\n|--|--|\n| < 1 | strong |\n| > 9 | weak |": {}, "ε: 0.1 = very private, 9 = weak": {},
    "Privacy budget used:\n  Round 8: ε ≈ 0.2\n  Round 9: ε ≈ 0.2\n  TOTAL: ε ≈ 2.5": {"epsilon": "2.5", "steps": 9},
    "DEFINE_integer('epochs', 9, 'Epochs')\nDEFINE_integer('log2_batch_size', 12, '')": {"epochs": 9},
    "delta_c = 1e-10": {}, "epsilon = log(1 + q)": {}, "trained on 13 trillion tokens": {}, "for ((epoch=1;": {},
    "ε of 9; model 0, best eps: 0.04": {"epsilon": "9"}, "3938 upvotes and 421 comments": {},
    "num_devices: 2 x A100": {},
    "python sampling/sample.py --batch_size 2 -num_samples 10": {}, "dp-sgd takes 180 seconds on 100 steps": {},
    "train.contrastive_batch_size=256": {},
    "--clip 0.1 --eps 8 --epoch 3": {"epsilon": "8", "epochs": 3.0}, "--batch_size 9 --pub_batch_size 7": {"batch": 9},
    "--train_batch_size 8 --valid_batch_size 4 --max_epoch 20": {"batch": 8, "epochs": 20.0},
    "with each example occurring once per epoch: 41.1": {"sampler": "fixed_order"}, "--teacher-epochs 10": {},
    "accountant: Literal['rdp', 'gdp'] = 'rdp'": {"accountant": "rdp"}, "DATA_LENGTH = 140": {"examples": 140},
    "the noise multi-\nplier is 2.3": {"sigma": 2.3}, "on 73 257 images, for 1 400 steps": {"examples": 73_257,
    "steps": 1400},
    "num-server-rounds = 50\nbatch-size = 32": {"steps": 50}, "E=5 and B=32 by federated averaging": {},
    "| n | E |\n|--|--|\n| 600 | 40 |": {"examples": 600, "epochs": 40.0}, "R=2.0": {}, "R=50 rounds": {"steps": 50},
    "sampled m=100 out of N=3400 users": {"q": 100 / 3400, "examples": 3400},
    "sampled 20 clients (out of 100)": {"q": 0.2,
    "examples": 100},
    "every step drew about 412 rows of all 41,205 rows": {"batch": 412, "examples": 41_205},
    "It is (8, 1e-7)-DP, while an earlier result needed ε = 10": {"epsilon": "8", "delta": 1e-7},
    "Noise multiplier:  s = 5.00\nEpochs:      5": {"sigma": 5.0, "epochs": 5.0}, "max_clients: 10": {},
    "steps: 0, epsilon_spent: 0.0": {}, "--noise-multiplier 0.5 1.0 2.0": {}, "trace_sampling_rate = 0.1": {},
    "σ = C × √(2 ln(1.25/δ)) / ε ≈ 0.7": {}, "vs. simple composition σ ≈ 13.6": {}, "a set of 50 trigger images": {},
    ".with_epochs(10)\n.with_batch_size(64)": {"epochs": 10.0, "batch": 64}, "epochs      = 300": {"epochs": 300.0},
    "| Arm | epochs | ε |\n|--|--|--|\n| Non-private | 200 | |\n| DP | 50 | 3 |": {"epsilon": "3", "epochs": 50.0},
    "Accounted privacy budget: ε ≈ 4.786. Then ε = 4.79.": {"epsilon": "4.79"}, "900 transactions monitored": {},
    "σ = 2√2": {}, "noise = 2*sqrt(2)": {}, "vote_batches = 2": {}, "prop_sigma = 0.1": {}, "T = 100 × (500/6) ≈ 8": {},
    "'epochs': array(3.5, dtype=float32), in batches of 9": {"epochs": 3.5, "batch": 9}, "discriminator_steps: 2": {},
    "epsilon_budget=8.0": {"epsilon": "8.0"}, "local epochs 2, batch size 16": {}, r"$\\Delta W = 0.37$": {},
    "nproc_per_node=2 per_device_train_batch_size 4 eval_accumulation_steps 1": {"batch": 8},
    "nproc_per_node=2 per_device_train_batch_size 4 per_device_train_batch_size 8": {},
    "privacy budget: 0.6056006578256736, or 0.6056": {"epsilon": "0.6056006578256736"},
    "Global-Adapt (ε = 5.91) beats DP-SGD (ε = 3.41)": {},
    "Without --dp the RMSE falls within 20 epochs.": {}, "val_acc: 0.9524\nEpoch 60/60": {"epochs": 60.0},
    "steps/epoch=52": {},
    "We train on 4 x A100 GPUs": {}, "num_sampled_clients = 20": {"batch": 20},
    "Table 2 reports ε = 1": {"epsilon": "1"},
    "N, B = 50_000, 1_000": {"examples": 50_000, "batch": 1000}, "n = 50'000": {"examples": 50_000},
    "independently with probability q = 0.01": {"q": 0.01, "sampler": "poisson"},
    "δ = 1/(2n) = 2.1e-6": {"delta": 2.1e-6}, "δ = 1/n with n = 4000": {"delta": 1 / 4000, "examples": 4000},
    "for 20 epochs ($N=500$)": {"epochs": 20.0, "examples": 500}, "6. Steps: 3,200. eps = 2": {"steps": 3200,
    "epsilon": "2"},
    "{\"key\": \"sigma\", \"value\": \"1.2\"}, {\"key\": \"epsilon\", \"value\": 2.4, \"step\": 9}": {
    "sigma": 1.2, "epsilon": "2.4"},
    "{\"history\": {\"loss\": [4.1, 3.8]}, \"sigma\": 1.2}": {"sigma": 1.2}, "we aim for ε = 2": {"epsilon": "2"},
    "{\"history\": [{\"loss\": 4.1}], \"sigma\": 1.2}": {"sigma": 1.2}, "{\"history\": \"log.json\", \"sigma\": 2}": {
    "sigma": 2.0}, "ε = 3, down from ε = 8": {"epsilon": "3"},
    "eps = privacy(n=60000, sigma=2)[0]": {"examples": 60_000, "sigma": 2.0},
    "In every round 1% of the 50,000 users take part.": {"q": 0.01, "examples": 50_000},
    "0.7 noise multiplier, 1,500 batch size": {"sigma": 0.7, "batch": 1500}, "σ = 1.1·C": {"sigma": 1.1},
    "768 rows, of which 614 are used for training": {"examples": 614}, "twenty epochs": {"epochs": 20.0},
    "rounds: 9\nlocal_epochs: 1": {"steps": 9}, "steps: {max: 9}\nlog_history: {step: 4}": {"steps": 9},
    "CUDA_VISIBLE_DEVICES=0 x.py --per_device_train_batch_size 8 --gradient_accumulation_steps 4": {"batch": 32},
    "We set the number of training epochs to 45 and the number of rounds is fixed at 700.": {"epochs": 45.0,
    "steps": 700}, "number of compositions: 4200": {"steps": 4200}, "noise multiplier fixed at 0.8": {"sigma": 0.8},
    "accuracy (dev, 910 sentences): 0.9; recall on the test set (4,100 images)": {},
    "21,500 users of the shop, 17,200 for training and 4,300 for testing": {"examples": 17_200},
    "train 36,000 / val 4,000 / test 9,000": {"examples": 36_000}, "bs = {train = 1800, eval = 3000}": {"batch": 1800},
    "We use 36,000 of the 45,000 images for training": {"examples": 36_000}, "123 training pairs": {"examples": 123},
    "trained over 1,900 rounds with 5,200 devices in each": {"steps": 1900, "batch": 5200},
    "each of the 1,900 rounds used 5,200 devices": {"steps": 1900, "batch": 5200}, "80 rows at a time": {"batch": 80},
    "Batches had 45 rows": {"batch": 45}, "45-example batches": {"batch": 45}, "4 thousand notes": {"examples": 4000},
    "the corpus has 14k letters": {"examples": 14_000}, "the data set has 14 classes": {},
    "Das Training lief über alle Daten und brauchte 9.400\nSchritte": {"steps": 9400}, "Losgröße 80": {"batch": 80},
    "512 Beispiele pro Batch": {"batch": 512}, "100 clients à chaque tour, 50 tours": {"batch": 100, "steps": 50},
    "nombre d’époques fixé à 30": {"epochs": 30.0}, "tasa de muestreo del 1 %": {"q": 0.01}, "6 rodadas": {"steps": 6},
    "moltiplicatore di rumore pari a 1,1; 10.000 iterazioni": {"sigma": 1.1, "steps": 10_000},
    "2^5 rows a step": {"batch": 32},
    "Sampling: Poisson\nAccountant: PRV": {"sampler": "poisson", "accountant": "pld"}, "(2, 2^-20)-DP": {"epsilon": "2",
    "delta": 2**-20}, "shuffled once per epoch": {"sampler": "shuffle"}, "Runde 1: ε = 1.2\nRunde 12: ε = 2.2": {
    "steps": 12, "epsilon": "2.2"}, "[第 10 轮] ε=1.5\n[第 20 轮] ε=2.7": {"epochs": 20.0, "epsilon": "2.7"},
    "{\"a\": [{\"step\": 62, \"eps\": 1.9}, {\"step\": 70, \"eps\": 2.4}], \"delta\": 2e-06}": {"steps": 70,
    "epsilon": "2.4", "delta": 2e-6}, "`get_noise_multiplier`\nreturned 0.71": {"sigma": 0.71}, "épsilon = 3": {
    "epsilon": "3"}, "engine.get_epsilon(1e-6)\n7.4": {"epsilon": "7.4", "delta": 1e-6},
    "(2, 1e-6)-DP, above that of a GAN at (9, 1e-6)": {"epsilon": "2", "delta": 1e-6},
    "batch_size=900, --mini_bs 30": {"batch": 900}, "| Batch size | 96 (3 GPUs x 4 x 8) |\n| σ | 0.7 |": {"batch": 96,
    "sigma": 0.7}, "N = 8,000; δ = 1e-6, below 1/N": {"examples": 8000, "delta": 1e-6}, "N = 8,000, δ < 1/N": {
    "examples": 8000}, "$K=70$ clients. Per round, $m=9$ clients are sampled": {"batch": 9, "examples": 70},
    "r=050 acc=0.6 eps=3.3\nr=200 acc=0.7 eps=7.2": {"steps": 200, "epsilon": "7.2"},
    "배치 크기는 1,000, 에포크는 60, 노이즈 배수는 1.5이다. 데이터 4,000장": {"batch": 1000, "epochs": 60, "sigma": 1.5,
    "examples": 4000}, "총 500 라운드, 매 라운드 20명": {"steps": 500, "batch": 20},
    "푸아송 샘플링": {"sampler": "poisson"},
    "ノイズ乗数を0.9、バッチサイズを64、エポック数を3とした": {"sigma": 0.9, "batch": 64, "epochs": 3.0},
    "反復回数 9000、プライバシー損失は3": {"steps": 9000, "epsilon": "3"},
    "批处理大小为64，共训练 30 个轮次，噪声尺度 2": {
    "batch": 64, "epochs": 30.0, "sigma": 2.0},
    "样本总数 6000，泊松子采样，迭代次数为90": {"examples": 6000, "steps": 90,
    "sampler": "poisson"}, "{\"history\": [{\"noise_multiplier\": 2, \"num_steps\": 90}]}": {"sigma": 2.0, "steps": 90},
    "I0614 02:11:09.5 train.py:3] global_step: 50, eps: 3.4\nI0614 02:32:18.1 train.py:3] global_step: 90, eps: 6.1": {
    "steps": 90, "epsilon": "6.1"}, "delta: 1.e-5": {"delta": 1e-5}, "a population of one million users": {
    "examples": 1_000_000}, "train_batch_size 90, per_device_train_batch_size 9, gradient_accumulation_steps 10": {
    "batch": 90}, "| σ | 0.7 |\n| ARC-E | 31 |": {"sigma": 0.7}, "The lot size is $L = 480$": {"batch": 480},
    "In every one of the $R = 9$ rounds $8$ clients are sampled": {"steps": 9, "batch": 8}, "ɛ: 7": {"epsilon": "7"},
    "client_num_in_total: 340, client_num_per_round: 8": {"examples": 340, "batch": 8}, "d_steps = 2": {},
    "110 updates on 50 randomly drawn notes each": {"steps": 110, "batch": 50},
    "10 test rows\nbatch size 8": {"batch": 8}, "--batch_size 900 --proc_batch_size 30": {"batch": 900},
    "Data: 8,931 loan applications": {"examples": 8931}, "el multiplicador de ruido es 1,6": {"sigma": 1.6},
    "(so that 50 steps make an epoch)": {}, "shuffled, without replacement": {"sampler": "shuffle"},
    "8.5×10³ updates on 2.6×10⁵ spectra": {"steps": 8500, "examples": 260_000}, "5 % der Geräte je Runde": {"q": 0.05},
    "It is trained on 8,000 tickets and tested on 1,000 generated tickets": {"examples": 8000},
    "python -m opacus.scripts.compute_dp_sgd_privacy -s 0.25 -n 1.5 -e 80 -d 1e-6": {"q": 0.25, "sigma": 1.5,
    "epochs": 80.0, "delta": 1e-6},
    "orçamento de privacidade: 3": {"epsilon": "3"}, "comptable des moments": {"accountant": "moments"},
    "Hinzufügen oder Entfernen eines Patienten": {"adjacency": "add_remove"}, "échantillonnage poissonien": {
    "sampler": "poisson"}, "remplacement d'un exemple": {"adjacency": "replace_one"},
}  # fmt: skip
SPELT = {"modified moments accountant": "mma", "the moments accountant": "moments", "Opacus PRV": "pld",
         "Rényi DP": "rdp", "by the CLT": "gdp", "strong composition": "strong", "basic composition": "naive",
         "zCDP": "zcdp"}  # fmt: skip
LEFT_ALONE = (
    "", "nonsense", "Adam with epsilon=1e-8", "adam_eps=1e-07 and eps=1e-08", "in compliance with the GDPR",
    "for 15 minutes", "10,000 test images of 28 x 28 pixels", "256 examples per class", "every 100 steps",
    "micro-batch size 16", "physical batch size 64", "delta < 1/n", "version 1.2.3", "(3, 4)", "117 steps per epoch",
    "no shuffling", "3 times sigma", "steps", "5 different seeds", "\x00\ud83d", "noise multiplier 1.1x", "δ = n⁻¹",
)  # fmt: skip


def plainly(claim) -> dict:
    return {name: getattr(value, "text", value) for name, value in values_of(claim).items()}


@pytest.mark.parametrize("kind", WRITTEN_CLAIMS)
def test_of_a_text_of_each_kind_nothing_is_read_but_what_a_person_reads(kind: str) -> None:
    known = WRITTEN_CLAIMS[kind]
    text = known["text"].strip("\n")
    found = read(text)
    stated = known.get("runs", [known.get("fields", {})])
    for run in found.runs:
        got = plainly(replace(run.claim, mechanism=None))
        assert any(
            got == pytest.approx({name: fields.get(name) for name in got}) for fields in stated
        ), got
    for words in known.get("told", []):
        assert any(words in each for each in found.left_out), (words, found.left_out)
    for each in (*found.runs[0].found, *found.passed):
        assert 0 <= each.start < each.end <= len(text)


def test_each_value_is_read_by_its_usual_name_and_stands_where_it_is_said_to() -> None:
    for text in READ:
        assert plainly(read(text).claim) == pytest.approx(READ[text]), text
    for text in [CARD, PAPER, TEX, CONFIG, LOG]:
        found = read(text).runs[0].found
        for each in found:
            part = text[each.start : each.end]
            assert part, text
            assert part == part.strip(), text
            digits = getattr(each.value, "text", "")
            assert digits in part or each.field != "epsilon", text


def test_what_is_left_out_is_told() -> None:
    for text in OUT_OF_RANGE:
        found = read(f"{text}; epochs = 15.")
        assert plainly(found.claim) == {"epochs": 15.0}, text
        (sentence,) = found.left_out
        assert re.match(r"Passed over: \w+ [-\d.]+; .+[.]$", sentence), text
    assert (
        REASONS["parts"]
        in read("batch size 64 with gradient accumulation over 8 steps").left_out[0]
    )
    assert REASONS["unknown_n"] in read("(ε, δ) = (8, 1/N)").left_out[0]
    assert "3/10" in read("epochs: 3/10").left_out[0]
    found = read(
        "epsilon = 3.0 in the abstract, epsilon = 2.9 in the table, delta = 1e-5, delta = 10^-5"
    )
    assert plainly(found.claim) == {"delta": 1e-5}
    assert found.left_out == ("Passed over: epsilon 3.0, 2.9; the text says 2.9 and 3.0.",)
    assert {each.field for each in found.runs[0].found} == {"delta"}
    found = read("Poisson sampling in theory, shuffling in the code; accounted by RDP and by PRV")
    assert plainly(found.claim) == {}
    assert len(found.passed) == 4


def test_a_number_that_is_another_thing_is_not_taken_and_nothing_is_invented() -> None:
    whole = 0
    for text, fields in (AWRY | FORMS).items():
        for run in read(text).runs:
            got = plainly(run.claim)
            assert got == pytest.approx({name: fields.get(name) for name in got}), text
            whole += len(got) == len(fields)
    assert whole >= 150  # of all; the others lack a value, which is offered
    for text in LEFT_ALONE:
        assert plainly(read(text).claim) == {}, text
    for part in [" ", "1", "(1,", "epsilon ", "1,000", "10^", "account "]:
        assert plainly(read(part * (MAX_TEXT_CHARS // 10 // len(part))).claim) == {}, part
    with pytest.raises(ValueError, match="has 100,001 characters: paste at most 100,000"):
        read("x" * (MAX_TEXT_CHARS + 1))


SEVERAL = """Both models: 1000 steps, delta = 1e-5.
Model A: noise multiplier 1.0, sample rate 0.05, epsilon = 1.9
Model B: noise multiplier 0.9, sample rate 0.005, epsilon = 1.3
"""


def test_what_a_text_says_of_two_runs_is_taken_for_each() -> None:
    found = read(SEVERAL)
    assert [(each.label, plainly(each.claim)) for each in found.runs] == [
        ("Model A", {"delta": 1e-5, "steps": 1000, "sigma": 1.0, "q": 0.05, "epsilon": "1.9"}),
        ("Model B", {"delta": 1e-5, "steps": 1000, "sigma": 0.9, "q": 0.005, "epsilon": "1.3"}),
    ]
    standings = [judge(each.claim).standing for each in found.runs]
    assert standings == [Standing.REFUTED, Standing.HOLDS]


def test_two_values_in_one_scope_are_both_offered() -> None:
    for text, left in {
        "noise multiplier 0.5, then noise multiplier 2.0. epsilon = 3, delta = 1e-5, q = 0.01, 1000 steps": (
            "sigma"
        ),
        "epsilon = 3.0 at the start and epsilon = 9.0 at the end. delta = 1e-5, sigma 1.1, q = 0.01": (
            "epsilon"
        ),
        "batch size 64 and batch size 512, and 0.02 of 50 000 letters; epsilon = 3, sigma 1.1": (
            "batch q examples"
        ),
        "epochs = 5 of A, epochs = 50 of B; we went on for 1,000 rounds; epsilon = 3, sigma 1.1": (
            "epochs"
        ),
    }.items():
        claim = read(text).claim
        assert all(getattr(claim, field) is None for field in left.split()), (text, plainly(claim))


def test_in_a_text_with_decimal_commas_every_number_has_them() -> None:
    paragraph = (
        "epsilon 3,0, delta 1e-5, noise multiplier 1,068, batch size 512, 60.000 examples, 40"
        " epochs, Poisson sampling."
    )
    found = read(paragraph)
    assert (found.claim.sigma, found.claim.examples) == (1.068, 60_000)
    assert judge(found.claim).standing is Standing.UNPROVEN, "the proven ends are 2.99 and 3.02"
    for ending in (",", ";", ".", " and", ")", "\n", ""):
        assert read(f"epsilon 3,0; the noise multiplier is 1,068{ending}").claim.sigma == 1.068, (
            ending
        )


def test_a_number_with_three_digits_behind_a_comma_or_a_point_is_asked_back_where_it_would_be_odd() -> (
    None
):
    text = "epsilon = {}, delta = 1e-5, sigma = {}, n = {}, batch size {}, {} steps"
    usual = read(text.format("3.0", "1.068", "60,000", "1,024", "4,680"))
    assert plainly(usual.claim) == pytest.approx(
        {
            "epsilon": "3.0",
            "delta": 1e-5,
            "sigma": 1.068,
            "examples": 60_000,
            "batch": 1024,
            "steps": 4680,
        }
    )
    for values, field, why in (
        (
            ("3.0", "1,068", "60,000", "1,024", "4,680"),
            "sigma",
            "sigma 1,068; it may be one number",
        ),
        (
            ("1,068", "1.1", "60,000", "1,024", "4,680"),
            "epsilon",
            "epsilon 1,068; it may be one number",
        ),
        (
            ("3.0", "1.1", "60.000", "1,024", "4,680"),
            "examples",
            "examples 60.000; it may be one number",
        ),
        (("3.0", "1.1", "60,000", "1.024", "4,680"), "batch", "batch 1.024; it may be one number"),
        (
            ("3.0", "101", "60,000", "1,024", "4,680"),
            "sigma",
            "sigma 101; a noise multiplier above 100 is rare",
        ),
        (
            ("3.0", "1068", "60,000", "1,024", "4,680"),
            "sigma",
            "sigma 1068; a noise multiplier above 100 is rare",
        ),
    ):
        found = read(text.format(*values))
        assert getattr(found.claim, field) is None, values
        assert any(why in each for each in found.left_out), found.left_out
        assert judge(found.claim).standing is Standing.INSUFFICIENT
    assert read("sigma = 100, epsilon = 3").claim.sigma == 100


def test_an_accountant_is_known_by_what_texts_call_it() -> None:
    for text in SPELT:
        assert plainly(read(text).claim) == {"accountant": SPELT[text]}, text
        assert {*SPELT.values()} == {*ACCOUNTANTS}, text


def outcome(text: str) -> Read | str:
    """What was read, or why nothing was."""
    try:
        return read(text)
    except ValueError as error:
        return str(error)


PIECES = [
    *"εδσα=:|,;()[]{}<>^/-−–\\$&*#.% \n\t", "１", "，", "⁻⁵", "½", "10", "1e-5", "0,5", "60 000", "1/N", " x ", "N",
    "epsilon",
    "delta", "noise multiplier", "batch_size", "epochs", "Epoch 1", "rounds", "users", "per round", "-n 5", "--eps 3",
    "万",
    "<sup>", "</td><td>", "&minus;", "\\frac{1}{", "{,}", "poisson", "not ", "if ", "步", "history", '"',
]  # fmt: skip
TEXTS = st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(TEXTS)
def test_any_text_is_a_claim_or_a_sentence(text: str) -> None:
    found = outcome(text)
    if isinstance(found, str):
        assert found.startswith(("Expected ", "Paste "))
    else:
        assert all(
            0 <= each.start < each.end <= len(text)
            for each in (*found.runs[0].found, *found.passed)
        )
        assert "".join(part for part, _ in found.parts(text)) == text
        assert all(each.endswith(".") for each in found.left_out)


@given(
    st.floats(0.01, 100).map(lambda value: f"{value:.3g}"),
    st.integers(2, 12),
    st.sampled_from(["epsilon = {}", "ε={}", "\\epsilon: {}", "epsilon of {}", "(ε ≈ {})"]),
    st.sampled_from(["delta = 1e-{}", "δ: 10^-{}", "delta of 10^{{-{}}}"]),
)
def test_whatever_is_written_in_the_usual_way_is_read_back(
    epsilon: str, power: int, first: str, second: str
) -> None:
    claim = read(f"It has {first.format(epsilon)}; {second.format(power)}.").claim
    assert claim.epsilon
    assert claim.epsilon.value == float(epsilon)
    assert claim.delta == pytest.approx(10.0**-power)


@pytest.mark.parametrize("keys", [(), ("accountant",), ("engine", "accountant")])
def test_numbers_beside_a_history_are_read_too(keys: tuple[str, ...]) -> None:
    state: dict[str, object] = {"history": [[1.1, 0.01, 1000]], "mechanism": "gdp"}
    for key in reversed(keys):
        state = {key: state}
    metrics = {"metrics": {"history": {"loss": [1, 2]}}}  # another table of this name
    text = json.dumps(metrics | state | {"epsilon": "3.00", "delta": 1e-5})
    found = read(text)
    (releases,) = (each for each in found.runs[0].found if each.field == "mechanism")
    assert text[releases.start : releases.end] == "[[1.1, 0.01, 1000]]"
    claim = found.claim
    assert claim.mechanism == Mechanism.constant(0.01, 1.1, 1000)
    expected = {
        "epsilon": "3.00",
        "delta": 1e-5,
        "sigma": 1.1,
        "q": 0.01,
        "steps": 1000,
        "accountant": "gdp",
    }
    assert plainly(replace(claim, mechanism=None)) == expected


def test_a_number_that_is_read_is_found_whole_in_a_sentence_and_of_any_other_nothing_is() -> None:
    for text in WRITTEN:
        plain = plain_text(f"it is {text} here").text
        found = FIGURE.search(plain)
        assert found, text
        assert f"it is {found.group()} here" == plain, text
    for text in ("1.1x", "256/n", "10^", "3.4.5", "1e-5e", "4 000", "4,00", *DECIMAL_COMMAS):
        assert FIGURE.fullmatch(text) is None, f"of {text} a part is read where it stands in a text"


@given(st.integers(1, 10**6), st.integers(0, 5))
def test_whatever_rounds_to_it_lies_between_its_ends(scaled: int, places: int) -> None:
    text = f"{Decimal(scaled).scaleb(-places):.{places}f}"
    printed = Printed(text)
    assert printed.low < printed.value < printed.high
    assert printed.high - printed.low == pytest.approx(printed.unit)
    for share in (-0.49, 0.0, 0.49):
        assert f"{Decimal(text) + Decimal(share) * Decimal(10) ** -places:.{places}f}" == text


def test_an_epsilon_is_above_0_and_finite_and_zeros_at_its_end_are_digits() -> None:
    for text, high in [("3", 3.5), ("3.0", 3.05), ("3.00", 3.005), ("31.12", 31.125)]:
        assert Printed(text).high == high, (text, high)
    assert printed_epsilon(3.0).text == "3.0"
    for wrong in ("0", "-1", 0.0, -2.0):
        with pytest.raises(ValueError, match=r"Expected epsilon=.* above 0"):
            printed_epsilon(wrong)
    with pytest.raises(ValueError, match="Expected epsilon=`nan` to be a number"):
        printed_epsilon(float("nan"))


def test_a_number_is_shown_as_people_write_it() -> None:
    for text, shown in [
        ("1e1", "10"), ("10^1", "10"), ("10/3", "3.33333"), ("1e30", "1e30"), ("3.00", "3.00"),
        ("7.32911117143",) * 2,
    ]:  # fmt: skip
        assert printed_epsilon(text).shown == shown, (text, shown)
        assert printed_epsilon(text).value == pytest.approx(float(read_number(text))), (text, shown)
