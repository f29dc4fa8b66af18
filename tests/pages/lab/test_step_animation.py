"""One step, shown slowly: every number of it is the run's own."""

import re

import pytest

from pages.parts.lab.step_animation import Step, step_html

STEP = Step(40, 10_000, 0.0256, 0.1, 1.23, (0.05, 0.08, 0.2, 0.4, 0.9), 0.62)


def bars(html: str) -> list[tuple[float, float]]:
    """Where each bar ends and begins, as shares of the longest."""
    return [(float(to), float(since)) for to, since in re.findall(r"--to:([\d.]+);--from:([\d.]+)", html)]


def test_it_has_four_stages_with_the_runs_numbers():
    html = step_html(STEP)
    assert html.count("<li ") == 4
    for told in ("Step 40", "10,000 examples", "q = 0.0256", "about 256", "C = 0.1", "62 %", "1.23 times 0.1 = 0.123"):
        assert told in html


def test_clipping_shortens_what_is_longer_than_c_and_nothing_else():
    before, after = bars(step_html(STEP))[:5], bars(step_html(STEP))[5:10]
    widest = 4 * 0.123
    assert [to for to, _ in before] == pytest.approx([min(norm / widest, 1) for norm in STEP.norms], abs=1e-4)
    assert [to for to, _ in after] == pytest.approx([min(norm, 0.1) / widest for norm in STEP.norms], abs=1e-4)
    assert [since for _, since in after] == [to for to, _ in before]


def test_noise_and_what_one_example_adds_are_drawn_on_one_scale():
    most, noise = bars(step_html(STEP))[10:]
    assert noise[0] / most[0] == pytest.approx(1.23, rel=1e-2)
