"""Agents from configuration and from Markdown files."""

from __future__ import annotations

from harness_tui.core.values import Rule


def test_an_agent_of_the_configuration_has_all_its_parts(world):
    path = world.write_user(
        """\
        agents:
          review:
            description: Reads and comments
            mode: primary
            tools: {edit: false, skill: [review-*]}
            permission: [{permission: edit, pattern: "*", action: deny}]
            steps: 12
            temperature: 0.5
        """
    )
    agent = world.load().settings.agents["review"]
    assert agent.description == "Reads and comments"
    assert agent.tools == {"edit": False, "skill": ("review-*",)}
    assert agent.permission == (Rule("edit", "*", "deny", f"{path}:6"),)
    assert (agent.steps, agent.temperature, agent.source, agent.trusted) == (12, 0.5, f"{path}:2", True)


def test_a_markdown_file_is_an_agent_with_its_body_as_prompt(world):
    path = world.write_user(
        "---\ndescription: Writes tests\nmode: subagent\npermission:\n  - {permission: bash, pattern: x, action: ask}\n"
        "---\n\nTest {env:HOME} well.\n---\nEnd.\n",
        "agents/tester.md",
    )
    agent = world.load().settings.agents["tester"]
    assert agent.prompt == "Test {env:HOME} well.\n---\nEnd."
    assert (agent.mode, agent.description) == ("subagent", "Writes tests")
    assert agent.permission == (Rule("bash", "x", "ask", f"{path}:5"),)


def test_the_configuration_beside_an_agent_file_wins_and_rules_are_joined(world):
    world.write_user(
        "---\ndescription: a\npermission: [{permission: bash, pattern: x, action: ask}]\n---\nP\n", "agents/a.md"
    )
    world.write_user("agents: {a: {description: b, permission: [{permission: edit, pattern: y, action: deny}]}}\n")
    agent = world.load().settings.agents["a"]
    assert (agent.description, agent.prompt) == ("b", "P")
    assert [(rule.permission, rule.action) for rule in agent.permission] == [("bash", "ask"), ("edit", "deny")]


def test_a_built_in_agent_keeps_what_is_not_said_again(world):
    world.write_user("agents: {explore: {model: a/b, tools: {webfetch: false}}}\n")
    agent = world.load().settings.agents["explore"]
    assert (agent.model, agent.mode) == ("a/b", "subagent")
    assert agent.tools == {"edit": False, "write": False, "bash": False, "bash_*": False, "webfetch": False}


def test_an_agent_whose_restriction_is_wrong_is_left_out_and_not_widened(world):
    world.write_user(
        """\
        agents:
          careful: {permission: [{permission: bash, pattern: "*", action: denied}]}
          typo: {permissions: [{permission: bash, pattern: "*", action: deny}]}
          fine: {description: ok}
        """
    )
    loaded = world.load()
    assert set(loaded.settings.agents) == {"build", "plan", "explore", "fine"}
    assert set(loaded.settings.unusable) == {"agents.careful", "agents.typo"}
    assert "did you mean 'permission'?" in loaded.settings.unusable["agents.typo"]


def test_agent_files_with_broken_front_matter_are_reported_alone(world):
    open_end = world.write_user("---\ndescription: x\n", "agents/open.md")
    syntax = world.write_user("---\nmode: primary\ndescription: a: b\n---\nP\n", "agents/syntax.md")
    wrong = world.write_user("---\n- x\n---\nP\n", "agents/list.md")
    world.write_user("Only a prompt.\n", "agents/plain.md")
    world.write_user("not an agent", "agents/README.md")
    loaded = world.load()
    assert set(loaded.settings.agents) == {"build", "plan", "explore", "plain"}
    assert loaded.settings.agents["plain"].prompt == "Only a prompt."
    assert {problem.where for problem in loaded.problems} == {f"{open_end}:1", f"{syntax}:3", f"{wrong}:2"}


def test_agents_of_a_folder_that_is_not_trusted_are_listed_and_not_used(world):
    world.write(".harness/agents/theirs.md", "---\ndescription: x\n---\nP\n")
    world.write(".harness/config.yaml", "agents: {build: {prompt: changed}, more: {description: y}}\n")
    loaded = world.load()
    assert set(loaded.settings.agents) == {"build", "plan", "explore"}
    assert loaded.settings.agents["build"].prompt == ""
    assert set(loaded.untrusted_agents) == {"theirs", "more"}
    assert not any(agent.trusted for agent in loaded.untrusted_agents.values())
    assert set(world.trusted().settings.agents) == {"build", "plan", "explore", "theirs", "more"}


def test_the_singular_folder_is_read_too(world):
    world.write(".harness/agent/single.md", "P\n")
    assert "single" in world.trusted().settings.agents
