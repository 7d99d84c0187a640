"""What errors of providers are told as: bodies and headers in the forms that are about."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from harness_tui.models.failures import Caller, from_status, unreachable

CALLER = Caller("mine", "m", "https://mine.test/v1", "MINE_API_KEY", ("tok-0123456789",))


def said(body: Any, status: int = 400, **headers: str) -> str:
    text = body if isinstance(body, str) else json.dumps(body)
    return from_status(CALLER, status, {name.replace("_", "-"): value for name, value in headers.items()}, text).message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "bad"}}, "mine answered 400: bad"),
        ({"error": "bad"}, "mine answered 400: bad"),
        ({"message": "bad"}, "mine answered 400: bad"),
        ({"msg": "bad"}, "mine answered 400: bad"),
        ({"errors": [{"message": "bad"}, {"message": "worse"}]}, "mine answered 400: bad; worse"),
        ({"detail": [{"loc": ["body", "n", 0], "msg": "missing"}]}, "mine answered 400: body.n.0: missing"),
        ([{"error": {"message": "bad"}}], "mine answered 400: bad"),
        ({"odd": 1}, 'mine answered 400: {"odd": 1}'),
        ("null", "mine answered HTTP 400"),
        ("", "mine answered HTTP 400"),
        ("<html><style>p{}</style><script>1<2</script><!-- no --><p>Bad <b>day</b>", "mine answered 400: Bad day"),
        ({"error": {"message": "not tok-0123456789\n\x1b[31m"}}, "mine answered 400: not [redacted]"),
    ],
)  # fmt: skip
def test_the_words_for_a_person_are_found(body: Any, words: str) -> None:
    assert said(body) == words


@pytest.mark.parametrize("piece", ["<", "<style", "<!--", "<a "])
def test_a_page_that_opens_more_than_it_closes_is_read_once(piece: str) -> None:
    text = said(piece * (65_536 // len(piece)), 502)  # a search that goes back and forth would not end here
    assert text.startswith("mine answered")
    assert len(text) < 700


def test_a_redirect_names_where_it_leads_without_what_may_be_secret() -> None:
    error = from_status(CALLER, 301, {"location": "https://u:pw@other.test/v1?key=abc"}, "")
    assert (error.kind, error.message) == (
        "request",
        "mine answered 301: https://mine.test/v1 moved to https://other.test/v1",
    )
    assert "base_url" in (error.hint or "")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("-5", None),
        ("nan", None),
        ("soon", None),
        ("1000000000", 86_400.0),
        ("inf", 86_400.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None),
        ("Wed, 21 Oct 999999 07:28:00 GMT", None),
    ],
)
def test_a_pause_that_makes_no_sense_is_none(value: str, seconds: float | None) -> None:
    assert from_status(CALLER, 429, {"retry-after": value}, "").retry_after == seconds


def test_a_pause_may_be_a_date() -> None:
    wait = from_status(CALLER, 429, {"retry-after": formatdate(time.time() + 100, usegmt=True)}, "").retry_after
    assert wait is not None
    assert 60 < wait <= 100


def test_long_pauses_are_told() -> None:
    assert said("", 429, retry_after="600").endswith("(it asks to wait 10 minutes)")
    assert said("", 429, retry_after="1000000000").endswith("(it asks to wait a day or longer)")


def test_a_proxy_of_the_environment_is_told_where_it_may_be_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://joe:proxy-password@127.0.0.1:9")
    error = unreachable(CALLER, OSError("no route"))
    assert (error.hint or "").endswith("It goes through the proxy that the environment names")
    here = Caller("mine", "m", "http://127.0.0.1:8080/v1", None)
    assert unreachable(here, OSError("no route")).hint == "is the server running, and the address right?"
