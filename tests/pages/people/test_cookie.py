"""The cookie by which a browser is known: nobody without the key makes one, and what runs say of it makes none."""

import re

from pages.parts.people.cookie import header_of, name_of, new_cookie, owner_of

KEY, OTHER = b"k" * 32, b"o" * 32


def forged() -> list[str]:
    cookie = new_cookie(KEY)
    visitor, signature = cookie.split(".")
    owner = owner_of(cookie, KEY)
    return [
        "", ".", "x", visitor, f"{visitor}.", f".{signature}", f"{visitor}.{'0' * 64}", f"{'0' * 32}.{signature}",
        cookie[:-1], cookie + "0", cookie.upper(), f" {cookie}", f"{cookie}\n", "a" * 10_000, f"{cookie};{cookie}",
        f"{owner}.{signature}", f"{owner}.{owner}{owner}", "٣" * 32 + "." + "٣" * 64, "\udcff", "../../etc/passwd",
        new_cookie(OTHER),
    ]  # fmt: skip


def test_a_forged_a_cut_or_a_foreign_cookie_is_nobodys():
    for value in forged():
        assert owner_of(value, KEY) == "", value


def test_a_cookie_stands_for_the_same_owner_every_time_and_each_for_another():
    cookies = [new_cookie(KEY) for _ in range(50)]
    owners = [owner_of(each, KEY) for each in cookies]
    assert [owner_of(each, KEY) for each in cookies] == owners
    assert len({*owners}) == 50
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in owners)


def test_an_owner_is_no_part_of_the_cookie():
    cookie = new_cookie(KEY)
    assert owner_of(cookie, KEY) not in cookie
    assert cookie.split(".")[0] not in owner_of(cookie, KEY)


def test_no_script_reads_it_and_no_other_sites_request_carries_it():
    plain = header_of(KEY, secure=False)
    assert plain.startswith(f"{name_of(KEY)}=")
    assert plain.endswith("; HttpOnly; SameSite=Lax")
    assert "Domain" not in plain
    assert header_of(KEY, secure=True).endswith("; HttpOnly; SameSite=Lax; Secure")


def test_servers_with_other_keys_have_cookies_of_other_names():
    assert name_of(KEY) != name_of(OTHER)
