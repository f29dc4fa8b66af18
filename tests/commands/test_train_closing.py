"""What `train` says last: whose epsilon it is, what several runs cost, and what no epsilon covers."""

from dataclasses import replace

import pytest

from dpcore.commands.train import closing, config_of, naming_idle, parser
from dpcore.privacy.report.cautions import NOT_COVERED
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Started
from dpcore.training.progress.seed_summary import with_seeds

SA = RunConfig(acceptance="sa", public=500, batch=100, epochs=0.1)


def final(accepted: int | None = None) -> Finished:
    return Finished(10, 1.0, 0.5, accepted=accepted)


def test_the_epsilon_of_several_runs_is_that_of_each_alone_and_together_they_cost_more():
    alone, note = closing([RunConfig()], [final()])
    each, same = closing(with_seeds(RunConfig(), 3), [final()] * 3)
    assert alone.startswith("epsilon <= ")
    assert each.startswith(f"each run alone: {alone}; to release several of the 3, or the best, costs more: ")
    assert each.endswith("each has used the data")
    assert note == same == NOT_COVERED


def test_what_the_paper_would_claim_is_said_of_each_seed():
    configs = with_seeds(SA, 3)
    _, first, third, _ = closing(configs, [final(2), final(0), final(5)])  # where nothing was accepted it claims none
    assert first.startswith("Run 1: The paper would charge only the 2 of 10 steps")
    assert third.startswith("Run 3: The paper would charge only the 5 of 10 steps")
    assert closing(configs[:1], [final(2)])[1].startswith("The paper would charge only the 2 of 10")


def test_fixed_seeds_are_said_to_take_epsilon_from_those_who_know_them():
    assert not [line for line in closing([SA], [final()]) if "seed" in line]
    (line,) = [line for line in closing([replace(SA, seed=7)], [final()]) if "seed" in line]
    assert line.startswith("The seed is fixed (7): epsilon holds only for those who do not know it")
    (line,) = [line for line in closing(with_seeds(replace(SA, seed=7), 2), [final()] * 2) if "seed" in line]
    assert line.startswith("The seeds are fixed (7, 8): epsilon holds only for those who do not know them")


def test_where_there_is_no_epsilon_nothing_is_said_of_what_it_covers():
    for config in (RunConfig(sigma=0), RunConfig(private=False)):
        (line,) = closing(with_seeds(config, 2), [final()] * 2)
        assert line.startswith("Not private")


def test_a_noise_generator_that_is_used_anyway_is_refused_or_said_once_the_device_is_known(capsys):
    arguments = parser().parse_args(["--noise-generator", "secure", "--device", "cpu"])
    with pytest.raises(ValueError, match="no --noise-generator without privacy and a device that is not the CPU"):
        config_of(arguments)
    config, said = RunConfig(noise_generator="secure"), []
    naming_idle(config, said.append)(Started(1, 1, 0.5, "cuda", 1, ""))
    assert capsys.readouterr().err == ""
    naming_idle(config, said.append)(Started(1, 1, 0.5, "cpu", 1, ""))
    assert "--noise-generator secure changes nothing" in capsys.readouterr().err
    assert len(said) == 2
