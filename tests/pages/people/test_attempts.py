"""How often a key may be guessed."""

from pages.parts.people.attempts import ALL, EACH, WITHIN, Attempts


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_after_five_attempts_an_address_waits_a_minute():
    clock = Clock()
    attempts = Attempts(clock=clock)
    assert [attempts.another("a") for _ in range(EACH + 2)] == [True] * EACH + [False] * 2
    assert attempts.another("b")
    clock.now += WITHIN - 0.1
    assert not attempts.another("a")
    clock.now += 0.1
    assert attempts.another("a")


def test_all_addresses_together_wait_too():
    clock = Clock()
    attempts = Attempts(clock=clock)
    assert [attempts.another(str(number)) for number in range(ALL + 3)] == [True] * ALL + [False] * 3
    clock.now += WITHIN
    assert attempts.another("later")


def test_what_was_refused_does_not_count():
    clock = Clock()
    attempts = Attempts(clock=clock)
    for _ in range(EACH):
        attempts.another("a")
    for _ in range(10):
        clock.now += WITHIN / 11
        attempts.another("a")
    clock.now += WITHIN / 11 + 0.1
    assert attempts.another("a")
