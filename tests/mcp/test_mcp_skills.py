"""Skills that servers publish: listed without a read, loaded as approved, verified, bound to their server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import ToolContext
from harness_tui.library.remote_skills import RemoteSkills
from harness_tui.library.skill_tool import SkillTool
from harness_tui.mcp.pool import McpPool
from harness_tui.mcp.skills import entry_of

Opened = tuple[McpPool, SkillTool]


@pytest.fixture
async def docs(server: Callable[..., McpServerSettings], make_pool: Callable[..., McpPool]) -> Callable[..., Any]:
    """``pool, tool = await docs()``: the server ``docs``, and the tool ``skill`` over it."""

    async def make(dishonest: str = "", *more: str) -> Opened:
        names = ("docs", *more)
        pool = make_pool(*(server("publishes", name=name, env={"DISHONEST": dishonest}) for name in names))
        pool.start(eager=True)
        assert await pool.wait_started(30)
        remote = RemoteSkills(lambda: ())
        remote.use(pool.skills)
        return pool, SkillTool(list, lambda name: None, remote=remote)

    return make


async def load(tool: SkillTool, context: ToolContext, name: str, **more: str) -> str:
    prepared = await tool.prepare({"name": name, **more}, context)
    return (await tool.run(prepared, context)).output


async def reads(pool: McpPool, server: str = "docs") -> list[str]:
    outcome = await pool.call(server, "reads", {})
    return outcome.content[0]["text"].split()


async def test_listing_and_approving_read_no_file_and_loading_reads_one(docs, context: ToolContext) -> None:
    pool, tool = await docs()
    labels = [skill.label for skill in pool.skills.skills()]
    assert labels == ["acme/billing/refunds", "acme/support/refunds", "inner", "pdf"]
    prepared = await tool.prepare({"name": "docs:pdf"}, context)
    assert await reads(pool) == []
    output = (await tool.run(prepared, context)).output
    assert await reads(pool) == ["skill://pdf/SKILL.md"]
    assert 'name="docs:pdf" folder="skill://pdf of the MCP server docs, set ' in output
    assert "The person did not write it" in output
    assert "- forms/A4.md" in output
    assert "- inner/SKILL.md" in output


async def test_an_approval_holds_for_the_set_and_for_no_other(docs, context: ToolContext) -> None:
    pool, tool = await docs()
    first = await tool.prepare({"name": "docs:pdf"}, context)
    (_, check) = first.checks
    assert (check.permission, check.value.partition("@")[0]) == ("remote_skill", "docs:pdf")
    assert first.preview.arguments["asked for, and not granted"] == ["allowed-tools"]
    await pool.call("docs", "rewrite", {"body": "Now do this."})
    with pytest.raises(HarnessError, match=r"SKILL.md has \d+ bytes, its entry says \d+") as raised:
        await tool.run(first, context)
    assert raised.value.mend == "the skill changed on its server: load it again, the person is asked again"
    again = await tool.prepare({"name": "docs:pdf"}, context)
    assert again.checks[1].value != check.value
    assert "Now do this." in (await tool.run(again, context)).output


async def test_no_right_comes_along_with_a_skill(docs, context: ToolContext) -> None:
    _, tool = await docs()
    result = await tool.run(await tool.prepare({"name": "docs:pdf"}, context), context)
    assert result.grants == ()
    assert result.metadata["ignored"] == ["allowed-tools"]


@pytest.mark.parametrize(
    ("dishonest", "words"), [("digest", "has another digest"), ("size", r"has \d+ bytes, its entry says")]
)
async def test_what_does_not_fit_its_entry_is_not_used(docs, context: ToolContext, dishonest: str, words: str) -> None:
    pool, tool = await docs(dishonest)
    with pytest.raises(HarnessError, match=words) as raised:
        await load(tool, context, "docs:pdf")
    assert raised.value.mend == "do not use what it says; its server gives another file than it lists"
    assert await reads(pool) == ["skill://pdf/SKILL.md"]
    with pytest.raises(HarnessError, match="is not loaded in this session"):
        await load(tool, context, "docs:pdf", file="forms/A4.md")


async def test_files_are_read_once_loaded_verified_and_kept_by_their_server(docs, context: ToolContext) -> None:
    pool, tool = await docs("", "other")
    with pytest.raises(HarnessError, match="is not loaded in this session"):
        await load(tool, context, "docs:pdf", file="forms/A4.md")
    await load(tool, context, "docs:pdf")
    await load(tool, context, "other:pdf")
    prepared = await tool.prepare({"name": "docs:pdf", "file": "scripts/fill.sh"}, context)
    result = await tool.run(prepared, context)
    kept = Path(result.metadata["path"])
    assert kept.read_bytes() == b"#!/bin/sh\necho filled\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert result.output.endswith("#!/bin/sh\necho filled\n")
    other = await tool.run(await tool.prepare({"name": "other:pdf", "file": "scripts/fill.sh"}, context), context)
    assert Path(other.metadata["path"]) != kept
    await tool.run(prepared, context)
    assert (await reads(pool)).count("skill://pdf/scripts/fill.sh") == 1
    kept.write_bytes(b"#!/bin/sh\necho swapped\n")
    assert "echo filled" in (await tool.run(prepared, context)).output


async def test_a_file_that_is_not_listed_is_not_read(docs, context: ToolContext) -> None:
    pool, tool = await docs()
    await load(tool, context, "docs:pdf")
    for file in ("forms/B5.md", "../hidden/SKILL.md", "skill://hidden/SKILL.md", "/etc/passwd"):
        with pytest.raises(HarnessError, match="is none of its files: it was not read"):
            await load(tool, context, "docs:pdf", file=file)
    assert await reads(pool) == ["skill://pdf/SKILL.md"]


async def test_a_nested_skill_is_text_until_it_is_loaded_by_itself(docs, context: ToolContext) -> None:
    _, tool = await docs()
    await load(tool, context, "docs:pdf")
    before = tool.activations.of_servers(context.session)
    text = await load(tool, context, "docs:pdf", file="inner/SKILL.md")
    assert "Inner text." in text
    assert "<skill" not in text
    assert tool.activations.of_servers(context.session) == before
    nested = await tool.prepare({"name": "docs:inner"}, context)
    assert nested.checks[1].value.startswith("docs:inner@")


async def test_a_skill_that_is_not_listed_is_found_by_its_address(docs, context: ToolContext) -> None:
    pool, tool = await docs()
    name = "docs:skill://hidden/SKILL.md"
    assert "Found by its address." in await load(tool, context, name)
    assert await reads(pool) == ["skill://hidden/SKILL.md"]
    with pytest.raises(HarnessError, match=r"no skill is served at skill://none/SKILL\.md"):
        await tool.prepare({"name": "docs:skill://none/SKILL.md"}, context)


async def test_an_entry_that_breaks_a_rule_is_shown_with_its_reason_and_not_loaded(docs, context: ToolContext) -> None:
    pool, tool = await docs("entries")
    reasons = {skill.label: skill.problem for skill in pool.skills.skills()}
    assert reasons == {
        "many": "it has 513 files, more than 512",
        "heavy": "its files have 16777217 bytes, more than 16777216",
        "live": "its content is made anew at each read, so that nothing can be verified",
        "bare": "its entry lists no files",
        "liar": "its name is not that of its folder, or not one that a skill can have",
        "pdf": "its list of files names one that lies outside of its folder",
    }
    (status,) = pool.status()
    assert status.reason == "left out: skill 7 (its entry has no address); skill 8 (its entry has no address)"
    with pytest.raises(HarnessError, match="it cannot be loaded: it has 513 files"):
        await tool.prepare({"name": "docs:many"}, context)
    assert await reads(pool) == []


async def test_a_skill_in_a_folder_is_never_replaced(docs) -> None:
    pool, _ = await docs()
    remote = RemoteSkills(lambda: ("docs:pdf", "pdf"))
    remote.use(pool.skills)
    assert [skill.name for skill in remote.offered()] == [
        "docs:acme/billing/refunds",
        "docs:acme/support/refunds",
        "docs:inner",
    ]
    assert not remote.means("docs:pdf")
    assert not remote.means("pdf")


@pytest.mark.parametrize(
    "uri",
    ["/skill://a/SKILL.md", "skill://a/skill.md", "skill://a b/SKILL.md", 'skill://a"/SKILL.md', "a/SKILL.md"],
)
def test_an_address_that_could_be_taken_for_something_else_is_refused(uri: str) -> None:
    found = entry_of("docs", {"uri": uri, "frontmatter": {"name": "a", "description": "d"}, "resources": []})
    assert found is not None
    assert found.problem == "its address is not that of a SKILL.md"
