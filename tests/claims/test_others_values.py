"""Values that stand beside their names and are not the training's: quoted, cited, asked, planned,
corrected, or of a training without privacy. None of them is taken.
"""

import pytest

from dpcore.claims import read
from dpcore.claims.claim import Claim, values_of

MAIL = "The sampling is Poisson.\n\n> This morning you wrote:\n> sigma 0.86, eps 5.7, delta 1e-9\n"
DEFAULTS = """p.add_argument("--sigma", type=float, default=1.0)
p.add_argument("--batch-size", type=int, default=256)
p.add_argument("--delta", type=float, default=1e-5)
"""
TABLE = """q = 0.02, 3000 steps, delta = 1e-5

| method | sigma | epsilon |
|---|---|---|
| theirs{} | 2.0 | 2.0 |
| ours | 1.5 | 3.89 |
"""
NEVER = {
    "a quoted mail": (MAIL, "epsilon", "5.7"),
    "a correction": (
        "I made a mistake. On the slide I had sigma = 1.0 and\nepsilon = 1.6 for the model.",
        "epsilon",
        "1.6",
    ),
    "a sentence of several that says all": (
        "On MNIST we use sigma = 1 and get epsilon = 9.5. On CIFAR-10 epsilon is 0.5.",
        "epsilon",
        "9.5",
    ),
    "a cited paper": (
        "Tramer and Boneh (2021) reach 69 % at epsilon = 3 and delta = 1e-5. We train nothing.",
        "epsilon",
        "3",
    ),
    "a question": ("We trained with sigma = 1.\n\n- Is epsilon = 3 realistic?", "epsilon", "3"),
    "a plan": ("sigma = 1.3\n\n## Next steps\n\n- epsilon = 1 for the board", "epsilon", "1"),
    "a run that failed": (
        "The first attempt, of which nothing was used:\n\n    python main.py --sigma 2.0\n",
        "sigma",
        2.0,
    ),
    "a training without privacy": (
        "- epsilon = 2.92, delta = 1e-5\n- without privacy: 91.3 % (20 epochs)",
        "epochs",
        20.0,
    ),
    "a comment beside another setting": (
        'split = "train"  # all of them; tuned at eps=1 only\nsigma = 3.0\n',
        "epsilon",
        "1",
    ),
    "a comment beside a command": (
        "python train.py --sigma 1.1 --delta 1e-5  # shuffled batches would break the accounting",
        "sampler",
        "shuffle",
    ),
    "a value that was changed": ("# bs 1024 -> 2048, see #88\nsigma = 1.1\n", "batch", 1024),
    "a unit before a sign": ("* 20 epochs = 2,400 steps\n* delta = 1e-5\n", "epochs", 2400.0),
    "a unit before a sign in a list": (
        "- 4,000 steps = 100 passes\n- delta = 1e-5\n",
        "steps",
        100,
    ),
    "one of several speakers": (
        "[18:02] ann: mine dies at eps 1\n[18:05] bob: batch 512, sigma .9, 12 epochs\n",
        "epsilon",
        "1",
    ),
    "a diary that takes back": (
        "### Mon\n- says eps = 4.27. nice\n\n### Wed\n- eps = 9.16, not 4.27 (same sigma)\n",
        "epsilon",
        "4.27",
    ),
    "a log whose epsilon begins anew": (
        "epoch 17/30 eps = 2.68\nloaded ckpt_017\nepoch 18/30 eps = 1.24\n",
        "epsilon",
        "1.24",
    ),
    "what others report": (
        "## What others report\n\n- eps = 8.9 at delta = 1e-10\n\n## Ours\n\n- sigma = 2\n",
        "epsilon",
        "8.9",
    ),
    "a training that was not made": (
        "target_epsilon=0.05, target_delta=1e-8, epochs=200\n\nI have not trained anything yet.",
        "epsilon",
        "0.05",
    ),
    "a question after a plan": (
        "sigma = 1.2, 2000 steps\n\nTo do next week: a run with 4000 steps & more noise?, ask IT",
        "steps",
        4000,
    ),
    "the steps of an epoch": ("[set] batch size = 600, 1 epoch = 80 steps\n", "steps", 80),
    "a target beside two that were spent": (
        "python train.py --target_epsilon 8 --sigma 1\n"
        "{'final_epsilon_prv': 7.984, 'final_epsilon_rdp': 9.168}\n",
        "epsilon",
        "8",
    ),
    "a run that failed in a table": (
        "| id | state | sigma | epsilon |\n|---|---|---|---|\n| a1 | FAILED | 1.5 | 3.9 |\n"
        "| b2 | FINISHED | 2.0 | 2.6 |\n",
        "sigma",
        1.5,
    ),
    "rows that a data base counts": (
        " sigma | eps\n-------+-----\n   4.0 | 1.0\n(4 rows)\n",
        "examples",
        4,
    ),
    "examples where clients are protected": (
        "User-level DP. The 342 clients hold 135,800 sentences in all; 1,500 rounds.",
        "examples",
        135_800,
    ),
}


def said(claim: Claim) -> str:
    """The epsilon of a claim as it is written."""
    return claim.epsilon.text if claim.epsilon else ""


@pytest.mark.parametrize(("text", "field", "value"), NEVER.values(), ids=NEVER)
def test_it_is_not_taken(text: str, field: str, value: object) -> None:
    for run in read(text).runs:
        found = values_of(run.claim).get(field)
        assert getattr(found, "text", found) != value


@pytest.mark.parametrize("mark", ["†", "$^\\dagger$", " (2022)", " [12]", ", Smith et al."])
def test_a_row_of_anothers_work_takes_nothing_from_the_sentences_around_the_table(
    mark: str,
) -> None:
    runs = read(TABLE.format(mark)).runs
    assert all(run.claim.epsilon.text != "2.0" for run in runs if run.claim.epsilon)
    (ours,) = [run.claim for run in runs if run.claim.sigma == 1.5]
    assert (ours.q, ours.steps, ours.delta) == (0.02, 3000, 1e-5)


def test_a_table_of_cited_works_alone_is_read() -> None:
    rows = "| Ada (2020) | 1.0 | 3 |\n| Bea (2021) | 2 | 1 |\n"
    text = f"| work | sigma | epsilon |\n|---|---|---|\n{rows}"
    assert [run.claim.sigma for run in read(text).runs] == [1.0, 2.0]


def test_defaults_hold_where_a_command_does_not_set_them() -> None:
    (run,) = read(f"{DEFAULTS}\n\n    python train.py --sigma 1.1 --epochs 60\n").runs
    assert (run.claim.sigma, run.claim.batch, run.claim.delta) == (1.1, 256, 1e-5)
    assert read(DEFAULTS).claim.sigma == 1.0


def test_an_epsilon_that_a_command_sets_is_a_target() -> None:
    found = read("python train.py --eps 3 --sigma 1.1\n\nfinal epsilon: 2.98")
    assert found.claim.epsilon.text == "2.98"
    assert "Epsilon 3 is a target, not what was spent." in read("python train.py --eps 3").notes


def test_a_prompt_is_no_quotation() -> None:
    text = "Run it:\n\n> python train.py --sigma 1.1 --delta 1e-5\n"
    assert read(text).claim.sigma == 1.1


def test_of_a_log_in_json_the_last_line_with_an_epsilon_is_the_end() -> None:
    lines = [
        '{"event": "start", "n_train": 1000000, "noise_multiplier": 0.7, "delta": 1e-07}',
        '{"event": "step", "step": 500, "epsilon": 2.8968}',
        '{"event": "eval", "step": 500, "n": 20000}',
        '{"event": "step", "step": 5000, "epsilon": 3.6802}',
        '{"event": "eval", "step": 5000, "n": 20000}',
    ]
    (run,) = read("\n".join(lines)).runs
    assert (run.claim.steps, run.claim.epsilon.text) == (5000, "3.6802")
    assert (run.claim.sigma, run.claim.examples) == (0.7, 1_000_000)


def test_what_stands_behind_a_table_is_of_its_rows_only_if_it_says_so() -> None:
    table = "| run | sigma | epsilon |\n|---|---|---|\n| a | 1.0 | 3 |\n| b | 2.0 | 1 |\n\n"
    behind = "batch size 512, epochs 20, 50000 training examples"
    for label, taken in (("Common Voice", None), ("All but b", None), ("Both runs", 512)):
        runs = read(f"{table}{label}: {behind}\n").runs
        assert [run.claim.batch for run in runs] == [taken, taken], label


def test_a_word_of_correction_alone_takes_nothing_back() -> None:
    text = "We use the spelling correction data set. We train with epsilon = 3 and sigma = 1.1."
    assert read(text).claim.sigma == 1.1


@pytest.mark.parametrize(
    "text",
    [
        "The paper's run spent (3.14, 1e-5)-DP by `python train.py --sigma 1.0`.\n\n"
        "class Config:\n    sigma: float = 1.3\n    epochs: int = 40\n",
        "dp:\n  enabled: false\n  noise_multiplier: 0.6\n  accountant: prv\n",
    ],
)
def test_beside_an_epsilon_that_is_nobodys_no_number_is_taken(text: str) -> None:
    for run in read(text).runs:
        assert run.claim == Claim() or (run.claim.epsilon and run.claim.epsilon.text == "3.14")


def test_the_section_of_a_plain_training_is_none_of_the_private_one() -> None:
    text = "eps = 2.57\n\n[plain]\nbatch_size = 128\nepochs = 50\n\n[dp]\nnoise_multiplier = 1.25\n"
    claim = read(text).claim
    assert (claim.sigma, claim.batch, claim.epochs) == (1.25, None, None)


def test_settings_alone_and_two_epsilons_of_one_training_leave_the_numbers_taken() -> None:
    assert read("sigma = 1.1\nepochs = 60\n").claim.sigma == 1.1
    found = read("epsilon 1.34 with sigma 1.3, epsilon 8.68 with sigma 0.7; batch size 256.").claim
    assert (found.epsilon, found.batch) == (None, 256)


def test_a_table_of_numbers_that_are_not_ours_is_no_claim() -> None:
    rows = "| | |\n|---|---|\n| epsilon | 8.0 |\n| sigma | 2.5 |\n"
    text = f"The numbers are not ours.\n\n{rows}\nWe have never trained on ImageNet.\n"
    assert read(text).claim == Claim()


def test_a_training_is_read_with_one_value_of_each_kind_that_the_text_has() -> None:
    text = (
        "| | |\n|---|---|\n| epsilon, delta | 2.46, 5e-7 |\n| sigma | 0.65 |\n| steps | 1,763 |\n\n"
        "Perplexity without DP: 22.4. An old card\nsaid epsilon = 1.9; that was for delta = 5e-6.\n"
    )
    (run,) = read(text).runs
    assert (said(run.claim), run.claim.sigma) == ("2.46", 0.65)
    text = "- model a: sigma = 1.1, q = 0.01, epsilon = 2\n- model b: epsilon = 3, delta = 1e-6\n"
    (run,) = read(text).runs
    assert (said(run.claim), run.claim.sigma) == ("2", 1.1)


def test_a_training_of_its_own_says_nothing_of_the_rows_of_a_table() -> None:
    table = "| who | epsilon | sigma |\n|---|---|---|\n| a | 1 | 2 |\n| b | 3 | 1 |\n"
    runs = read(f"The first: q = 0.01, 1000 steps, epsilon = 2.\n\n{table}").runs
    assert [(said(run.claim), run.claim.q) for run in runs] == [("1", None), ("3", None)]
    runs = read(f"All have q = 0.01 and 1000 steps.\n\n{table}").runs
    assert [run.claim.q for run in runs] == [0.01, 0.01]


def test_an_epsilon_with_a_doubt_keeps_a_budget_from_being_taken_as_spent() -> None:
    text = (
        "budget_epsilon = 3.0\nnoise_multiplier = 0.9\nepochs = 20\n\n"
        "The accountant stood at eps = 2.54, so I would rather stop.\n"
    )
    assert said(read(text).claim) != "3.0"


def test_a_number_of_a_formula_is_no_value() -> None:
    text = "sigma = 0.7, 20 epochs. In your code is `q = 1 / len(dataset)`, and eps = 6.22.\n"
    assert read(text).claim.q is None


def test_rows_of_a_batch_are_no_examples() -> None:
    text = "Rows enter a batch at random; on average a batch has 8,192 rows. sigma = 0.6\n"
    assert read(text).claim.examples is None


def test_a_column_that_is_called_wrong_is_no_claim() -> None:
    head = "| | 1.0 (wrong) | 1.1 (correct) |\n|---|---|---|\n"
    (run,) = read(
        f"{head}| sigma | 0.9 | 0.9 |\n| steps | 17 | 16 |\n| epsilon | 4.43 | 4.73 |\n"
    ).runs
    assert (said(run.claim), run.claim.steps) == ("4.73", 16)


def test_a_default_is_used_only_where_no_other_value_of_its_field_stands() -> None:
    command = "# $ python train.py --sigma 1.6\n# eps = 2.61, delta = 1e-5\n"
    assert read(f"{DEFAULTS}\n{command}").claim.sigma is None


def test_the_examples_in_brackets_behind_a_data_set_are_taken() -> None:
    assert read("MNIST (60,000 training images), sigma = 1.1.").claim.examples == 60_000
    assert read("Tested on CIFAR-10 (10,000 test images). sigma = 1.1").claim.examples is None
    assert read("sigma = 1.1\n(4 rows)\n").claim.examples is None


def test_a_table_whose_caption_says_that_it_is_of_earlier_work_is_no_claim() -> None:
    rows = "| name | sigma | epsilon |\n|---|---|---|\n| a | 2 | 1 |\n| b | 1 | 3 |\n"
    assert read(f"Table 5: earlier results\n\n{rows}").claim == Claim()
    assert len(read(f"Table 5: our results\n\n{rows}").runs) == 2


def test_the_last_line_of_a_log_is_the_end_only_if_it_prints_an_epsilon() -> None:
    lines = "{'epoch': 4.88, 'step': 200}\n{'epoch': 9.76, 'step': 400}\n"
    text = f"sigma = 0.85\n{lines}privacy spent: {{'eps': 5.206}}\n"
    assert read(text).claim.steps is None
    assert read(f"  Total optimization steps = 410\n{text}").claim.steps == 410


def test_an_epsilon_in_a_comment_keeps_a_limit_from_being_taken_as_spent() -> None:
    limit = "noise_multiplier = 3.0\nstop_training_at_epsilon = 8.0\n"
    assert said(read(f"# update_step=1200 dp_epsilon=4.667\n{limit}").claim) == ""


def test_nothing_is_taken_of_a_text_with_two_values_of_others() -> None:
    ours = "We train with sigma = 1.1 and reach epsilon = 2.3.\n\n"
    one = ours + "In the first run sigma was 0.9.\n"
    assert read(one).claim.sigma == 1.1
    two = ours + "In the first run sigma was 0.9 and epsilon 4.\n"
    assert read(two).claim == Claim()
    said_here = ours + "In the first run, too, sigma was 1.1 and epsilon 2.3.\n"
    assert read(said_here).claim.sigma == 1.1


def test_beside_several_trainings_one_value_of_another_is_enough() -> None:
    patch = "@@ -1,2 +1,2 @@\n-  noise_multiplier: 1.0\n+  noise_multiplier: 1.1\n   epochs: 25\n"
    table = "\n| | epsilon |\n|---|---|\n| main | 3.41 |\n| here | 2.84 |\n"
    assert read(patch + table).claim == Claim()
    rows = "\n| sigma | epsilon |\n|---|---|\n| 1 | 3.41 |\n| 2 | 2.84 |\n| baseline: 3 | 2 |\n"
    assert [each.claim.sigma for each in read(rows).runs] == [1, 2]


def test_a_training_of_one_epsilon_with_two_values_of_another_number_is_offered() -> None:
    settings = "sigma = 1.1\nepochs = 60\nepsilon = 2\n"
    assert read(settings + "batch size 256\n").claim.epochs == 60
    assert read(settings + "batch size 256\n\nbatch size 512\n").claim == Claim()


def test_a_training_without_what_half_of_the_others_have_is_offered() -> None:
    rows = "| sigma | q | epsilon |\n|---|---|---|\n| 1 | 0.1 | 9 |\n| 2 | 0.1 | 3 |\n{}"
    assert len(read(rows.format("| 3 | 0.1 | 1 |\n")).runs) == 3
    assert [each.claim.sigma for each in read(rows.format("| 3 | - | 1 |\n")).runs] == [1, 2]


def test_what_stands_in_a_line_with_another_epsilon_is_not_taken() -> None:
    log = "sigma=1 q=0.01\naccountant at {} steps, epsilon={}\nfinal epsilon=3.2\n"
    assert read(log.format(2648, 3.2)).claim.steps == 2648
    found = read(log.format(2648, 2.9)).claim
    assert (said(found), found.sigma, found.steps) == ("3.2", 1, None)
    for other in ("target_epsilon=4", "adam_eps=1e-8"):
        found = read(f"sigma=1 q=0.01 {other}\nfinal epsilon=3.2\n").claim
        assert (said(found), found.sigma) == ("3.2", 1)
    optimizer = '{"optimizer": {"eps": 1e-07}, "batch_size": 400}\n{"epsilon": 3.2, "sigma": 1}'
    assert read(optimizer).claim.batch == 400
    beside = "With sigma = 1 we reach epsilon = 3.2, and epsilon = 0.7 at the physical batch size."
    assert read(beside).claim.sigma == 1


def test_trainings_that_may_be_places_in_one_are_offered() -> None:
    run = "- after {} steps with sigma = 1.1: epsilon = {}\n"
    assert read(run.format(1000, 1.2) + run.format(2000, 1.7)).claim == Claim()
    falling = read(run.format(1000, 1.7) + run.format(2000, 1.2))
    assert [each.claim.steps for each in falling.runs] == [1000, 2000]


def test_of_a_training_without_noise_nothing_is_taken() -> None:
    rows = "| sigma | epsilon | epochs |\n|---|---|---|\n| 0.0 | 50 | 10 |\n| 1.0 | 3 | 10 |\n"
    assert [each.claim.sigma for each in read(rows).runs] == [1]


def test_steps_of_a_log_that_begin_again_in_each_epoch_are_no_end() -> None:
    line = "Epoch: {} | Step: {} | epsilon: {}\n"
    again = line.format(1, 600, 2.1) + line.format(2, 600, 3.2)
    assert (read(again).claim.epochs, read(again).claim.steps) == (2, None)
    on = line.format(1, 600, 2.1) + line.format(2, 1200, 3.2)
    assert (read(on).claim.epochs, read(on).claim.steps) == (2, 1200)


def test_without_an_epsilon_of_its_own_a_log_has_no_end() -> None:
    line = '{{"epoch": {}, "step": {}, "epsilon": {}}}\n'
    log = '{"noise_multiplier": 1.0}\n' + line.format(1, 88, 1.2) + line.format(2, 176, 1.4)
    assert read(log).claim.steps == 176
    found = read(log + '{"final": true, "eps": 1.5}\n').claim
    assert (found.sigma, found.steps) == (1, None)


def test_a_column_of_defaults_is_no_training() -> None:
    rows = (
        "| name | type | default |\n|---|---|---|\n| epochs | int | 3 |\n| sigma | float | 1.1 |\n"
    )
    assert read(rows).claim == Claim()
    assert read(rows.replace("default", "value")).claim.sigma == 1.1


def test_images_in_the_brackets_of_a_model_are_not_those_of_the_training() -> None:
    text = "We tune a network (ImageNet, 14M images) {} with sigma = 1 and batch size 256."
    assert read(text.format("on CIFAR-10")).claim.examples is None
    assert read(text.format("")).claim.examples == 14_000_000


def test_rows_of_html_stand_one_below_the_other() -> None:
    rows = ("epsilon (RDP, alpha = 11)</th><td>1.67", "privacy budget</th><td>epsilon &le; 2")
    text = "".join(f"<tr><th>{each}</td></tr>\n" for each in ("sigma</th><td>1.2", *rows))
    assert said(read(f"<table>\n{text}</table>").claim) == "1.67"


def test_of_two_epsilons_nobody_knows_which_a_planned_length_is_of() -> None:
    rounds = '{"round": 1, "eps": 1.5}\n{"round": 2, "eps": 1.7}\n{"done": true, "epsilon": 1.9}\n'
    assert read('{"z": 1.0, "delta": 1e-6, "max_steps": 1500}\n' + rounds).claim.steps is None
    assert read("sigma = 1.0\nmax_steps = 1500\n").claim.steps == 1500


def test_the_last_row_of_a_table_is_not_of_the_trainings_of_another_table() -> None:
    rounds = "| round | clients |\n|---|---|\n| 1 | 97 |\n| 1500 | 102 |\n\n"
    rows = "| sigma | epsilon |\n|---|---|\n| 0.7 | 15 |\n| 1.0 | 6.7 |\n"
    assert [each.claim.examples for each in read(rounds + rows).runs] == [None, None]
    settings = "| | |\n|---|---|\n| delta | 1e-5 |\n| epochs | 20 |\n\n"
    assert [each.claim.epochs for each in read(settings + rows).runs] == [20, 20]


def test_a_constant_of_a_program_is_set_before_the_training() -> None:
    spent = "EPSILON = 6.0\nsigma = 0.74\n\nEpoch: 20, epsilon = 5.99\n"
    assert said(read(spent).claim) == "5.99"
    assert any("target" in each for each in read("EPSILON = 6.0\nsigma = 0.74\n").notes)


def test_a_number_of_zcdp_names_no_accountant() -> None:
    assert read("sigma = 1, accounted by zCDP.").claim.accountant == "zcdp"
    assert read("sigma = 1. The release has a zCDP of 0.81.").claim.accountant is None


def test_privacy_is_off_below_a_comment_too() -> None:
    text = "privacy:\n  # not yet, see 2291\n  enabled: false\n  noiseMultiplier: 1.1\n"
    assert read(text).claim == Claim()


LONG = "The weather was fine on all days of that week, as nobody will forget. " * 9


def test_of_a_long_text_no_part_of_a_training_is_taken() -> None:
    part = "epsilon = 2, sigma = 1.1, epochs = 20."
    assert read(part).claim.sigma == 1.1
    assert read(LONG + part).claim == Claim()
    assert read(f"{LONG}{part} Batch size 256.").claim.sigma == 1.1
    settings = "sigma = 1.1, epochs = 20, batch size 256."
    assert read(LONG + settings).claim.sigma == 1.1
    assert read(f"{LONG}{settings}\n\nepsilon = 2\n\nepsilon = 3\n").claim == Claim()


def test_a_record_within_a_long_text_says_a_part_of_its_training() -> None:
    state = 'state: {"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}\n'
    found = read(f"{state}{LONG}At delta = 1e-5 the accountant said epsilon = 2.").claim
    assert (said(found), found.sigma) == ("2", 1.1)


def test_a_long_text_is_one_that_says_much() -> None:
    part = "epsilon = 2, sigma = 1.1, epochs = 20."
    assert read("那一周每天的天气都很好。" * 17 + part).claim == Claim()
    assert read(LONG[:204] + part).claim.sigma == 1.1


def test_of_a_long_text_numbers_that_contradict_each_other_are_offered() -> None:
    text = "sigma = 1.1, q = 0.01, epsilon = 3, 2000 steps, 40 epochs."
    assert read(text).claim.epochs == 40
    assert read(LONG + text).claim == Claim()
    assert read(LONG + text.replace("40", "20")).claim.epochs == 20


def test_what_each_round_drew_is_not_of_the_training() -> None:
    log = "sigma = 1, user-level\nround,clients,epsilon\n{}"
    assert read(log.format("1,103,1.2\n20,96,2.1\n40,107,2.4\n")).claim.examples is None
    found = read(log.format("1,103,1.2\n20,103,2.1\n40,103,2.4\n")).claim
    assert (found.examples, found.steps, said(found)) == (103, 40, "2.4")


def test_where_a_program_failed_nothing_was_trained() -> None:
    call = "engine.make_private(noise_multiplier=1.3, epochs=20)\n"
    assert read(call).claim.sigma == 1.3
    assert read(f"Traceback (most recent call last):\n{call}").claim == Claim()
    assert read(f"{call}E       assert 3.2 == 2.9\n").claim == Claim()


def test_of_a_long_text_no_target_is_taken() -> None:
    settings = "target_epsilon = 8\nsigma = 1.1\nepochs = 20\nbatch_size = 256\n"
    assert said(read(settings).claim) == "8"
    found = read(LONG + "\n" + settings).claim
    assert (said(found), found.sigma) == ("", 1.1)


def test_a_cell_that_speaks_of_epsilon_keeps_a_target_from_being_taken() -> None:
    rows = "| a | b |\n|---|---|\n| sigma | 2.4 |\n| target epsilon | 1.5 |\n| {} | 1.45 |\n"
    assert said(read(rows.format("accuracy")).claim) == "1.5"
    assert said(read(rows.format("spent epsilon at end of training")).claim) == ""


def test_several_names_before_several_numbers_name_none() -> None:
    line = "{}n, b, z, T = 120000, 500, 0.75, 4800  # 20 epochs\n"
    for prompt in ("", ">>> "):
        assert read("delta = 1e-5\n" + line.format(prompt)).claim.steps is None


DOUBTED = {
    "another": "In earlier work epochs = 30 and batch size = 512.",
    "supposed": "Who knows what comes if epochs = 30 and batch size = 512.",
    "unclear": "- epochs = 30, except at night\n- batch size = 512, except at night",
    "several": "Model A has epochs = 30. Model B has batch size = 512.",
}


@pytest.mark.parametrize("others", DOUBTED.values(), ids=DOUBTED)
def test_values_of_others_are_told_in_many_ways(others: str) -> None:
    ours = "- sigma = 1.1\n- q = 0.01\n- epsilon = 2\n\n"
    assert read(ours).claim.sigma == 1.1
    assert read(ours + others).claim == Claim()


def test_trainings_of_another_noise_or_delta_are_no_places_in_one() -> None:
    run = "- after {} rounds with sigma = {}: epsilon = {}\n"
    users = "user-level\n\n"
    places = run.format(1000, 1.1, 1.2) + run.format(2000, 1.1, 1.7)
    assert read(users + places).claim == Claim()
    runs = run.format(1000, 1.1, 1.2) + run.format(2000, 1.3, 1.7)
    assert [each.claim.steps for each in read(users + runs).runs] == [1000, 2000]


def test_a_part_with_an_epsilon_is_not_what_a_training_with_one_has_in_common() -> None:
    text = (
        "# a\n\nsigma = 2, q = 0.1, epsilon = 0.9.\n\n## b\n\nepochs = 3\n\n## c\n\nepsilon = 7\n"
    )
    assert said(read(text).claim) != "7"


def test_an_optimizers_epsilon_is_not_another_one() -> None:
    line = "q = 0.01, sigma = 1.1, eps: 1e-8\n\nepsilon = 2\n"
    assert read(line).claim.sigma == 1.1


def test_of_the_numbers_before_a_training_the_program_shuffles_none() -> None:
    assert read("sigma = 1.1\nDataLoader(train, shuffle=True)\n").claim.sampler is None
    assert read("sigma = 1.1, shuffled batches").claim.sampler == "shuffle"


def test_the_images_of_a_measure_are_not_the_trainings() -> None:
    text = "sigma = 1.1, q = 0.01.\n\nFID? 31.4 with 30k samples.\n"
    assert read(text).claim.examples is None


def test_what_is_taken_of_a_long_text_is_a_whole_training() -> None:
    federated = "Each client trains locally. sigma = 1.1, epochs = 5, batch size 32, epsilon = 2."
    assert read(LONG + federated).claim == Claim()
    spread = "noise standard deviation 0.5, epochs = 5, batch size 256, epsilon = 2."
    assert read(LONG + spread).claim == Claim()
    state = 'state: {"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}\n'
    assert read(f"{state}{LONG}sigma = 2.0 and epsilon = 2.").claim.epsilon is None
    two = 'state: {"history": [[1.1, 0.01, 1000], [1.3, 0.01, 500]], "mechanism": "rdp"}\n'
    assert said(read(f"{two}{LONG}At delta = 1e-5 the accountant said epsilon = 2.").claim) == "2"


def test_beside_a_row_of_ours_the_others_are_of_others() -> None:
    rows = (
        "| who | sigma | epsilon |\n|---|---|---|\n| tutorial | 1.3 | 1.2 |\n| {} | 0.7 | 6.4 |\n"
    )
    assert [each.claim.sigma for each in read(rows.format("mine")).runs] == [0.7]
    assert [each.claim.sigma for each in read(rows.format("second")).runs] == [1.3, 0.7]


def test_a_relation_that_is_only_supposed_is_none() -> None:
    text = "sigma = 0.7, neighboring: {}\n(with add/remove it'd be 5.7)\n"
    assert read(text.format("one record")).claim.adjacency is None
    assert read(text.format("replace_one")).claim.adjacency == "replace_one"


def test_what_an_original_has_is_not_ours() -> None:
    text = "The {} has batch_size 4096, noise_multiplier 3.0 and 875 updates."
    assert read(text.format("original file")).claim == Claim()
    assert read(text.format("file")).claim.sigma == 3
