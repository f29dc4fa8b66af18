"""A benchmark that is to be repeated no time is refused in a sentence."""

from collections.abc import Callable

import pytest

from benchmarks import accountants, seconds


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (accountants.main, ["curves", "--peer-repeat", "0"]),
        (accountants.main, ["curves", "--repeat", "-1"]),
        (seconds.main, ["samplers", "--repeat", "0"]),
    ],
)
def test_no_repeat_is_refused_in_a_sentence(
    main: Callable[[], None],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmark", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith(
        f"argument {words[1]}: expected a whole number of at least 1, not {words[2]}"
    )
