"""Secrets do not leave: registered values, and shapes of well-known credentials."""

from __future__ import annotations

import pytest

from harness_tui.core.redaction import MARK, SECRET_NAMES, Redactor, mask, redact, redact_data


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key sk-abcdefghijklmnop1234 end", f"key {MARK} end"),
        ("AIza" + "b" * 35, MARK),
        ("ghp_" + "c" * 36, MARK),
        ("github_pat_" + "d" * 30, MARK),
        ("glpat-" + "e" * 20, MARK),
        ("xoxb-1234567890-abc", MARK),
        ("AKIA" + "A" * 16, MARK),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2Q", MARK),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter", f"{MARK}\nafter"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", MARK),
        ("Authorization: Bearer abcdefgh.1234", f"Authorization: Bearer {MARK}"),
        ("authorization: basic dXNlcjpwYXNz", f"authorization: basic {MARK}"),
        ("https://user:hunter2@example.test/a", f"https://{MARK}@example.test/a"),
        ("https://example.test:8080/a@b", "https://example.test:8080/a@b"),
        ("a task-list and a disk-drive", "a task-list and a disk-drive"),
        ("basic rules", "basic rules"),
    ],
)
def test_well_known_credentials_are_taken_out(text: str, clean: str) -> None:
    assert redact(text) == clean


def test_a_registered_value_is_taken_out_everywhere_and_the_longest_first() -> None:
    redactor = Redactor()
    redactor.add("tok-12345")
    redactor.add("tok-12345-long")
    assert redactor.text("a tok-12345-long b tok-12345 c") == f"a {MARK} b {MARK} c"


def test_characters_of_a_value_are_not_a_pattern() -> None:
    redactor = Redactor()
    redactor.add("a.b*c(d)e")
    assert redactor.text("aXb*c(d)e a.b*c(d)e") == f"aXb*c(d)e {MARK}"


def test_a_short_value_is_left_alone() -> None:
    redactor = Redactor()
    redactor.add("abc")
    assert redactor.text("abcabc") == "abcabc"


def test_data_keeps_its_shape() -> None:
    data = {"a": ["ghp_" + "c" * 36, 1, None, True], "b": {"c": ("x", "Bearer abcdefgh1")}}
    assert redact_data(data) == {"a": [MARK, 1, None, True], "b": {"c": ["x", f"Bearer {MARK}"]}}


@pytest.mark.parametrize(
    "name", ["API_KEY", "api-key", "X-Api-Key", "GITHUB_TOKEN", "password", "Authorization", "Cookie"]
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert SECRET_NAMES.search(name)


@pytest.mark.parametrize("name", ["PATH", "HOME", "KEYBOARD", "author"])
def test_other_names_are_not(name: str) -> None:
    assert not SECRET_NAMES.search(name)


def test_a_token_in_a_long_run_of_characters_is_found() -> None:
    token = f"eyJ{'a' * 20}.{'b' * 20}.{'c' * 20}"
    assert redact(f"x-{token} eyJ{'d' * 30} https://u:p@h/ git+ssh://u:p@h") == (
        f"x-{MARK} eyJ{'d' * 30} https://{MARK}@h/ git+ssh://{MARK}@h"
    )


@pytest.mark.parametrize("piece", ["a.b.", "eyJ", "://a:", "basic ", "-----BEGIN A "])
def test_a_megabyte_of_what_a_secret_begins_with_is_read_once(piece: str) -> None:
    # With a pattern that begins anew at each of them this does not end within the time of a test.
    text = piece * (1_000_000 // len(piece))
    assert redact(text) == text


def test_what_is_covered_in_bytes_keeps_its_length_and_its_neighbours() -> None:
    jwt = f"eyJ{'a' * 20}.{'b' * 20}.{'c' * 20}"
    key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"
    for secret in ("sk-" + "a" * 20, "ghp_" + "b" * 30, "AKIA" + "A" * 16, jwt, key):
        data = b"\xff before " + secret.encode() + b" behind \xfe\n"
        covered = mask(data)
        assert len(covered) == len(data)
        assert covered == b"\xff before " + MARK.encode().ljust(len(secret), b"*") + b" behind \xfe\n"
    assert mask(b"Bearer abcdefghijkl x") == b"Bearer [redacted]** x"
    assert mask(b"git://user:password@h") == b"git://[redacted]***@h"
    assert mask(b"plain text, a@b, http://h/\n") == b"plain text, a@b, http://h/\n"
    redactor = Redactor()
    redactor.add("geheim-ü-1")
    assert redactor.mask("x geheim-ü-1 y".encode()) == b"x [redacted]* y"
