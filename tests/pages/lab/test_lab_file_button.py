"""The button that hands out the lab in a file."""

from dpcore.labfile import table
from pages.parts import lab_file
from tests.pages.lab.test_lab_page import opened


def test_the_lab_hands_out_its_file_and_computes_nothing(store, monkeypatch):
    monkeypatch.setattr(table, "row_of", None)  # would fail
    page = opened()
    assert not page.exception
    (button,) = [each for each in page.get("download_button") if "file" in each.proto.label]
    assert "python -m dpcore lab export" in button.proto.help
    made = lab_file.file_of("mnist")
    assert made.startswith("<!doctype html>")
    assert lab_file.file_of("mnist") is made
