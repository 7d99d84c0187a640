"""Skills of MCP servers on the agent's side: told of, approved, and no code on their word without a person."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness_tui.core.events import PermissionRequested, RunFinished, ToolFinished
from harness_tui.core.intents import Answer, Submit
from harness_tui.mcp.manifest import known_skills
from harness_tui.workspace.library import WorkspaceLibrary

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "publishes.py"
SETTINGS = {"mcp": {"docs": {"command": [sys.executable, str(SERVER)], "lazy": False}}}
LOAD = {"tools": [{"name": "skill", "arguments": {"name": "docs:pdf"}}]}
BASH = {"tools": [{"name": "bash", "arguments": {"command": "echo run"}}]}
ECHO = {"permission": "bash", "pattern": "echo *", "action": "allow"}


async def answers(stage: Any, *actions: tuple[str, str | None]) -> list[list[str]]:
    """Answer requests in turn until the run ends; return what each was about."""
    asked: list[list[str]] = []
    for action, scope in actions:
        request = await stage.next(PermissionRequested)
        asked.append([request.permission, *request.patterns])
        await stage.send(Answer(request.request, action, scope=scope))
    await stage.next(RunFinished)
    return asked


async def test_what_a_servers_skill_says_runs_nothing_that_nobody_allowed_for_it(stage: Any) -> None:
    script = {"turns": [BASH, LOAD, BASH, BASH, {"text": "done"}]}
    one = await stage(script, policy="person", rules=(ECHO,), settings=SETTINGS)
    await one.live.send(Submit("go"))
    asked = await answers(one, ("allow", None), ("deny", None))
    value = asked[0][1]
    assert [asked[0][0], value.partition("@")[0]] == ["remote_skill", "docs:pdf"]
    assert asked[1] == ["skill_code", value]
    results = [(event.tool, event.is_error) for event in one.of(ToolFinished)]
    assert results == [("bash", False), ("skill", False), ("bash", True)]
    system = one.requests()[0]["system"]
    assert "<name>docs:pdf</name><description>(of the MCP server docs) Fill in forms</description>" in system
    tool = next(tool for tool in one.requests()[0]["tools"] if tool["name"] == "skill")
    assert sorted(tool["parameters"]["properties"]) == ["file", "name"]


async def test_leave_to_run_code_is_kept_for_the_set_and_ends_with_a_change_of_it(stage: Any) -> None:
    change = {"tools": [{"name": "docs_rewrite", "arguments": {"body": "Other."}}]}
    turns = [LOAD, BASH, BASH, change, LOAD, LOAD, BASH, {"text": "done"}]
    allow = {"permission": "mcp", "pattern": "docs_rewrite", "action": "allow"}
    one = await stage({"turns": turns}, policy="person", rules=(ECHO, allow), settings=SETTINGS)
    await one.live.send(Submit("go"))
    asked = await answers(one, ("allow", "user"), ("allow", "user"), ("allow", None), ("deny", None))
    assert [item[0] for item in asked] == ["remote_skill", "skill_code", "remote_skill", "skill_code"]
    assert asked[0][1] == asked[1][1] != asked[2][1] == asked[3][1]
    loads = [event for event in one.of(ToolFinished) if event.tool == "skill"]
    assert [event.is_error for event in loads] == [False, True, False]
    assert "the skill changed on its server: load it again" in loads[1].output


async def test_a_command_that_asks_by_itself_is_asked_about_as_code_of_the_skill_first(stage: Any) -> None:
    one = await stage({"turns": [LOAD, BASH, {"text": "done"}]}, policy="person", settings=SETTINGS)
    await one.live.send(Submit("go"))
    asked = await answers(one, ("allow", None), ("allow", "session"))
    assert [asked[1][0], asked[1][2]] == ["skill_code", "echo run"]
    kept = [(item.rule.permission, item.rule.pattern) for item in one.workspace.approvals.list()]
    assert kept == [("bash", "echo run"), ("skill_code", asked[0][1])]


async def test_a_policy_allows_a_skill_and_never_its_code_also_after_a_resume(stage: Any) -> None:
    one = await stage({"turns": [LOAD, BASH, {"text": "x"}]}, policy="allow", rules=(ECHO,), settings=SETTINGS)
    await one.say("go")
    assert [event.is_error for event in one.of(ToolFinished)] == [False, True]
    assert "Not permitted: skill_code docs:pdf@" in one.of(ToolFinished)[1].output
    session = one.live.id
    await one.workspace.close()
    again = await stage({"turns": [BASH, {"text": "x"}]}, policy="allow", rules=(ECHO,), settings={}, session=session)
    await again.say("go on")
    assert "Not permitted: skill_code docs:pdf@" in again.of(ToolFinished)[0].output


async def test_a_subagent_runs_no_code_on_the_word_of_a_skill_of_the_session_above(stage: Any) -> None:
    task = {"tools": [{"name": "task", "arguments": {"agent": "worker", "prompt": "run it"}}]}
    script = {"turns": [LOAD, task, {"text": "x"}], "agents": {"worker": [BASH, {"text": "tried"}]}}
    agents = {"agents": {"worker": {"description": "Works", "mode": "subagent"}}}
    one = await stage(script, policy="allow", rules=(ECHO,), settings=SETTINGS | agents)
    await one.say("go")
    outputs = {event.tool: event.output for event in one.of(ToolFinished)}
    assert "Not permitted: skill_code docs:pdf@" in outputs["bash"]


async def test_rules_and_lists_of_agents_hide_a_servers_skill(stage: Any) -> None:
    deny = {"permission": "skill", "pattern": "docs:pdf", "action": "deny"}
    rules, agents = (ECHO, deny), {"narrow": {"tools": {"skill": ["docs:in*"]}, "mode": "primary"}}
    one = await stage({"turns": [LOAD]}, policy="allow", rules=rules, settings=SETTINGS | {"agents": agents})
    await one.say("go")
    assert one.of(ToolFinished)[0].output.startswith("skill: no skill is called 'docs:pdf'")
    assert "docs:pdf" not in one.requests()[0]["system"]
    await one.say("and you", agent="narrow")
    names = [part.split("</name>")[0] for part in one.requests()[-1]["system"].split("<name>")[1:]]
    assert names == ["docs:inner"]


async def test_people_see_the_skills_of_servers_also_before_the_servers_run_again(stage: Any) -> None:
    one = await stage({"turns": []}, policy="person", settings=SETTINGS)
    await one.workspace.wait_for_servers()
    workspace = one.workspace
    look = WorkspaceLibrary(workspace, session=one.live.id, agent="build", mode="ask")
    rows = [row for row in (await look.look()).skills if row.source == "mcp · docs"]
    assert [(row.name, row.slash, row.usable, row.own) for row in rows] == [
        ("docs:acme/billing/refunds", "", True, False),
        ("docs:acme/support/refunds", "", True, False),
        ("docs:inner", "", True, False),
        ("docs:pdf", "", True, False),
    ]
    assert "- forms/A4.md (9 bytes)" in (await look.text(rows[3].path)).splitlines()
    await workspace.mcp.close()
    servers, root = workspace.loaded.settings.mcp, workspace.project.root
    known = known_skills(servers, workspace.places.manifests, root)
    assert [skill.name for skill in known] == [row.name for row in rows]
    assert known == list(workspace.mcp.skills.skills())
