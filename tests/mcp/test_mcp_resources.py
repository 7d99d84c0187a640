"""Resources of servers: listed, read within limits, watched for changes, their arguments completed; both eras."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.resources import ArgumentOf
from harness_tui.mcp.manifest import ManifestCache
from harness_tui.mcp.pool import McpPool
from harness_tui.mcp.resources import read_contents
from harness_tui.mcp.watched import MAX_WATCHED, Watched

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]
TODAY = "note://today"


async def opened(make_pool: Make, *servers: McpServerSettings) -> McpPool:
    pool = make_pool(*servers)
    pool.start(eager=True)
    assert await pool.wait_started(60)
    return pool


async def wait_for(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.01)


async def test_a_server_of_today_offers_reads_completes_and_tells_changes(
    make_pool: Make, server: Entry, sink: FakeSink, tmp_path: Path
) -> None:
    entry = server("shelf")
    pool = await opened(make_pool, entry)
    resources = pool.resources
    listed = {item.uri: item for item in resources.resources()}
    assert list(listed) == ["note://big", "note://blob", "note://pixel", TODAY]
    today = listed[TODAY]
    assert (today.server, today.name, today.description, today.mime) == (
        "shelf",
        "today",
        "What is to be done.",
        "text/plain",
    )
    (template,) = resources.templates()
    assert (template.uri_template, template.variables) == ("note://{author}/{title}", ("author", "title"))
    await check_reading(pool)
    await check_arguments(pool)
    await check_changes(pool, sink)
    cached = ManifestCache(tmp_path / "cache", tmp_path).load(entry)
    assert cached is not None
    assert [item.uri for item in cached.resources][-1] == TODAY
    assert cached.completes


async def check_reading(pool: McpPool) -> None:
    """What was read names where it comes from, and is what its bytes say it is."""
    resources = pool.resources
    (note,) = (await resources.read_resource("shelf", TODAY)).attachments
    assert (note.kind, note.mime, note.uri, note.content) == ("resource", "text/plain", f"shelf:{TODAY}", "first")
    (pixel,) = (await resources.read_resource("shelf", "note://pixel")).attachments
    assert (pixel.kind, pixel.mime, pixel.uri) == ("image", "image/png", "shelf:note://pixel")
    assert base64.b64decode(pixel.content or "").startswith(b"\x89PNG")
    unseen = await resources.read_resource("shelf", "note://pixel", images=False)
    assert unseen.attachments == ()
    assert unseen.notes == ("shelf:note://pixel: not attached, the model takes no images and no PDF",)
    blob = await resources.read_resource("shelf", "note://blob")
    assert blob.notes == ("shelf:note://blob: not attached, it is binary (application/octet-stream, 3 bytes)",)
    (big,) = (await resources.read_resource("shelf", "note://big")).attachments
    assert (big.bytes, big.truncated) == (400_000, True)
    assert (big.content or "").endswith("[... truncated: the first 262144 of 400000 bytes are attached ...]")
    (made,) = (await resources.read_resource("shelf", "note://ada/engines")).attachments
    assert made.content == "engines by ada"
    with pytest.raises(ToolError, match="reading note:nothing"):
        await resources.read_resource("shelf", "note:nothing")
    with pytest.raises(HarnessError, match="did you mean shelf"):
        await resources.read_resource("shelv", TODAY)


async def check_arguments(pool: McpPool) -> None:
    """Values depend on what was typed, and on the arguments before."""
    resources = pool.resources
    (template,) = resources.templates()
    of = ArgumentOf("template", template.uri_template)
    assert list(await resources.complete("shelf", of, "author", "a", {})) == ["ada", "alan"]
    assert list(await resources.complete("shelf", of, "title", "", {"author": "ada"})) == ["note-of-ada"]
    prompt = ArgumentOf("prompt", "review")
    assert list(await resources.complete("shelf", prompt, "title", "", {"author": "alan"})) == ["prompt-of-alan"]
    assert list(await resources.complete("shelf", prompt, "title", "", {})) == []
    assert await resources.expand(template, {"author": "ada", "title": "a b/c"}) == "note://ada/a%20b%2Fc"


async def check_changes(pool: McpPool, sink: FakeSink) -> None:
    """A resource that was read is watched: its change is told once, and again after it was read again."""
    said = "the resource shelf:note://today changed"
    async with asyncio.timeout(20):  # the request to watch it is on its way
        while said not in sink.notices("info"):
            await pool.call("shelf", "write", {"text": "second"})
    await pool.call("shelf", "write", {"text": "third"})
    assert sink.notices("info").count(said) == 1
    (note,) = (await pool.resources.read_resource("shelf", TODAY)).attachments
    assert note.content == "third"
    await pool.call("shelf", "write", {"text": "fourth"})
    await wait_for(lambda: sink.notices("info").count(said) == 2)
    await pool.call("shelf", "lend", {})
    await wait_for(lambda: any(item.uri == "note://lent" for item in pool.resources.resources()))


async def test_a_server_of_the_handshake_era_is_read_and_watched(
    make_pool: Make, server: Entry, sink: FakeSink
) -> None:
    pool = await opened(make_pool, server("shelf_then", name="then"))
    assert [item.uri for item in pool.resources.resources()] == ["note://lost", TODAY]
    assert pool.resources.templates() == []
    assert pool.status()[0].reason is None  # a server need not have templates
    (note,) = (await pool.resources.read_resource("then", TODAY)).attachments
    assert note.content == "first"
    async with asyncio.timeout(20):
        while json.loads((await pool.call("then", "told", {})).content[0]["text"]) != [TODAY]:
            await asyncio.sleep(0.01)
    await pool.call("then", "write", {})
    await wait_for(lambda: sink.notices("info"))
    assert sink.notices("info") == ["the resource then:note://today changed"]
    with pytest.raises(ToolError, match=r"reading note://lost: .*Resource not found"):
        await pool.resources.read_resource("then", "note://lost")
    assert list(await pool.resources.complete("then", ArgumentOf("prompt", "x"), "a", "", {})) == []


async def test_a_mention_names_a_server_and_an_address(make_pool: Make, server: Entry) -> None:
    resources = make_pool(server("simple", name="a"), server("simple", name="my docs")).resources
    assert resources.resource_named("a:file:///x") == ("a", "file:///x")
    assert resources.resource_named("my docs:x") == ("my docs", "x")
    assert resources.resource_named("my_docs:x") == ("my docs", "x")
    assert resources.resource_named("a:") is None
    assert resources.resource_named("b:file:///x") is None
    assert resources.resource_named("a") is None


async def test_values_are_asked_of_no_server_that_does_not_run(make_pool: Make, server: Entry) -> None:
    pool = make_pool(server("shelf"))
    assert list(await pool.resources.complete("shelf", ArgumentOf("prompt", "review"), "author", "", {})) == []
    assert pool.status()[0].state == "idle"


def test_contents_that_lie_about_themselves_are_told_apart() -> None:
    contents = [
        {"uri": "x:1", "text": "words", "mimeType": "application/pdf"},
        {"uri": "x:2", "blob": "%%%"},
        {"uri": "x:3", "blob": base64.b64encode(b"plain words").decode(), "mimeType": "image/png"},
        {"uri": "x:4"},
        {"text": "line\n" * 3_000},
    ]
    read = read_contents("s", "x:0", contents, images=True)
    assert [(item.uri, item.mime, item.truncated) for item in read.attachments] == [
        ("s:x:1", "text/plain", None),
        ("s:x:3", "text/plain", None),
        ("s:x:0", "text/plain", True),
    ]
    assert read.notes == (
        "s:x:2: not attached, its data is not valid base64",
        "s:x:4: not attached, it holds neither text nor data",
    )
    many = read_contents("s", "x:0", [{"text": "a"}] * 60, images=True)
    assert len(many.attachments) == 50
    assert many.notes == ("only the first 50 of 60 parts are attached",)
    assert read_contents("s", "x:0", [], images=True).notes == ("it is empty",)


def test_only_the_latest_resources_are_watched_and_parts_of_them_count() -> None:
    watched = Watched()
    for number in range(MAX_WATCHED + 1):
        watched.read(f"x:{number}")
    assert not watched.change("x:0")
    assert watched.change("x:1/part")
    assert not watched.change("x:1")
    watched.read("x:1")
    assert watched.change("x:1")
    assert not watched.change("x:10000")
