"""A form is a function of its texts: the same without a page, with one text changed, and with
faults in them.
"""

from types import SimpleNamespace

import pytest

from dpcore.training.settings import SETTINGS
from dpcore.written_number import FORMS
from pages.parts.components import elements
from pages.parts.controls import url_state
from pages.parts.controls.fields import Fields
from pages.parts.controls.mechanism import setting_of
from pages.parts.controls.presets import PRESETS
from pages.parts.train.form import form_of


class Session(dict):
    to_dict = dict.copy


class Address(dict):
    def get_all(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


def test_a_text_that_was_good_on_another_page_alone_gives_way_to_the_default():
    fields = Fields({"sigma": "0"}, {"sigma": "0"})  # no noise, as the lab allows
    setting = setting_of(fields)
    assert setting.sigma == 4.0
    assert "Showing 4" in fields.rows["sigma"].fault


def form(**texts: str):
    return form_of(Fields(texts), "cpu")


def test_a_moved_field_makes_the_form_of_the_texts_with_that_one_changed():
    for texts, field, text in (
        ({"schedule": "exponential"}, "sigma", "3"),
        ({}, "batch", "512"),
        ({}, "epochs", "12"),
        ({"sampling": "q", "q": "0.01"}, "q", "0.02"),
        ({"length": "steps", "steps": "100"}, "steps", "700"),
        ({"length": "steps", "steps": "100"}, "batch", "100"),
        ({"dataset": "other", "n": "5000"}, "n", "7000"),
        ({}, "delta", "1e-6"),
        ({"features": "pixels", "model": "mlp", "pca": "20"}, "pca_sigma", "5"),
        ({"views": "1"}, "mean_sigma", "4"),
        ({"acceptance": "sa"}, "public", "500"),
        ({}, "clip_norm", "0.2"),
    ):
        before = form(**texts)
        moved, again = before.moved(field, text), form(**texts | {field: text})
        assert moved is not None
        assert (moved.mechanism, moved.pinnable) == (again.mechanism, again.pinnable), field
        assert [each.to_json() for each in moved.configs] == [
            each.to_json() for each in again.configs
        ], field
        assert moved != before, field


def test_a_text_that_cannot_be_read_is_a_fault_beside_the_last_good_one():
    fields = Fields({"sigma": "nonsense", "epochs": "7"}, {"sigma": "2"})
    found = form_of(fields, "cpu")
    assert (found.sigma, found.problem) == (2.0, "")
    assert (
        fields.rows["sigma"].fault
        == f"Noise multiplier sigma must be a number: {FORMS}. Showing 2."
    )


def test_values_that_clash_are_a_problem_that_names_its_field_and_leave_no_texts_to_move():
    for texts, field in (
        ({"batch": "999999"}, "batch"),
        ({"schedule": "linear", "rate_linear": "1e9"}, "rate_linear"),
        ({"seed": "x"}, "seed"),
        ({"epochs": "1e12"}, "epochs"),
    ):
        fields = Fields(texts, {})
        found = form_of(fields, "cpu")
        assert " must " in found.problem, field
        assert fields.named_in(found.problem) == field
        assert (found.configs, found.texts) == ((), {})
        with pytest.raises(ValueError, match="Expected "):
            form_of(Fields(texts), "cpu")


def test_a_setting_is_asked_for_where_it_changes_something():
    for texts in (
        {},
        {"features": "pixels", "model": "mlp", "pca": "20"},
        {"features": "pixels", "optimizer": "pi_adam", "schedule": "linear"},
        {"acceptance": "sa", "lr_schedule": "cosine", "stop_epsilon": "5"},
        {"dataset": "fashion_mnist", "features": "pixels", "model": "cnn"},
    ):
        fields = Fields(texts)
        settings = form_of(fields, "cuda").settings
        for name in fields.rows.keys() & SETTINGS.keys():
            assert SETTINGS[name].is_used(settings), name
        for name, text in texts.items():
            assert fields.rows[name].text == text, name
            assert str(getattr(settings, name)).removesuffix(".0") == text, name


def test_a_written_field_has_its_text_on_every_page_whatever_the_address_said(
    monkeypatch: pytest.MonkeyPatch,
):
    address = Address(sigma="2", epochs="3")
    known = SimpleNamespace(session_state={}, query_params=address)
    monkeypatch.setattr(url_state, "st", known)
    monkeypatch.setattr(elements, "st", known)
    url_state.write({"sigma": "4"})
    assert address == {"epochs": "3"}
    for arrived in (False, True):
        known.session_state[url_state.ARRIVED] = arrived
        assert url_state.page_text("sigma", "1") == "4"
        assert url_state.page_text("epochs", "1") == "3"


def test_after_going_back_a_field_that_the_address_leaves_out_has_its_default(
    monkeypatch: pytest.MonkeyPatch,
):
    session = Session(sigma="2", epochs="7")
    session |= {url_state.KEPT: {"sigma": "2"}, url_state.GOOD: {"epochs": "7"}}
    known = SimpleNamespace(session_state=session, query_params=Address(epochs="3"))
    monkeypatch.setattr(url_state, "st", known)
    assert url_state.page_texts() == {"sigma": "2", "epochs": "7"}
    monkeypatch.setattr(url_state, "restoring", lambda: True)
    assert url_state.page_texts() == {"epochs": "3"}
    fields = Fields(url_state.page_texts(), url_state.good_texts())
    assert (form_of(fields, "cpu").sigma, fields.rows["sigma"].fault) == (
        form().sigma,
        "",
    )


def test_every_preset_is_a_setting_and_a_form():
    for name, preset in PRESETS.items():
        texts = {
            key: text
            for key, text in preset.items()
            if text and key not in ("source", "rate", "dataset")
        }
        texts |= {f"rate_{preset['schedule']}": preset["rate"]} if preset["rate"] else {}
        setting = setting_of(Fields(texts))
        assert setting.n == int(preset["n"]), name
        assert (
            form_of(Fields(texts | {"dataset": "other"}), "cpu").mechanism == setting.mechanism
        ), name
