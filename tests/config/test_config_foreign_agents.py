"""Agents of Claude Code and opencode where they lie: usable, narrowed as their authors meant, never wider."""

from __future__ import annotations

import pytest

from harness_tui.agent.outfit import offered
from harness_tui.core.values import AgentDefinition

TOOLS = (
    "read",
    "list",
    "glob",
    "grep",
    "edit",
    "write",
    "bash",
    "bash_kill",
    "webfetch",
    "task",
    "git_log",
    "git_push",
)

REVIEWER = """\
---
name: code-reviewer
description: Use this agent when: code was written. <example>user: "done" assistant: 'reviewing: now'</example>
tools: Read, Grep, Glob, Bash(git diff:*), mcp__git__log, WebSearch
model: sonnet
color: red
maxTurns: 7
permissionMode: bypassPermissions
---

You review {env:NOTHING}.
"""


def has(agent: AgentDefinition) -> set[str]:
    """Return those of TOOLS that an agent is offered."""
    return {tool for tool in TOOLS if offered(agent, tool)}


def rules(agent: AgentDefinition) -> list[tuple[str, str, str]]:
    return [(rule.permission, rule.pattern, rule.action) for rule in agent.permission]


def test_an_agent_of_claude_code_has_its_tools_and_no_more(world):
    path = world.write("x", "").parent / ".claude/agents/review/r.md"
    world.write(".claude/agents/review/r.md", REVIEWER)
    loaded = world.trusted()
    agent = loaded.settings.agents["code-reviewer"]
    assert agent.description.startswith("Use this agent when: code was written.")
    assert agent.prompt == "You review {env:NOTHING}."
    assert (agent.mode, agent.model, agent.steps, agent.start_mode, agent.source) == ("all", None, 7, None, f"{path}:1")
    assert has(agent) == {"read", "list", "glob", "grep", "bash", "bash_kill", "git_log"}
    assert rules(agent) == [("bash", "*", "deny"), ("bash", "git diff *", "ask")]
    assert {(item.where, item.level) for item in loaded.problems} == {(f"{path}:5", "info"), (f"{path}:8", "info")}
    assert not [item for item in loaded.problems if "WebSearch" in item.message]


def test_an_agent_without_a_list_of_tools_has_all_but_those_it_is_denied(world):
    world.write(
        ".claude/agents/a.md", "---\nname: a\ndescription: d\ndisallowedTools: [Write, Bash(rm:*), mcp__git]\n---\nP"
    )
    agent = world.trusted().settings.agents["a"]
    assert set(TOOLS) - has(agent) == {"write", "git_log", "git_push"}
    assert rules(agent) == [("bash", "rm *", "deny")]


def test_an_agent_of_opencode_keeps_what_holds_back_and_asks_for_what_it_allowed(world):
    world.write(
        ".opencode/agent/docs.md",
        """\
        ---
        description: Writes docs
        mode: subagent
        model: anthropic/claude-x
        temperature: 0.1
        tools: {write: false, bash: false, "git_*": false}
        permission:
          edit: {"*": deny, "docs/*": allow}
          webfetch: allow
          bash: ask
        ---
        Write docs.
        """,
    )
    agent = world.trusted().settings.agents["docs"]
    assert (agent.mode, agent.model, agent.temperature) == ("subagent", "anthropic/claude-x", 0.1)
    assert has(agent) == {"read", "list", "glob", "grep", "edit", "webfetch", "task"}
    assert rules(agent) == [("edit", "*", "deny"), ("edit", "docs/*", "ask"), ("bash", "*", "ask")]


def test_a_search_that_is_denied_makes_reading_ask_and_a_denied_path_stays_denied(world):
    world.write(
        ".opencode/agents/a.md",
        '---\npermission: {read: {"*": allow, "s/*": deny}, grep: deny}\n---\nP',
    )
    agent = world.trusted().settings.agents["a"]
    assert rules(agent) == [("read", "*", "ask"), ("read", "*", "ask"), ("read", "s/*", "deny")]


@pytest.mark.parametrize(
    "header",
    ["tools: [Read, {x: y}]", "tools: {Read: 1}", "tools: [Read", "disallowedTools: 7", "permission: {bash: maybe}"],
)
def test_an_agent_whose_restriction_cannot_be_read_is_not_used(world, header):
    folder = ".opencode/agents" if header.startswith("perm") else ".claude/agents"
    world.write(f"{folder}/a.md", f"---\nname: a\ndescription: d\n{header}\n---\nP")
    world.write(f"{folder}/b.md", "---\nname: b\ndescription: d\n---\nP")
    loaded = world.trusted()
    assert "a" not in loaded.settings.agents
    assert "b" in loaded.settings.agents
    assert "agents.a" in loaded.settings.unusable
    levels = [item.level for item in loaded.problems]
    assert "warning" in levels
    assert "error" not in levels


def test_nothing_of_a_folder_that_is_not_trusted_is_used(world):
    world.write(".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nP")
    loaded = world.load()
    assert "a" not in loaded.settings.agents
    assert not loaded.untrusted_agents["a"].trusted
    assert [item.code for item in loaded.problems] == ["untrusted"]
    assert [item.path for item in loaded.trust.files] == [".claude/agents/a.md"]


def test_the_persons_own_agents_need_no_trust_and_the_projects_ones_go_before_them(world):
    for base in (world.home / ".claude/agents", world.home / ".config/opencode/agents", world.root / ".claude/agents"):
        base.mkdir(parents=True)
        (base / "a.md").write_text(f"---\nname: a\ndescription: {base}\n---\nP")
        assert world.trusted().settings.agents["a"].description == str(base)
    shadowed = [item for item in world.load().problems if item.code == "shadowed"]
    assert [item.where for item in shadowed] == [
        f"{world.home}/.claude/agents/a.md:1",
        f"{world.home}/.config/opencode/agents/a.md:1",
    ]


def test_an_agent_of_ours_and_a_built_in_one_are_never_replaced(world):
    world.write(".claude/agents/plan.md", "---\nname: plan\ndescription: d\n---\nEdit all")
    world.write(".claude/agents/mine.md", "---\nname: mine\ndescription: theirs\ntools: Bash\n---\nP")
    world.write_user("agents: {mine: {description: ours}}\n")
    loaded = world.trusted()
    assert loaded.settings.agents["plan"].prompt.startswith("You plan")
    assert (loaded.settings.agents["mine"].description, loaded.settings.agents["mine"].tools) == ("ours", {})
    assert [(item.code, item.level) for item in loaded.problems] == [("name-taken", "info")]


def test_a_changed_list_of_tools_asks_for_trust_again_and_a_changed_text_does_not(world):
    path = world.write(".claude/agents/a.md", "---\nname: a\ndescription: d\ntools: Read\n---\nP")
    assert world.trusted().trust.trusted
    path.write_text("---\nname: a\ndescription: e\ntools: Read\n---\nQ")
    assert world.load().trust.trusted
    path.write_text("---\nname: a\ndescription: e\ntools: Read, Bash\n---\nQ")
    assert not world.load().trust.trusted


def test_a_file_without_front_matter_and_a_disabled_agent_are_none(world):
    world.write(".claude/agents/notes.md", "Just notes")
    world.write(".opencode/agents/off.md", "---\ndisable: true\ndescription: d\n---\nP")
    loaded = world.trusted()
    assert set(loaded.settings.agents) == {"build", "plan", "explore"}
    assert loaded.problems == ()


def test_of_very_many_agents_some_are_left_out_and_that_is_said(world):
    for number in range(203):
        world.write(f".claude/agents/a{number:03}.md", "Just notes")
    (problem,) = world.load().problems
    assert (problem.code, problem.where) == ("too-many-files", f"{world.root}/.claude/agents")
