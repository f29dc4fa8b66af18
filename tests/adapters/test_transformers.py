"""Hugging Face's Trainer with the callback of a followed run, on a private training by Opacus."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import dpcore
import dpcore.transformers
from dpcore.runs.followed.events import Logged
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated
from tests.adapters.examples import check_stopped, kept_in, library, lines_of

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
EXAMPLES = 400
BATCH = 40
SIGMA = 1.5
TOLD = {"delta": 1e-3, "examples": EXAMPLES, "batch": BATCH, "sigma": SIGMA, "unit": "sentence"}
WORDS = 60


def sentences(count: int) -> list[dict[str, torch.Tensor]]:
    """Made-up sentences, of which the second kind has words of its own."""
    found = []
    for place in range(count):
        label = place % 2
        words = torch.randint(1 + 10 * label, WORDS, (12,))
        found.append({"input_ids": words, "labels": torch.tensor(label)})
    return found


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A tiny BERT from its configuration, whose upper layers Opacus trains privately."""
    transformers = library("transformers")
    opacus = library("opacus")
    optimizers = library("opacus.optimizers")
    samplers = library("opacus.utils.uniform_sampler")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=WORDS,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    bert = transformers.BertForSequenceClassification(config)
    for each in bert.bert.embeddings.parameters():
        each.requires_grad_(False)  # all examples share one row of positions
    model = opacus.GradSampleModule(bert)
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizer = optimizers.DPOptimizer(
        torch.optim.SGD(learned, lr=0.5),
        noise_multiplier=SIGMA,
        max_grad_norm=1.0,
        expected_batch_size=BATCH,
    )
    # The trainer clears the model's gradients alone, not the sums that Opacus holds.
    optimizer.original_optimizer.register_step_post_hook(lambda *_: optimizer.zero_grad())
    taken: list[int] = []
    optimizer.attach_step_hook(lambda _: taken.append(1))
    batches = samplers.UniformWithReplacementSampler(
        num_samples=EXAMPLES, sample_rate=BATCH / EXAMPLES
    )
    loader = torch.utils.data.DataLoader(
        sentences(EXAMPLES),
        batch_sampler=batches,
        collate_fn=transformers.default_data_collator,
    )

    def arguments(**more: Any) -> Any:
        usual = {"report_to": [], "save_strategy": "no", "disable_tqdm": True}
        usual |= {"use_cpu": True, "max_grad_norm": 0.0, "logging_steps": 5}
        usual |= {"remove_unused_columns": False, "label_names": ["labels"]}
        return transformers.TrainingArguments(output_dir=str(tmp_path / "out"), **usual, **more)

    return SimpleNamespace(
        model=model, optimizer=optimizer, loader=loader, taken=taken, arguments=arguments
    )


def shares_right(found: Any) -> dict[str, float]:
    return {"accuracy": float((found.predictions.argmax(1) == found.label_ids).mean())}


def trainer_of(private: Any, run: Any, tested: Any = None, **more: Any) -> Any:
    transformers = library("transformers")
    trainer = transformers.Trainer(
        private.model,
        private.arguments(**more),
        eval_dataset=tested,
        compute_metrics=shares_right,
        callbacks=[dpcore.transformers.callback(run)],
        optimizers=(private.optimizer, None),
    )
    trainer.get_train_dataloader = lambda: private.loader
    return trainer


def test_the_example_counts_logs_and_stops_at_its_target(store: Store, private: Any):
    names = {
        "dpcore": dpcore,
        "model": private.model,
        "arguments": private.arguments(num_train_epochs=50.0),
        "optimizer": private.optimizer,
        "loader": private.loader,
        "told": TOLD,
    }
    exec(lines_of("Hugging Face's Trainer"), names)
    kept = kept_in(store)
    check_stopped(kept, 3.0)
    assert kept.done == len(private.taken) == names["trainer"].state.global_step
    events = list(store.events(kept.id))
    losses = [each for each in events if isinstance(each, Logged) and "loss" in each.values]
    assert [each.step for each in losses] == list(range(5, kept.done + 1, 5))


def test_its_epsilon_is_that_of_the_same_steps_and_its_accuracy_is_drawn(
    store: Store, private: Any
):
    with dpcore.follow("mine", **TOLD) as run:
        measured = {"eval_strategy": "steps", "eval_steps": 6}
        trainer_of(private, run, sentences(40), max_steps=12, **measured).train()
        assert run.steps == len(private.taken) == 12
        mechanism = dpcore.Mechanism.constant(BATCH / EXAMPLES, SIGMA, 12)
        assert run.epsilon() == dpcore.epsilon(mechanism, 1e-3)
    events = store.events(kept_in(store).id)
    assert [each.step for each in events if isinstance(each, Evaluated)] == [6, 12]


def test_batches_whose_gradients_are_accumulated_are_one_step(store: Store, private: Any):
    with dpcore.follow("mine", **TOLD) as run:
        trainer = trainer_of(private, run, max_steps=7, gradient_accumulation_steps=3)
        trainer.train()
        assert run.steps == len(private.taken) == trainer.state.global_step == 7


def test_batches_that_opacus_cuts_to_fit_are_one_step(store: Store, private: Any):
    memory = library("opacus.utils.batch_memory_manager")
    private.loader = memory.wrap_data_loader(
        data_loader=private.loader, max_batch_size=15, optimizer=private.optimizer
    )
    with dpcore.follow("mine", **TOLD) as run:
        trainer_of(private, run, max_steps=30).train()
        assert 5 < run.steps == len(private.taken) < 16


def test_a_spent_run_takes_no_step(store: Store, private: Any):
    with dpcore.follow("mine", id="spent", target_epsilon=1.0, **TOLD) as run:
        trainer_of(private, run, num_train_epochs=50.0).train()
    kept = kept_in(store)
    check_stopped(kept, 1.0)
    assert kept.done == len(private.taken)
    with dpcore.follow("mine", id="spent", **TOLD) as run:
        trainer = trainer_of(private, run, num_train_epochs=50.0)
        with pytest.raises(ValueError, match="exceed target_epsilon=1"):
            trainer.train()
    assert kept_in(store).done == kept.done == len(private.taken)
