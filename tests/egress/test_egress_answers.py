"""What comes back: redirects, limits of size and time, encodings, types, and failures in words."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import time
import zlib
from pathlib import Path

import pytest
from egress_world import PUBLIC, World, answer

from harness_tui.core.errors import ToolError
from harness_tui.core.limits import WEBFETCH_BYTES
from harness_tui.egress.errors import EgressError, EgressLimitError
from harness_tui.egress.fetching import Fetched, fetch
from harness_tui.egress.urls import read_url

CERTIFICATE = Path(__file__).parent / "site.pem"
"""A certificate for ``site.test`` that it signed itself, with its key."""


async def fetched(world: World, path: str, *, seconds: float = 10, max_bytes: int = 1_000_000) -> Fetched:
    url = read_url(f"http://site.test{path}")
    return await fetch(
        world.egress(), url, surface="test", headers={"Accept": "*/*"}, max_bytes=max_bytes, seconds=seconds
    )


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"moved", status=status, location=location)


# --- redirects -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_within_the_site_is_followed_and_shown(world: World, status: str) -> None:
    world.web.pages |= {"/a": redirect("b?x=1#part", status), "/b?x=1": answer(b"there")}
    result = await world.fetch("http://site.test/a")
    assert result.output == "there\n[redirected to http://site.test/b?x=1]"
    assert result.metadata["redirects"] == [{"status": int(status[:3]), "url": "http://site.test/b?x=1"}]
    assert (result.metadata["url"], result.metadata["final_url"]) == ("http://site.test/a", "http://site.test/b?x=1")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("http://other.test/x", "http://other.test/x"),
        ("//other.test/x", "http://other.test/x"),
        ("http://site.test:8080/x", "http://site.test:8080/x"),
        ("https://site.test:8443/x", "https://site.test:8443/x"),
        ("http://site.test.evil.test/", "http://site.test.evil.test/"),
        ("http://127.0.0.1:{trap}/", "http://127.0.0.1:{trap}/"),
        ("http://169.254.169.254/latest", "http://169.254.169.254/latest"),
        ("http://[::1]:{trap}/", "http://[::1]:{trap}/"),
        ("  http://127.0.0.1:{trap}  ", "http://127.0.0.1:{trap}/"),
    ],
)
async def test_a_redirect_that_leaves_the_site_is_told_and_not_followed(
    world: World, location: str, target: str
) -> None:
    world.resolver.knows("other.test", ["127.0.0.1"])
    port = str(world.trap.port)
    world.web.pages["/"] = redirect(location.replace("{trap}", port))
    result = await world.fetch("http://site.test/")
    assert result.metadata["redirect"] == target.replace("{trap}", port)
    assert target.replace("{trap}", port) in result.output
    assert not result.is_error
    assert (world.trap.connections, len(world.web.seen)) == (0, 1)


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:{trap}/_x",
        "http://2130706433:{trap}/",
        "http://u:p@site.test/",
        "http://127.0.0.1:{trap}\\@site.test/",
        "\\\\127.0.0.1:{trap}\\x",
        "http://[::1",
        "javascript:alert(1)",
        "http://site.test:99999/",
        "http://exa mple.test/",
    ],
)
async def test_a_redirect_to_what_is_not_requested_is_an_error(world: World, location: str) -> None:
    world.web.pages["/"] = redirect(location.replace("{trap}", str(world.trap.port)))
    with pytest.raises(ToolError, match="it redirects to an address that is not requested"):
        await world.fetch("http://site.test/")
    assert (world.trap.connections, len(world.web.seen)) == (0, 1)


async def test_five_redirects_are_followed_and_not_six(world: World) -> None:
    world.web.pages |= {f"/{n}": redirect(f"/{n + 1}") for n in range(6)}
    world.web.pages["/6"] = answer(b"far")
    assert (await world.fetch("http://site.test/1")).output.startswith("far")
    with pytest.raises(ToolError, match="redirects more than 5 times"):
        await world.fetch("http://site.test/0")


async def test_a_redirect_in_a_circle_ends(world: World) -> None:
    world.web.pages["/"] = redirect("/")
    with pytest.raises(ToolError, match="redirects more than 5 times"):
        await world.fetch("http://site.test/")
    assert len(world.web.seen) == 6


async def test_a_redirect_without_a_target_is_an_answer(world: World) -> None:
    world.web.pages["/"] = answer(b"lost", status="302 Found")
    assert (await world.fetch("http://site.test/")).output == "lost"


# --- size ----------------------------------------------------------------------------------------------


async def test_a_large_answer_is_cut_and_says_so(world: World) -> None:
    world.web.pages["/"] = answer(b"x" * (WEBFETCH_BYTES + 10))
    result = await world.fetch("http://site.test/")
    assert f"[only the first {WEBFETCH_BYTES} bytes were read; the document is larger]" in result.output
    assert result.metadata["cut"] is True
    assert len(result.output) < 60_000
    assert result.full_output is not None


async def test_an_answer_without_an_end_is_left_at_the_limit(world: World) -> None:
    async def endless(head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99999999999\r\n\r\n")
        while True:
            writer.write(b"y" * 65_536)
            await writer.drain()

    world.web.pages["/"] = endless
    got = await fetched(world, "/", max_bytes=200_000)
    assert (len(got.body), got.cut) == (200_000, True)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "raw deflate", "GZIP"])
async def test_what_is_compressed_is_read(world: World, encoding: str) -> None:
    data = b"compressed text " * 1_000
    if "gzip" in encoding.lower():
        packed = gzip.compress(data[:8_000]) + gzip.compress(data[8_000:])  # two members are one file
    elif encoding == "deflate":
        packed = zlib.compress(data)
    else:
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        packed = packer.compress(data) + packer.flush()
    world.web.pages["/"] = answer(packed, content_encoding=encoding.removeprefix("raw "))
    assert (await fetched(world, "/")).body == data


async def test_a_bomb_is_unpacked_no_further_than_the_limit(world: World) -> None:
    zeros = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16)
    bomb = b"".join(zeros.compress(bytes(1 << 20)) for _ in range(60)) + zeros.flush()
    assert len(bomb) < 400_000
    world.web.pages["/"] = answer(bomb, content_encoding="gzip")
    got = await fetched(world, "/", max_bytes=1_000_000)
    assert (len(got.body), got.cut) == (1_000_000, True)


@pytest.mark.parametrize(
    ("encoding", "body", "words"),
    [
        ("br", b"\x0b\x02\x80hello\x03", "encoding that was not asked for: 'br'"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x")), "encoding that was not asked for: 'gzip, gzip'"),
        ("gzip", b"this is no gzip", "not the gzip that it says"),
        ("deflate", b"\xff\xff\xff\xff", "not the gzip that it says"),
    ],
    ids=["unknown", "twice", "no gzip", "no deflate"],
)
async def test_an_encoding_that_was_not_asked_for_is_an_error(
    world: World, encoding: str, body: bytes, words: str
) -> None:
    world.web.pages["/"] = answer(body, content_encoding=encoding)
    with pytest.raises(EgressLimitError, match=words):
        await fetched(world, "/")


async def test_only_encodings_that_are_understood_are_asked_for(world: World) -> None:
    world.web.pages["/"] = answer()
    await fetched(world, "/")
    assert "accept-encoding: gzip, deflate\r\n" in world.web.seen[0].lower()


async def test_headers_without_end_are_an_error(world: World) -> None:
    async def endless(head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(100_000):
            writer.write(f"X-{number}: {'v' * 100}\r\n".encode())
            await writer.drain()

    world.web.pages["/"] = endless
    with pytest.raises(EgressError, match="it cannot be reached"):
        await fetched(world, "/")


# --- time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["nothing", "headers", "body", "compressed"])
async def test_who_answers_drop_by_drop_is_left_in_time(world: World, part: str) -> None:
    async def drip(head: str, writer: asyncio.StreamWriter) -> None:
        if part == "body":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        if part == "compressed":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        data = iter((b"HTTP/1.1 200 OK\r\nX: " if part == "headers" else gzip.compress(b"")) + b"\0" * 10_000)
        while part != "nothing":
            writer.write(bytes([next(data)]))
            await writer.drain()
            await asyncio.sleep(0.01)
        await asyncio.sleep(60)

    world.web.pages["/"] = drip
    started = time.monotonic()
    with pytest.raises(EgressError, match=r"did not answer") as caught:
        await fetched(world, "/", seconds=0.5)
    assert time.monotonic() - started < 5
    assert caught.value.code == "timeout"


async def test_a_name_that_is_looked_up_for_ever_is_left_in_time(world: World) -> None:
    async def hang(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    world.resolver = hang  # type: ignore[assignment]
    with pytest.raises(EgressError, match="did not answer"):
        await fetched(world, "/", seconds=0.3)


# --- failures in words ---------------------------------------------------------------------------------


async def test_a_name_that_nobody_knows_is_said_to_be_unknown(world: World) -> None:
    with pytest.raises(ToolError, match=r"cannot be reached: nowhere\.test was not found: name or service not known"):
        await world.fetch("http://nowhere.test/")


async def test_a_port_where_nobody_listens_says_so(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ToolError, match="it cannot be reached: Connection refused"):
        await world.fetch(f"http://127.0.0.1:{port}/", world.egress(allow=["127.0.0.1"]))


async def test_a_name_without_addresses_is_said_to_be_unknown(world: World) -> None:
    world.resolver.knows("empty.test", ["rubbish"])
    with pytest.raises(ToolError, match=r"empty\.test was not found"):
        await world.fetch("http://empty.test/")


@pytest.mark.parametrize("data", [b"", b"rubbish\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"])
async def test_a_broken_answer_is_an_error_of_the_other_side(world: World, data: bytes) -> None:
    world.web.pages["/"] = data
    with pytest.raises(ToolError, match="it cannot be reached: "):
        await world.fetch("http://site.test/")


async def test_a_certificate_that_nobody_vouches_for_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(b"in private: " + head.splitlines()[1]))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        world.web.port = server.sockets[0].getsockname()[1]
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(ToolError, match=r"it cannot be reached: .*CERTIFICATE_VERIFY_FAILED"):
            await world.fetch("https://site.test/")
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert (await world.fetch("https://site.test/")).output == "in private: Host: site.test"
        world.resolver.knows("else.test", [PUBLIC])
        with pytest.raises(ToolError, match=r"it cannot be reached: .*Hostname mismatch"):
            await world.fetch("https://else.test/")


# --- types ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("image/png", b"\x89PNG"),
        ("application/pdf", b"%PDF-1.7"),
        ("application/octet-stream", b"text all the same"),
        ("video/mp4", b""),
        ("", b"\x89PNG\r\n"),
        ("", b"a\0b"),
    ],
)
async def test_what_is_no_text_is_named_and_not_shown(world: World, content_type: str, body: bytes) -> None:
    world.web.pages["/"] = answer(body, content_type=content_type or None)
    result = await world.fetch("http://site.test/")
    kind = content_type or "unknown bytes"
    assert result.output == f"[HTTP 200: the answer is {kind}, {len(body)} bytes; webfetch reads text only]"
    assert result.is_error


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/json", "application/ld+json", "TEXT/CSV; header=present", "application/xml", ""],
)
async def test_text_comes_as_it_is(world: World, content_type: str) -> None:
    world.web.pages["/"] = answer(b'{"a": "<b>"}', content_type=content_type or None)
    assert (await world.fetch("http://site.test/")).output == '{"a": "<b>"}'


async def test_an_error_page_is_shown_as_an_error(world: World) -> None:
    world.web.pages["/"] = answer(b"no such page", status="404 Not Found")
    result = await world.fetch("http://site.test/")
    assert (result.output, result.is_error) == ("no such page\n[HTTP 404 Not Found]", True)
    assert result.metadata["status"] == 404


async def test_an_empty_answer_says_that_it_is_empty(world: World) -> None:
    world.web.pages["/"] = answer(b"", status="204 No Content", content_type=None)
    assert (await world.fetch("http://site.test/")).output == "(no text)"


async def test_nothing_of_a_terminal_comes_through(world: World) -> None:
    world.web.pages["/"] = answer("a\x1b[31mred\u202e\x07".encode(), status="404 \x1b]0;x\x07No")
    assert (await world.fetch("http://site.test/")).output == "ared␇\n[HTTP 404 No]"
