"""One form of a URL: what rules are matched against is what is requested."""

from __future__ import annotations

import subprocess
import sys

import httpx2
import pytest
from egress_world import World, answer
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.config.egress_rules import read_rule
from harness_tui.core.event_parts import UrlPreview
from harness_tui.core.seams import Check
from harness_tui.egress.errors import BadUrlError
from harness_tui.egress.transport import place_of
from harness_tui.egress.urls import join_url, read_url, within_origin


@pytest.mark.parametrize(
    ("given_text", "form"),
    [
        ("https://example.test", "https://example.test/"),
        ("HTTPS://EXAMPLE.Test/Path", "https://example.test/Path"),
        ("https://example.test:443/", "https://example.test/"),
        ("http://example.test:80/", "http://example.test/"),
        ("http://example.test:0080/", "http://example.test/"),
        ("http://example.test:/", "http://example.test/"),
        ("https://example.test:80/", "https://example.test:80/"),
        ("https://example.test./x", "https://example.test/x"),
        ("https://example.test/#part", "https://example.test/"),
        ("https://example.test?q=1", "https://example.test/?q=1"),
        ("https://example.test/?q=a b".replace(" ", "%20"), "https://example.test/?q=a%20b"),
        ("https://example.test/%61%64min", "https://example.test/admin"),
        ("https://example.test/a/../admin", "https://example.test/admin"),
        ("https://example.test/a/%2e%2e/admin", "https://example.test/admin"),
        ("https://example.test/a/%2E./%2e/admin/.", "https://example.test/admin/"),
        ("https://example.test/../../..", "https://example.test/"),
        ("https://example.test/a/b/..", "https://example.test/a/"),
        ("https://example.test/a%2fb", "https://example.test/a%2Fb"),
        ("https://example.test//a//b", "https://example.test//a//b"),
        ("https://example.test/100%", "https://example.test/100%25"),
        ("https://example.test/ä?ö=ü", "https://example.test/%C3%A4?%C3%B6=%C3%BC"),
        ("https://bücher.test/", "https://xn--bcher-kva.test/"),
        ("https://BÜCHER.test/", "https://xn--bcher-kva.test/"),
        ("https://faß.test/", "https://xn--fa-hia.test/"),
        ("https://[2606:2800:0220:0001::1]/", "https://[2606:2800:220:1::1]/"),
        ("  https://example.test/ \n", "https://example.test/"),
        ("https://example.test/<a>\"'`{|}", "https://example.test/%3Ca%3E%22'%60%7B%7C%7D"),
    ],
)
def test_a_url_has_one_form(given_text: str, form: str) -> None:
    assert str(read_url(given_text)) == form
    assert str(read_url(form)) == form


@given(
    st.text(alphabet=st.sampled_from("aA0.:@%[]?#/\\-_~&=; é。ß\u200b"), max_size=20) | st.text(max_size=60),
    st.sampled_from(["", "http://", "https://", "http://a.test/", "http://[", "https://a."]),
)
def test_any_text_is_a_url_in_its_one_form_or_refused(text: str, head: str) -> None:
    try:
        form = str(read_url(head + text))
    except BadUrlError:
        return
    assert str(read_url(form)) == form
    assert form.isascii()
    assert " " not in form
    # The library that sends it reads the same host, port and path out of it.
    sent, mine = httpx2.URL(form), read_url(form)
    place = place_of(sent)
    assert (place.host, place.port, place.address) == (mine.host, mine.port, mine.address)
    assert (sent.raw_path.decode(), sent.userinfo) == (mine.path, b"")


def test_a_url_without_end_is_refused() -> None:
    with pytest.raises(BadUrlError, match="longer than 8192 characters"):
        read_url("http://a.test/" + "a" * 9_000)


def test_a_url_without_a_scheme_says_what_to_write() -> None:
    with pytest.raises(BadUrlError) as caught:
        read_url("example.test/page?token=1")
    assert caught.value.mend == "write https://example.test/page"


@pytest.mark.parametrize(
    ("before", "after", "within"),
    [
        ("http://a.test/", "http://a.test/x", True),
        ("http://a.test/", "https://a.test/", True),
        ("https://a.test/", "http://a.test/", False),
        ("http://a.test:8080/", "https://a.test/", False),
        ("http://a.test/", "https://a.test:8443/", False),
        ("http://a.test/", "http://www.a.test/", False),
        ("http://a.test/", "http://a.test:81/", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(before: str, after: str, within: bool) -> None:
    assert within_origin(read_url(before), read_url(after)) is within


def test_a_location_is_read_against_the_page() -> None:
    base = read_url("http://a.test/dir/page?x=1")
    assert str(join_url(base, "../other?y=2#z")) == "http://a.test/other?y=2"
    assert str(join_url(base, "?y=2")) == "http://a.test/dir/page?y=2"
    assert str(join_url(base, "//b.test")) == "http://b.test/"


async def test_the_permission_is_asked_for_the_one_form(world: World) -> None:
    prepared = await world.prepare("HTTPS://Site.test.:443/a/../b%61r#x")
    assert prepared.checks == (Check("webfetch", "https://site.test/bar"),)
    assert prepared.preview == UrlPreview("https://site.test/bar", "site.test")
    assert prepared.title == "Fetch https://site.test/bar"


async def test_what_is_requested_is_what_was_asked_for(world: World) -> None:
    world.web.pages["*"] = answer()
    result = await world.fetch("http://site.test/a/%2e%2e/b%61r%2f?q=%41#x")
    assert world.web.seen[0].startswith("GET /bar%2F?q=A HTTP/1.1\r\n")
    assert result.metadata["url"] == "http://site.test/bar%2F?q=A"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("https://a.test", "write its host alone"),
        ("a.test/path", "neither a host nor a network"),
        ("u@a.test", "is no host"),
        (".a.test", "stands alone or at the start"),
        ("a.*.test", "stands alone or at the start"),
        ("**.test", "stands alone or at the start"),
        ("127.1", "is no address"),
        ("0x7f000001", "is no address"),
        ("*.1", "is no address"),
        ("10.0.0.0/33", "neither a host nor a network"),
        ("a.test:0", "a number from 1 to 65535"),
        ("a.test:http", "a number from 1 to 65535"),
        ("[::1]8080", "written '[::1]'"),
        ("bücher.test", "ASCII form"),
        ("a b", "neither a host"),
        ("", "neither a host"),
    ],
)
def test_a_rule_that_is_none_says_what_is_meant(text: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_rule(text)
    assert words in str(caught.value)


LOADED = """
import sys
import harness_tui.tools.toolset, harness_tui.egress.egress
print(sorted({"httpx2", "httpcore2", "turbohtml", "idna"} & set(sys.modules)))
"""


def test_the_tools_and_the_entry_import_no_http_library() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
