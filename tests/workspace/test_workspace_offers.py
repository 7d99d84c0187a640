"""What servers offer, as front ends see it: tools with what is kept back, mentions and values while somebody types."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness_tui.config.loader import Flags
from harness_tui.core.errors import RefusedError
from harness_tui.mcp.schemas import faults_of
from harness_tui.mcp.typed_templates import typing_of
from harness_tui.workspace.offers import ServerOffers
from harness_tui.workspace.previewing import Unfetched, preview_line
from harness_tui.workspace.workspace import OpenOptions, Workspace

SHELF = Path(__file__).parents[1] / "mcp" / "servers" / "shelf.py"


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    home = tmp_path / "home"
    (home / "project" / ".git").mkdir(parents=True)
    config = home / ".config" / "harness"
    config.mkdir(parents=True)
    entry = {"command": [sys.executable, str(SHELF)], "tools": {"lend": False}}
    rules = [{"permission": "mcp", "pattern": "shelf_read_resource", "action": "deny"}]
    agents = {"blind": {"description": "x", "permission": rules}}
    (config / "config.yaml").write_text(json.dumps({"mcp": {"shelf": entry}, "agents": agents}))
    options = OpenOptions(flags=Flags(), environ={"HOME": str(home), "PATH": "/usr/bin:/bin"}, start_servers=False)
    workspace = await Workspace.open(home / "project", options)
    await workspace.start_servers()
    yield workspace
    await workspace.close()


async def test_what_a_server_offers_is_told_and_completed_while_it_is_typed(workspace: Workspace) -> None:
    offers = ServerOffers(workspace, session="", agent="build", mode="ask")
    tools = {row.tool: row for row in await offers.tools("shelf")}
    assert {name: (row.name, row.enabled) for name, row in tools.items()} == {
        "lend": ("", False),
        "write": ("shelf_write", True),
    }
    assert tools["write"].schema["required"] == ["text"]
    assert 20 < tools["write"].tokens < 200
    rows = await offers.resources()
    assert [row.mention for row in rows if row.variables is None][-1] == "shelf:note://today"
    assert [row.variables for row in rows][-1] == ("author", "title")
    await check_mentions(offers)
    await check_prompts(offers)
    assert (await offers.read("shelf", "note://today")).attachments[0].content == "first"
    line = "/commit @shelf:note://today"
    seen = await preview_line(workspace, line, Unfetched(()), session="", agent="build", mode="ask")
    told = [(item.name, item.note) for item in seen.attachments]
    assert (told, seen.warnings, seen.error) == ([("shelf:note://today", "read when it is sent")], (), None)
    blind = ServerOffers(workspace, session="", agent="blind", mode="ask")
    with pytest.raises(RefusedError):
        await blind.read("shelf", "note://today")


async def check_mentions(offers: ServerOffers) -> None:
    """Servers and addresses by any part, then the values of a template's variables one after the other."""

    async def texts(typed: str) -> list[str]:
        return [row.text for row in await offers.mentions(typed)]

    assert await texts("pix") == ["shelf:note://pixel"]
    assert (await texts("SHELF:note://t"))[0] == "shelf:note://today"
    assert len(await texts("")) == 5
    (first,) = [row for row in await offers.mentions("shelf:not") if not row.whole]
    assert (first.text, first.about) == ("shelf:note://", "shelf:note://{author}/{title} by author")
    assert (await texts("shelf:note://a"))[:2] == ["shelf:note://ada/", "shelf:note://alan/"]
    found = await offers.mentions("shelf:note://ada/")
    assert [(row.text, row.whole) for row in found] == [("shelf:note://ada/note-of-ada", True)]
    assert await texts("nobody:x") == []


async def check_prompts(offers: ServerOffers) -> None:
    """The argument at the end is completed, with those before it known."""

    async def texts(name: str, typed: str) -> list[str]:
        return [row.text for row in await offers.prompt_values(name, typed)]

    assert await texts("mcp:shelf:review", "") == ["ada ", "alan ", "barbara "]
    assert await texts("mcp:shelf:review", "al") == ["alan "]
    assert await texts("shelf:review", "alan ") == ["alan prompt-of-alan"]
    assert await texts("shelf:review", "alan prompt of") == ["alan prompt-of-alan"]
    assert await texts("mcp:shelf:nothing", "") == []


@pytest.mark.parametrize(
    ("template", "text", "expected"),
    [
        ("x://{a}", "x://b c", ("a", "b c", "x://", {})),
        ("x://{a}/y/{b}", "x://1/y/2", ("b", "2", "x://1/y/", {"a": "1"})),
        ("x://{+a}", "x://1/2", ("a", "1/2", "x://", {})),
        ("x://{a}", "x://1/2", None),
        ("x://{a}", "y://", None),
        ("x://{?q}", "x://", None),
        ("x://plain", "x://plain", None),
        ("x://{a}.txt", "x://1.txt", None),
    ],
)
def test_a_template_is_followed_while_it_is_typed(template: str, text: str, expected: object) -> None:
    typing = typing_of(template, text)
    assert (typing and (typing.variable, typing.value, typing.before, typing.others)) == expected


def test_a_value_is_put_into_an_address_so_that_it_stays_one_value() -> None:
    typing = typing_of("x://{a}/{b}", "x://")
    assert typing is not None
    assert typing.with_value("1/2 ?") == "x://1%2F2%20%3F/"
    reserved = typing_of("x://{+a}", "x://")
    assert reserved is not None
    assert reserved.with_value("1/2 3") == "x://1/2%203"


def test_arguments_are_held_against_a_schema_that_is_foreign() -> None:
    schema = {
        "type": "object",
        "required": ["n"],
        "properties": {
            "n": {"type": "integer", "minimum": 1},
            "s": {"type": "string", "pattern": "(a+)+$"},
            "p": {"$ref": "#/$defs/P"},
            "pattern": {"type": "boolean"},
        },
        "$defs": {"P": {"enum": ["x", "y"]}},
        "additionalProperties": False,
    }
    assert faults_of(schema, {"n": 1, "s": "a" * 40 + "!", "p": "x", "pattern": True}) == ""
    assert faults_of(schema, {}) == "'n' is a required property"
    assert (
        faults_of(schema, {"n": 0, "p": "z"}) == "n: 0 is less than the minimum of 1; p: 'z' is not one of ['x', 'y']"
    )
    assert "pattern: 'x' is not of type 'boolean'" in faults_of(schema, {"n": 1, "pattern": "x"})
    assert faults_of({"$ref": "http://127.0.0.1:1/x"}, {"a": 1}) == ""
    assert faults_of({"type": "object", "properties": {"a": {"$ref": "#/nothing"}}}, {"a": 1}) == ""
    assert faults_of({"type": 5}, {"a": 1}) == ""
    loop = {"properties": {"a": {"$ref": "#/$defs/L"}}, "$defs": {"L": {"$ref": "#/$defs/L"}}}
    assert faults_of(loop, {"a": 1}) == ""
