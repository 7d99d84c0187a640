"""Documents as text: HTML in its three forms, character sets, and pages made to break a reader."""

from __future__ import annotations

import time

import pytest

from harness_tui.tools.pages import Format, read_page

PAGE = b"""<!doctype html><html><head><title>The &amp; title
 \x1b[31m</title><style>p{}</style><script>alert(1)</script></head><body>
<h1>Head</h1><p>A <b>bold</b> <a href="/x?a=1">link</a>.<img src="data:image/png;base64,AAAA" alt="pic"></p>
<noscript>no script</noscript><template>template</template><p hidden>unseen</p><!-- comment -->
<ul><li>one<ul><li>two</li></ul></li></ul><pre><code class="language-py">x = 1
  y</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>
<p>zero\xe2\x80\x8bwidth \xe2\x80\xaeturned</p></body></html>"""


def read(body: bytes, content_type: str = "text/html", wanted: Format = "markdown") -> str:
    return read_page(body, content_type, "https://site.test/dir/page", wanted).text


def test_html_becomes_markdown() -> None:
    assert read(PAGE) == (
        "# Head\n\nA **bold** [link](https://site.test/x?a=1).![pic](<>)\n\n- one\n  - two\n\n"
        "```py\nx = 1\n  y\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n\nzerowidth turned\n"
    )


def test_html_becomes_plain_text() -> None:
    text = read(PAGE, wanted="text")
    assert "A bold link.pic" in text
    assert "https://" not in text
    assert not any(word in text for word in ("alert", "unseen", "no script", "template", "comment", "**"))


def test_html_stays_html_but_for_what_a_terminal_would_obey() -> None:
    text = read(PAGE, wanted="html")
    assert "<h1>Head</h1>" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_title_is_one_clean_line() -> None:
    assert read_page(PAGE, "text/html", "https://site.test/", "markdown").title == "The & title"


def test_links_are_read_against_the_base_of_the_page() -> None:
    assert read(b'<base href="/base/"><a href="y">l</a>') == "[l](https://site.test/base/y)\n"


def test_a_broken_base_costs_nothing_else() -> None:
    assert "l" in read(b'<base href="http://[::1"><a href="y">l</a>')


@pytest.mark.parametrize("wanted", ["markdown", "text", "html"])
def test_what_is_no_html_comes_as_it_is(wanted: Format) -> None:
    assert read(b"# a <b>b</b>", "text/markdown", wanted) == "# a <b>b</b>"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("grün".encode(), "text/plain", "grün"),
        ("grün".encode("latin-1"), "text/plain; charset=ISO-8859-1", "grün"),
        ("grün".encode("cp1252"), 'text/plain; charset="windows-1252"', "grün"),
        ("“a”".encode("cp1252"), "text/plain; charset=iso-8859-1", "“a”"),
        ("漢字".encode("shift_jis"), "text/plain; charset=Shift_JIS", "漢字"),
        ("漢字".encode("gb18030"), "text/plain;charset=gb18030", "漢字"),
        ("漢字".encode("utf-16"), "text/plain", "漢字"),
        (b"\xef\xbb\xbfa", "text/plain; charset=latin-1", "a"),
        (b"\xff\xfea\x00", "text/plain; charset=utf-8", "a"),
        ("grün".encode("latin-1"), "text/plain", "gr\ufffdn"),
        (b"a", "text/plain; charset=rot13", "a"),
        (b"a", "text/plain; charset=unicode_escape", "a"),
        (rb"\u0041", "text/plain; charset=unicode_escape", r"\u0041"),
        (b"+AGE-", "text/plain; charset=utf-7", "+AGE-"),
        (b"a", "text/plain; charset=zlib", "a"),
        (b"a", "text/plain; charset=nonsense", "a"),
        (b"a", "text/plain; charset=idna", "a"),
    ],
)
def test_the_character_set_is_that_of_the_answer(body: bytes, content_type: str, text: str) -> None:
    assert read(body, content_type) == text


def test_a_page_names_its_own_character_set() -> None:
    assert read("<meta charset=koi8-r><p>Привет".encode("koi8-r")) == "Привет\n"
    assert read('<meta charset="utf-16"><p>grün'.encode()) == "grün\n"
    assert read("<meta charset=koi8-r><p>grün".encode(), "text/html; charset=utf-8") == "grün\n"


@pytest.mark.parametrize("wanted", ["markdown", "text"])
@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 100_000 + b"x",
        b"<b>" * 50_000 + b"x",
        b"<ul><li>" * 20_000 + b"x",
        b"<blockquote>" * 5_000 + b"x",
        b"<table>" * 3_000 + b"<tr><td>x",
        b"<table><tr>" + b"<td>x</td>" * 500 + b"</tr>" + b"<tr><td>y</td></tr>" * 5_000,
        b"<table>" + b"<tr><td colspan=1000>x</td></tr>" * 20_000,
        b"<table><tr><td colspan=99999999999 rowspan=-1>x",
        b"<a " + b"x=y " * 200_000 + b">z</a>",
        b"<a href=x><b>" * 20_000,
        b"<" * 500_000,
        b"&" * 500_000,
        b"<!--" * 100_000,
        b"\0" * 100_000,
        bytes(range(256)) * 400,
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value[:14]!r} {len(value)}",
)
def test_a_page_that_is_made_to_break_a_reader_is_read_in_time_and_size(body: bytes, wanted: Format) -> None:
    started = time.process_time()
    text = read(body, wanted=wanted)
    assert time.process_time() - started < 5
    assert len(text) <= 10 * len(body) + 100_000
