"""Trust: what is held back without it, what it covers, and what asks again."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness_tui.config.loader import Flags
from harness_tui.config.project import Project, find_project
from harness_tui.config.risk import markdown_risk
from harness_tui.core.errors import RefusedError, UsageError

CONFIG = """\
model: a/b
agent: theirs
providers: {lab: {kind: openai, base_url: "https://lab.test"}}
permission:
  - {permission: bash, pattern: "make *", action: allow}
  - {permission: bash, pattern: "rm *", action: deny}
mcp: {time: {command: [clock], env: {K: "{env:SECRET}"}}}
lsp: {wait_ms: 9, servers: {ty: {command: [ty, server]}}}
agents: {theirs: {description: x}}
instructions: [notes.md]
"""


def changes(status):
    return {item.path: item.change for item in status.files}


def test_until_trusted_only_the_deny_rules_of_a_project_count(world):
    world.write(".harness/config.yaml", CONFIG)
    world.environ["SECRET"] = "swordfish"
    loaded = world.load()
    settings = loaded.settings
    assert (settings.model, settings.agent, settings.providers, settings.instructions) == (None, "build", {}, ())
    assert [(rule.pattern, rule.action) for rule in settings.rules[2].rules] == [("rm *", "deny")]
    assert settings.lsp.wait_ms == 1500
    assert settings.mcp["time"].trusted is False
    assert settings.mcp["time"].env == {"K": "{env:SECRET}"}
    assert settings.lsp.servers["ty"].trusted is False
    assert "theirs" not in settings.agents


def test_what_is_held_back_is_listed(world, find):
    path = world.write(".harness/config.yaml", CONFIG)
    loaded = world.load()
    [problem] = find(loaded, "untrusted")
    for name in ("model", "providers.lab", "mcp.time", "lsp.servers.ty", "agents.theirs", "1 permission rule"):
        assert name in problem.message
    assert "harness trust" in problem.mend
    held = {(origin.key, origin.source) for origin in loaded.origins if origin.state == "untrusted"}
    assert ("model", f"{path}:1") in held
    assert ("permission", f"{path}:5") in held
    assert ("permission", f"{path}:6") not in held


def test_after_trust_everything_counts(world):
    world.write(".harness/config.yaml", CONFIG)
    world.environ["SECRET"] = "swordfish"
    settings = world.trusted().settings
    assert (settings.model, settings.agent) == ("a/b", "theirs")
    assert settings.mcp["time"].trusted is True
    assert settings.mcp["time"].env == {"K": "swordfish"}
    assert settings.instructions == (str(world.root / "notes.md"),)
    assert [rule.action for rule in settings.rules[2].rules] == ["allow", "deny"]


def test_the_persons_server_of_the_same_name_stays_the_persons(world):
    world.write_user("mcp: {time: {command: [mine]}}\n")
    world.write(".harness/config.yaml", "mcp: {time: {command: [theirs]}}\n")
    server = world.load().settings.mcp["time"]
    assert (server.command, server.trusted) == (("mine",), True)


def test_an_agent_of_an_untrusted_folder_that_was_asked_for_names_trust(world):
    world.write(".harness/config.yaml", CONFIG)
    with pytest.raises(UsageError, match="harness trust"):
        world.load(Flags(agent="theirs"))


@pytest.mark.parametrize(
    "text",
    ["", "permission: [{permission: bash, pattern: x, action: deny}]\n", "theme: dark\n", "# nothing\n"],
)
def test_a_folder_that_only_restricts_or_looks_needs_no_trust(world, text):
    world.write(".harness/config.yaml", text)
    world.write("AGENTS.md", "Be kind.")
    status = world.store.status(world.project)
    assert (status.has_something, status.usable, status.ask, status.files) == (False, True, False, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".harness/config.yaml", "model: a/b\n"),
        (".harness/config.local.yaml", "mode: accept-edits\n"),
        (".mcp.json", '{"mcpServers": {"a": {"command": "x"}}}'),
        (".harness/agents/a.md", "P"),
        (".harness/commands/a.md", "Only prose."),
        (".harness/command/team/a.md", "Only prose."),
        (".claude/commands/a.md", "Only prose."),
        (".opencode/command/a.md", "Only prose."),
        (".cursor/commands/a.md", "Only prose."),
        (".gemini/commands/a.toml", 'prompt = "p"'),
        (".agents/skills/s/SKILL.md", "---\ndescription: d\n---\n"),
        (".harness/skills/s/SKILL.md", "---\ndescription: d\n---\n"),
    ],
)
def test_everything_that_a_folder_brings_along_needs_trust(world, name, text):
    world.write(name, text)
    status = world.store.status(world.project)
    assert (status.has_something, status.usable, status.ask) == (True, False, True)
    assert changes(status) == {name: "new"}
    after = world.store.grant(world.project)
    assert (after.trusted, after.granted, changes(after)) == (True, True, {name: "same"})
    assert world.store.revoke(world.project).trusted is False


def test_the_list_says_what_would_run(world):
    world.write(".harness/config.yaml", CONFIG)
    world.write(
        ".harness/commands/build.md", "---\nallowed-tools: Bash(make:*)\n---\nOutput: !`make all`\n\n```!\nid\n```\n"
    )
    items = {item.path: item.what for item in world.store.status(world.project).files}
    config = items[".harness/config.yaml"]
    for part in ("allow rule: bash make *", "MCP server time: clock", "language server ty: ty server", "agent theirs"):
        assert part in config
    assert "rm *" not in config
    command = items[".harness/commands/build.md"]
    for part in ("allowed-tools: Bash(make:*)", "command runs: make all", "command runs: id"):
        assert part in command


@pytest.mark.parametrize(
    ("name", "before", "after", "still"),
    [
        ("c.md", "Prose.", "Other prose with $1.", True),
        ("c.md", "---\ndescription: a\n---\nDo !`ls`.", "---\ndescription: b\n---\nPlease do !`ls`.", True),
        ("c.md", "Prose.", "Prose !`id`.", False),
        ("c.md", "Do !`ls`.", "Do !`ls -l`.", False),
        ("c.md", "```!\nls\n```\n", "```!\nls\nid\n```\n", False),
        ("c.md", "~~~ !\nls\n~~~\n", "~~~ !\nid\n~~~\n", False),
        ("c.md", "Prose.", "---\nallowed-tools: Bash\n---\nProse.", False),
        ("c.md", "Prose.", "---\nAllowed_Tools: Bash\n---\nProse.", False),
        ("c.md", "Prose.", '---\n"allowed-tools": Bash\n---\nProse.', False),
        ("c.md", "Prose.", "---\n{allowed-tools: Bash}\n---\nProse.", False),
        ("c.md", "Prose.", "---\n description: x\n allowed-tools: Bash\n---\nProse.", False),
        ("c.md", "Prose.", '---\n"allowed\\x2dtools": Bash\n---\nProse.', False),
        ("c.md", "Prose.", "---\n? allowed-tools\n: Bash\n---\nProse.", False),
        ("c.md", "Prose.", "---\na: b\n---\u00a0\nallowed-tools: Bash\n---\nProse.", False),
        ("c.md", "Prose.", "---\n- !`id`\n---\nProse.", False),
        ("c.md", "Prose.", "---\nhint: [a] [b]\nallowed-tools:\n- Bash\n---\nProse.", False),
        ("c.md", "---\nallowed-tools: Read\n---\n", "---\nallowed-tools: Read, Bash\n---\n", False),
        ("c.md", "---\nallowed-tools:\n- Read\n---\n", "---\nallowed-tools:\n- Read\n- Bash\n---\n", False),
        ("c.md", "\ufeff---\r\nallowed-tools: Read\r\n---\r\n", "---\nallowed-tools: Read\n---\n", True),
        ("c.toml", 'prompt = "!{ls}"', 'prompt = "!{id}"', False),
    ],
)
def test_only_what_can_run_or_widen_rights_asks_again(world, name, before, after, still):
    path = world.root / ".harness" / "commands" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(before.encode())
    world.store.grant(world.project)
    path.write_bytes(after.encode())
    status = world.store.status(world.project)
    assert status.trusted is still
    assert changes(status) == {f".harness/commands/{name}": "same" if still else "changed"}


@pytest.mark.parametrize(
    ("after", "still"),
    [
        (CONFIG + "# a comment\n", True),
        (CONFIG.replace("model: a/b", "model: c/d"), True),
        (CONFIG.replace("description: x", "description: y"), True),
        (CONFIG.replace("rm *", "shred *"), True),
        (CONFIG.replace("[clock]", "[clock, --fast]"), False),
        (CONFIG.replace("{env:SECRET}", "{env:OTHER}"), False),
        (CONFIG.replace("make *", "*"), False),
        (CONFIG.replace("lab.test", "elsewhere.test"), False),
        (CONFIG.replace("[ty, server]", "[other]"), False),
        (
            CONFIG.replace("{description: x}", "{description: x, permission: [{permission: bash, action: allow}]}"),
            False,
        ),
        (CONFIG.replace("notes.md", "~/.ssh/config"), False),
        (CONFIG + "mode: accept-edits\n", True),  # no project has a say in it
        (CONFIG + "hooks: {start: [x]}\n", False),
    ],
)
def test_of_the_configuration_only_what_can_run_or_widen_rights_asks_again(world, after, still):
    world.write(".harness/config.yaml", CONFIG)
    world.store.grant(world.project)
    world.write(".harness/config.yaml", after)
    assert world.store.status(world.project).trusted is still


def test_a_new_command_with_a_shell_part_asks_again_and_new_prose_does_not(world):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    world.store.grant(world.project)
    world.write(".harness/commands/b.md", "Prose.")
    assert world.store.status(world.project).trusted
    world.write(".claude/commands/c.md", "Do !`id`.")
    status = world.store.status(world.project)
    assert not status.trusted
    assert status.ask
    assert changes(status)[".claude/commands/c.md"] == "new"


def test_a_removed_command_asks_nothing_and_a_removed_configuration_does(world):
    command = world.write(".harness/commands/a.md", "Do !`ls`.")
    local = world.write(".harness/config.local.yaml", "mcp: {a: {command: [x], enabled: false}}\n")
    world.store.grant(world.project)
    command.unlink()
    status = world.store.status(world.project)
    assert status.trusted
    assert changes(status)[".harness/commands/a.md"] == "removed"
    local.unlink()
    world.write(".harness/commands/b.md", "Prose.")
    assert not world.store.status(world.project).trusted


def test_not_now_holds_until_the_content_changes(world):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    status = world.store.dismiss(world.project)
    assert (status.dismissed, status.ask, status.trusted) == (True, False, False)
    world.write(".harness/commands/a.md", "Please do !`ls`.")
    assert not world.store.status(world.project).ask
    world.write(".harness/commands/a.md", "Do !`id`.")
    assert world.store.status(world.project).ask


def test_trust_holds_from_every_start_folder_of_the_project(world):
    sub = world.root / "sub"
    world.write(".harness/commands/a.md", "Do !`ls`.")
    world.write("sub/.claude/commands/b.md", "Do !`id`.")
    inner = Project(world.root, sub)
    world.store.grant(inner)
    assert world.store.status(world.project).trusted
    world.store.grant(world.project)
    assert world.store.status(inner).trusted


def test_a_folder_reached_by_a_link_is_the_same_folder(world, tmp_path):
    world.write(".mcp.json", '{"mcpServers": {"a": {"command": "x"}}}')
    (tmp_path / "link").symlink_to(world.root)
    world.store.grant(find_project(tmp_path / "link", world.home))
    assert world.store.status(world.project).trusted


def test_links_that_go_round_end(world):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    (world.root / ".harness/commands/loop").symlink_to(world.root / ".harness/commands")
    assert list(changes(world.store.status(world.project))) == [".harness/commands/a.md"]


def test_the_home_folders_own_tools_need_no_trust(world, tmp_path):
    home = world.home
    (home / ".claude/commands").mkdir(parents=True)
    (home / ".claude/commands/a.md").write_text("Do !`ls`.")
    assert not world.store.status(find_project(home, home)).has_something


def test_trust_is_refused_for_content_that_was_not_shown(world):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    seen = world.store.status(world.project)
    world.write(".harness/commands/a.md", "Do !`id`.")
    with pytest.raises(RefusedError, match="changed since it was shown"):
        world.store.grant(world.project, seen=seen)
    assert not world.store.status(world.project).trusted


def test_a_file_that_is_read_again_is_covered_only_as_it_was_trusted(world):
    path = world.write(".harness/commands/a.md", "Do !`ls`.")
    store, project = world.store, world.project
    assert not store.covers(project, path, "Prose.")
    store.grant(project)
    assert store.covers(project, path, "Please do !`ls`.")
    assert store.covers(project, path, "Prose.")
    assert not store.covers(project, path, "Do !`id`.")
    assert not store.covers(project, path, "---\nallowed-tools: Bash\n---\nDo !`ls`.")


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b'{"version": 1, "fol', b'{"version": 9, "folders": {}}', b"\x00\xff"],
    ids=["empty", "a list", "cut", "another version", "bytes"],
)  # fmt: skip
def test_a_damaged_store_trusts_nothing_says_so_and_is_kept(world, damage, find):
    world.write(".harness/config.yaml", CONFIG)
    world.store.grant(world.project)
    world.places.trust_file.write_bytes(damage)
    loaded = world.load()
    assert not loaded.trust.trusted
    assert loaded.settings.model is None
    assert [problem.where for problem in find(loaded, "trust-store")] == [str(world.places.trust_file)]
    assert world.store.grant(world.project).trusted
    [kept] = world.places.state.glob("trust.json.damaged-*")
    assert kept.read_bytes() == damage


def test_the_store_is_the_persons_alone(world):
    world.write(".harness/commands/a.md", "x")
    world.store.grant(world.project)
    assert stat.S_IMODE(world.places.trust_file.stat().st_mode) == 0o600
    assert list(json.loads(world.places.trust_file.read_text())["folders"]) == [str(world.root)]


def test_many_writers_lose_nothing(world, tmp_path):
    roots = []
    for number in range(12):
        root = tmp_path / f"p{number}"
        (root / ".harness" / "commands").mkdir(parents=True)
        (root / ".harness" / "commands" / "a.md").write_text("Do !`ls`.")
        roots.append(find_project(root, world.home))
    with ThreadPoolExecutor(6) as pool:
        assert all(status.trusted for status in pool.map(world.store.grant, roots))
    assert all(world.store.status(project).trusted for project in roots)


def test_shell_parts_are_found_wherever_a_loader_could_find_them():
    for text in ('("!`a`")', "text >!`a`", "  ```!\na\n", "`````!\na\n`````", "> !`a`"):
        assert markdown_risk(text, "command").digest, text
    for text in ("`ls`", "```bash\nls\n```", "Wow!", "! `ls`"):
        assert not markdown_risk(text, "command").digest, text
