"""The import of other tools' settings: what they meant is what the gate decides, never more; what is ours stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_tui.cli.app import run_verb
from harness_tui.config.migration.meeting import may_meet
from harness_tui.config.migration.path_patterns import path_patterns
from harness_tui.config.migration.tool_names import HOSTED
from harness_tui.core.seams import Check, GateCall
from harness_tui.models.providers import KEY_PROVIDERS
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.gate import Gate


@pytest.fixture
def bring(world, capsys, monkeypatch):
    """Run ``harness config import``; return its exit code, the object that it prints, and standard error."""
    monkeypatch.chdir(world.root)
    for name in ("HARNESS_CONFIG", "HARNESS_MODEL", "HARNESS_AGENT", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)

    def run(tool: str, *options: str):
        code = run_verb(["config", "import", tool, "--json", *options])
        output = capsys.readouterr()
        return code, json.loads(output.out) if output.out else None, output.err

    return run


def put(path: Path, value: object) -> Path:
    """Write a settings file: JSON for data, the text as it is otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
    return path


def decisions(world, *calls: tuple[str, str]) -> list[str]:
    """Trust the project, load it, and return what its gate says of each permission and value."""
    world.store.grant(world.project)
    loaded = world.load()
    ours = [str(problem) for problem in loaded.problems if not problem.where.startswith(f"{world.root}/opencode.json")]
    assert ours == []
    gate = Gate(
        loaded.settings.rules,
        Approvals(world.places, world.root, report=lambda fault: None),
        root=world.root,
        cwd=world.root,
        home=world.home,
    )
    mode = loaded.settings.mode
    return [
        gate.decide(GateCall("c", "t", (Check(*call),), session="s", agent="build", mode=mode)).action for call in calls
    ]


def lefts(report) -> dict[str, str]:
    return {item["what"]: item["where"] for item in report["left"]}


# --- Claude Code -----------------------------------------------------------------------------------

CLAUDE = {
    "permissions": {
        "allow": [
            "Bash(git status)",
            "Bash(npm run test:*)",
            "Bash(what?)",
            "Read(~/notes/**)",
            "Edit(docs/**)",
            "Edit(**/*.txt)",
            "Edit(src/*.ts)",
            "WebFetch(domain:docs.test)",
            "mcp__time__now",
            "mcp__git",
        ],
        "ask": ["Bash(git push:*)", "WebFetch(domain:docs.test.evil)"],
        "deny": ["Read(./secret/**)", "Read(*.pem)", "Bash(npm run test deploy:*)", "Edit(docs/closed/**)"],
    }
}

CLAUDE_MEANS = {
    ("bash", "git status"): "allow",
    ("bash", "git status -s"): "ask",
    ("bash", "npm run test"): "allow",
    ("bash", "npm run test -- -k a"): "allow",
    ("bash", "npm run tests"): "ask",
    ("bash", "npm run test && git push"): "ask",
    ("bash", "npm run test deploy now"): "deny",
    ("bash", "what?"): "allow",
    ("bash", "whatx"): "ask",
    ("bash", "git push origin"): "ask",
    ("read", "a.txt"): "allow",
    ("read", "secret/a/b.txt"): "deny",
    ("read", "a/b/key.pem"): "deny",
    ("edit", "docs/a/b.md"): "allow",
    ("edit", "docs/closed/a.md"): "deny",
    ("edit", "other/docs/a.md"): "ask",
    ("edit", "a/b.txt"): "allow",
    ("edit", "src/a.ts"): "ask",
    ("edit", "docs/.env"): "ask",
    ("webfetch", "https://docs.test/a?b"): "allow",
    ("webfetch", "https://docs.test.evil/a"): "ask",
    ("webfetch", "https://other.test/docs.test/"): "ask",
    ("mcp", "time_now"): "allow",
    ("mcp", "time_set"): "ask",
    ("mcp", "git_log"): "allow",
}


def test_rules_of_claude_code_decide_as_they_did(world, bring):
    path = put(world.home / ".claude/settings.json", CLAUDE)
    code, report, err = bring("claude")
    assert (code, err) == (0, "")
    assert dict(zip(CLAUDE_MEANS, decisions(world, *CLAUDE_MEANS), strict=True)) == CLAUDE_MEANS
    notes = str(world.home / "notes/a/b.md")
    assert decisions(world, ("read", notes), ("edit", notes)) == ["allow", "ask"]
    assert lefts(report) == {"allow Edit(src/*.ts)": f"{path}:10"}


def test_a_rule_that_asks_or_denies_elsewhere_goes_before_one_that_allows(world, bring):
    put(world.home / ".claude/settings.json", {"permissions": {"ask": ["Bash(git push:*)"]}})
    put(
        world.root / ".claude/settings.json",
        {"permissions": {"allow": ["Bash(git:*)", "Bash(ls)"], "deny": ["Bash(rm:*)"]}},
    )
    put(world.root / ".claude/settings.local.json", {"permissions": {"allow": ["Bash(rm a)", "Bash(make:*)"]}})
    _, report, _ = bring("claude")
    calls = [("bash", command) for command in ("git push", "git log", "ls", "rm a", "make x")]
    assert decisions(world, *calls) == ["ask", "ask", "allow", "deny", "allow"]
    assert set(lefts(report)) == {"allow Bash(git:*)", "allow Bash(rm a)"}


def test_servers_of_claude_code_lose_their_secrets_and_keep_the_rest(world, bring):
    path = put(
        world.home / ".claude.json",
        {
            "mcpServers": {
                "time": {"command": "clock", "args": ["-u"], "env": {"API_TOKEN": "swordfish", "AT": "${PLACE:-x}"}},
                "My docs": {
                    "type": "http",
                    "url": "https://d.test/mcp?key=swordfish",
                    "headers": {"Authorization": "Bearer swordfish"},
                },
                "flag": {"command": "x", "args": ["--token", "swordfish"]},
                "pair": {"command": "x", "args": ["Authorization: swordfish"]},
                "var": {"command": "x", "args": ["${KEY}"]},
                "both": {"url": "https://me:swordfish@d.test/"},
                "none": {"type": "stdio"},
            },
            "projects": {
                str(world.root): {"mcpServers": {"here": {"command": "h"}}},
                "/other": {"mcpServers": {"x": {"command": "x"}}},
            },
        },
    )
    code, report, _ = bring("claude")
    assert code == 0
    assert "swordfish" not in json.dumps(report)
    assert not [
        file for file in world.home.rglob("*") if file.is_file() and file != path and "swordfish" in file.read_text()
    ]
    assert set(lefts(report)) == {f"MCP server {name}" for name in ("flag", "pair", "var", "both", "none")}
    assert {item["variable"] for item in report["secrets"]} == {"API_TOKEN", "MY_DOCS_KEY", "MY_DOCS_AUTHORIZATION"}
    world.environ.update(API_TOKEN="a1234567", MY_DOCS_KEY="b1234567", MY_DOCS_AUTHORIZATION="c1234567")
    loaded = world.trusted()
    servers = loaded.settings.mcp
    assert set(servers) == {"time", "My-docs", "here"}
    assert servers["time"].command == ("clock", "-u")
    assert servers["time"].env == {"API_TOKEN": "a1234567", "AT": "x"}
    assert servers["My-docs"].url == "https://d.test/mcp?key=b1234567"
    assert servers["My-docs"].headers == {"Authorization": "Bearer c1234567"}
    assert servers["here"].source == f"{world.root}/.harness/config.local.yaml:2"
    assert (world.root / ".harness/.gitignore").read_text() == "config.local.yaml\n"
    assert loaded.problems == ()


def test_a_rule_on_a_server_whose_name_begins_another_one_is_asked(world, bring):
    put(world.home / ".claude.json", {"mcpServers": {"git": {"command": "g"}, "git_hub": {"command": "h"}}})
    put(world.home / ".claude/settings.json", {"permissions": {"allow": ["mcp__git", "mcp__git_hub__find"]}})
    _, report, _ = bring("claude")
    assert set(lefts(report)) == {"allow mcp__git", "allow mcp__git_hub__find"}
    assert decisions(world, ("mcp", "git_log"), ("mcp", "git_hub_find")) == ["ask", "ask"]


def test_agents_modes_and_models_are_carried_over(world, bring):
    put(world.home / ".claude/settings.json", {"model": "claude-x-1[1m]", "permissions": {"defaultMode": "plan"}})
    put(world.home / ".claude/agents/r.md", "---\nname: r\ndescription: a: b\ntools: Read\n---\n\nUse {env:X}.\n")
    put(world.root / ".claude/agents/t.md", "---\nname: t\ndescription: d\n---\nT")
    bring("claude")
    (world.home / ".claude/agents/r.md").unlink()
    loaded = world.trusted()
    assert (loaded.settings.model, loaded.settings.mode, loaded.problems) == ("anthropic/claude-x-1", "plan", ())
    agent = loaded.settings.agents["r"]
    assert (agent.description, agent.prompt, agent.tools) == ("a: b", "Use {env:X}.", {"*": False, "read": True})
    assert loaded.settings.agents["t"].source.startswith(f"{world.root}/.harness/agents/t.md:")


def test_what_would_allow_everything_is_not_carried_over(world, bring):
    put(
        world.home / ".claude/settings.json",
        {"permissions": {"defaultMode": "bypassPermissions", "additionalDirectories": ["/", "~"]}},
    )
    _, report, _ = bring("claude")
    assert set(lefts(report)) == {
        "defaultMode: bypassPermissions",
        "additionalDirectories: /",
        "additionalDirectories: ~",
    }
    assert not world.places.config_file.exists()


# --- what is ours -----------------------------------------------------------------------------------


def test_what_is_configured_already_stays_and_a_second_import_changes_nothing(world, bring):
    own = world.write_user(
        """\
        # mine
        model: a/b  # keep
        mcp: {time: {command: [own]}}
        permission:
          # the last word
          - {permission: bash, pattern: "git push *", action: deny}
          - {permission: bash, pattern: "ls *", action: allow}
        """
    )
    before = own.read_text()
    put(world.home / ".claude.json", {"mcpServers": {"time": {"command": "theirs"}}})
    settings = {"model": "claude-x", "permissions": {"allow": ["Bash(git:*)"], "deny": ["Bash(ls -R:*)"]}}
    put(world.home / ".claude/settings.json", settings)
    _, report, _ = bring("claude", "--dry-run")
    assert own.read_text() == before
    assert (report["written"], report["files"][0]["backup"]) == (False, None)
    assert '+  - {permission: bash, pattern: "git *", action: allow}' in report["files"][0]["diff"]
    _, report, _ = bring("claude")
    (file,) = report["files"]
    assert own.read_text() == before.replace(
        "permission:\n",
        'permission:\n  - {permission: bash, pattern: "git *", action: allow}\n'
        '  - {permission: bash, pattern: "ls -R *", action: deny}\n',
    )
    assert Path(file["backup"]).read_text() == before
    assert {item["what"] for item in file["conflicts"]} == {
        "mcp.time",
        "model",
        "bash git * allow",
        "bash ls -R * deny",
    }
    calls = [("bash", command) for command in ("git push x", "git log", "ls -R")]
    assert decisions(world, *calls) == ["deny", "allow", "allow"]
    after = own.read_bytes()
    _, report, _ = bring("claude")
    assert own.read_bytes() == after
    assert [item["imported"] for item in report["files"]] == [[]]
    settings["permissions"]["deny"].append("Bash(git stash:*)")
    put(world.home / ".claude/settings.json", settings)
    bring("claude")
    assert decisions(world, ("bash", "git stash"), ("bash", "git log")) == ["deny", "allow"]


def test_the_projects_settings_count_once_the_folder_is_trusted(world, bring):
    put(world.root / ".claude/settings.json", {"permissions": {"allow": ["Bash(make:*)"]}})
    _, report, _ = bring("claude")
    assert report["needs_trust"]
    assert not world.load().trust.trusted
    assert decisions(world, ("bash", "make a")) == ["allow"]
    put(world.root / ".claude/settings.json", {"permissions": {"allow": ["Bash(make:*)", "Bash(npm:*)"]}})
    _, report, _ = bring("claude")
    assert not report["needs_trust"]
    assert world.load().trust.trusted


def test_all_into_one_file_never_gives_a_projects_rights_to_every_project(world, bring):
    put(world.home / ".claude/settings.json", {"permissions": {"allow": ["Bash(ls)"]}})
    put(
        world.root / ".claude/settings.json",
        {"permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(rm:*)"], "defaultMode": "plan"}},
    )
    _, report, _ = bring("claude", "--user")
    assert set(lefts(report)) == {"allow Bash(make:*)", "mode"}
    assert not (world.root / ".harness").exists()
    _, report, _ = bring("claude", "--project")
    assert set(lefts(report)) == {"mode: plan"}
    calls = [("bash", "ls"), ("bash", "make a"), ("bash", "rm a")]
    assert decisions(world, *calls) == ["allow", "allow", "deny"]
    assert "rm *" in (world.root / ".harness/config.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (".claude/settings.json", '{\n "permissions": {\n  "deny": ["Bash(rm:*)"\n }\n}', 4),
        (".claude/settings.json", '{"a": 1} x', 1),
        (".claude/settings.json", "[1]", 1),
        (".claude/settings.json", "{\n/* open", 2),
        (".claude/settings.json", "[" * 5000, 1),
        (".claude.json", '{"a":\n"b\n"}', 2),
    ],
)
def test_a_broken_file_is_told_with_its_line_and_nothing_is_written(world, bring, name, text, line):
    put(world.home / ".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nP")
    path = put(world.home / name, text)
    code, _, err = bring("claude")
    assert code == 2
    assert f"{path}:{line}" in err
    assert not world.places.config.exists()


def test_comments_commas_and_a_mark_in_front_are_read(world, bring):
    text = '\ufeff{ // one\n "permissions": {/* two */ "allow": ["Bash(a // b)",], },\r\n}\n'
    put(world.home / ".claude/settings.json", text)
    assert bring("claude")[0] == 0
    assert 'pattern: "a // b"' in world.places.config_file.read_text()


def test_wrong_types_anywhere_end_in_a_report(world, bring):
    wrong = {
        "permissions": {"allow": "Bash", "deny": [1, None], "defaultMode": 3},
        "mcpServers": {"a": 1, "b": {"command": [1]}},
        "model": 7,
    }
    put(world.home / ".claude/settings.json", wrong)
    code, report, _ = bring("claude")
    assert code == 0
    assert set(lefts(report)) == {"permissions.allow", "defaultMode: 3", "MCP server a", "MCP server b"}
    for tool, path in (
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", ".config/opencode/opencode.json"),
    ):
        value = (
            "model = 1\nmcp_servers = 2\napproval_policy = {}\n"
            if tool == "codex"
            else {"model": 1, "mcp": [], "mcpServers": 2, "tools": 3, "permission": 4}
        )
        put(world.home / path, value)
        assert bring(tool)[0] == 0


def test_nothing_to_import_is_no_failure(world, bring):
    code, report, err = bring("gemini")
    assert (code, report["read"], report["files"], err) == (0, [], [], "")


# --- opencode ---------------------------------------------------------------------------------------

OPENCODE = """\
{
  "$schema": "x",
  "model": "anthropic/claude-x",
  "small_model": "anthropic/claude-y",
  "permission": {
    "edit": "deny",
    "bash": {"*": "ask", "git *": "allow", "git push *": "deny", "rm *": "deny"},
    "webfetch": "allow",
    "read": {"*": "allow", "secret/*": "deny"},
    "external_directory": {"$HOME/shared/*": "allow"},
    "time_*": "allow",
    "todowrite": "deny",
  },
  "tools": {"task": false},
  "mcp": {
    "time": {"type": "local", "command": ["clock", "-u"],
      "environment": {"TZ": "UTC"}, "timeout": 7000},
    "docs": {"type": "remote", "url": "https://d.test/mcp",
      "headers": {"X": "{env:DOCS}"}, "enabled": false, "oauth": {"scope": "read"}},
  },
  "provider": {"near": {"npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "http://127.0.0.1:1/v1", "apiKey": "swordfish9"},
      "models": {"q": {"limit": {"context": 9}}}}},
  "agent": {"docs": {"description": "D", "mode": "subagent", "prompt": "{file:./p.txt}",
      "permission": {"bash": "deny"}}, "plan": {"temperature": 0.5}},
  "instructions": ["rules.md", "https://x.test/y"],
  "plugin": ["p"],
}
"""

OPENCODE_MEANS = {
    ("edit", "a"): "deny",
    ("bash", "git log"): "allow",
    ("bash", "git push x"): "deny",
    ("bash", "ls"): "ask",
    ("bash", "git log; rm a"): "deny",
    ("webfetch", "https://x.test/"): "allow",
    ("read", "a"): "allow",
    ("read", "secret/a"): "deny",
    ("mcp", "time_now"): "allow",
    ("mcp", "docs_x"): "ask",
    ("task", "explore"): "deny",
    ("sampling", "time"): "ask",
}


def test_settings_of_opencode_mean_what_they_meant(world, bring):
    folder = world.home / ".config/opencode"
    put(folder / "p.txt", "Write docs.\n")
    put(folder / "opencode.jsonc", OPENCODE)
    world.environ.update(DOCS="d1234567", NEAR_API_KEY="k1234567")
    code, report, _ = bring("opencode")
    assert code == 0
    assert "swordfish9" not in world.places.config_file.read_text() + json.dumps(report)
    assert dict(zip(OPENCODE_MEANS, decisions(world, *OPENCODE_MEANS), strict=True)) == OPENCODE_MEANS
    settings = world.load().settings
    assert (settings.model, settings.small_model) == ("anthropic/claude-x", "anthropic/claude-y")
    time, docs = settings.mcp["time"], settings.mcp["docs"]
    assert (time.command, time.env, time.timeout.start) == (("clock", "-u"), {"TZ": "UTC"}, 7.0)
    assert (docs.url, docs.headers, docs.enabled, docs.oauth) == (
        "https://d.test/mcp",
        {"X": "d1234567"},
        False,
        {"scope": "read"},
    )
    near = settings.providers["near"]
    assert (near.kind, near.base_url, near.api_key, near.models["q"].context) == (
        "openai-compatible", "http://127.0.0.1:1/v1", "k1234567", 9,
    )  # fmt: skip
    agent = settings.agents["docs"]
    assert (agent.mode, agent.prompt) == ("subagent", "Write docs.")
    assert [(rule.permission, rule.action) for rule in agent.permission] == [("bash", "deny")]
    plan = settings.agents["plan"]
    assert (plan.temperature, plan.start_mode, plan.mode) == (0.5, "plan", "primary")
    assert settings.instructions == (str(folder / "rules.md"),)
    assert set(lefts(report)) == {"todowrite *: deny", "instructions: https://x.test/y", "plugin"}


def test_allow_for_everything_of_opencode_covers_its_own_tools_and_no_sampling(world, bring):
    put(world.root / "opencode.json", {"permission": "allow"})
    bring("opencode")
    calls = [("bash", "ls"), ("mcp", "a_b"), ("read", ".env"), ("sampling", "x")]
    assert decisions(world, *calls) == ["allow", "allow", "ask", "ask"]


def test_a_wrong_action_drops_all_rules_of_that_file_and_says_so(world, bring):
    put(world.root / "opencode.json", {"permission": {"bash": "allow", "edit": "never"}})
    _, report, _ = bring("opencode")
    assert set(lefts(report)) == {"permission"}
    assert decisions(world, ("bash", "ls")) == ["ask"]


def test_keys_of_providers_go_into_the_key_store_when_that_is_asked_for(world, bring):
    put(world.root / "opencode.json", {"provider": {"openai": {"options": {"apiKey": "swordfish9"}}}})
    _, report, _ = bring("opencode", "--store-keys")
    assert report["stored_keys"] == ["openai"]
    assert report["secrets"] == []
    assert json.loads(world.places.keys_file.read_text())["keys"]["openai"]["key"] == "swordfish9"
    assert not (world.root / ".harness").exists()


# --- Codex and Gemini CLI ----------------------------------------------------------------------------

CODEX = """\
model = "gpt-x"
model_provider = "near"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
notify = ["x"]

[model_providers.near]
base_url = "http://127.0.0.1:1/v1"
env_key = "NEAR_KEY"
wire_api = "responses"

[mcp_servers.time]
command = "clock"
args = ["-u"]
env_vars = ["TZ"]
startup_timeout_sec = 9
disabled_tools = ["set"]

[mcp_servers.docs]
url = "https://d.test/mcp"
bearer_token_env_var = "DOCS"

[profiles.fast]
model = "gpt-y"
"""


def test_settings_of_codex_are_carried_over_without_its_sandbox(world, bring):
    path = put(world.home / ".codex/config.toml", CODEX)
    put(
        world.home / ".codex/agents/r.toml",
        'name = "r"\ndescription = "R"\ndeveloper_instructions = "Read."\nsandbox_mode = "read-only"\n',
    )
    put(world.home / ".codex/rules/a.rules", "prefix_rule()")
    world.environ.update(NEAR_KEY="n1234567", DOCS="d1234567")
    _, report, _ = bring("codex")
    calls = [("edit", "a"), ("edit", ".git/config"), ("bash", "ls"), ("edit", "/elsewhere/a")]
    assert decisions(world, *calls) == ["allow", "ask", "ask", "ask"]
    settings = world.load().settings
    assert settings.model == "near/gpt-x"
    assert (settings.providers["near"].kind, settings.providers["near"].api_key) == ("openai-responses", "n1234567")
    time = settings.mcp["time"]
    assert (time.command, time.inherit, time.timeout.start, time.tools) == (("clock", "-u"), ("TZ",), 9, {"set": False})
    assert settings.mcp["docs"].headers == {"Authorization": "Bearer d1234567"}
    assert settings.agents["r"].tools["bash"] is False
    assert lefts(report) == {
        "approval_policy: on-request": f"{path}:3",
        "notify": f"{path}:5",
        "profiles": f"{path}:23",
        "a.rules": f"{world.home}/.codex/rules/a.rules:1",
    }


@pytest.mark.parametrize(
    ("policy", "sandbox", "edit"),
    [
        ("untrusted", "workspace-write", "ask"),
        ("never", "read-only", "deny"),
        ("on-request", "read-only", "ask"),
        ("never", "danger-full-access", "ask"),
        ("never", "workspace-write", "allow"),
    ],
)
def test_an_edit_after_codex_is_never_easier(world, bring, policy, sandbox, edit):
    put(world.home / ".codex/config.toml", f'approval_policy = "{policy}"\nsandbox_mode = "{sandbox}"\n')
    bring("codex")
    assert decisions(world, ("edit", "a"), ("bash", "ls")) == [edit, "ask"]


GEMINI = {
    "model": {"name": "gemini-x"},
    "tools": {
        "core": ["ReadFileTool", "run_shell_command(git)", "run_shell_command(ls)"],
        "allowed": ["run_shell_command(git log)", "run_shell_command(npm)", "write_file"],
        "exclude": ["run_shell_command(git push)", "delete_all"],
    },
    "mcp": {"excluded": ["off"]},
    "mcpServers": {
        "time": {"command": "clock", "env": {"A": "$HOME"}, "timeout": 5000, "trust": True, "includeTools": ["now"]},
        "docs": {"httpUrl": "https://d.test/mcp"},
        "off": {"command": "off"},
    },
    "context": {"fileName": ["GEMINI.md", "NOTES.md"]},
    "ui": {"theme": "x"},
}

GEMINI_MEANS = {
    ("read", "a"): "allow",
    ("edit", "a"): "deny",
    ("webfetch", "https://x.test/"): "deny",
    ("bash", "git log -1"): "allow",
    ("bash", "git status"): "ask",
    ("bash", "git push"): "deny",
    ("bash", "ls"): "ask",
    ("bash", "npm test"): "deny",
    ("mcp", "time_now"): "allow",
    ("mcp", "docs_x"): "ask",
    ("mcp", "docs_delete_all"): "deny",
}


def test_settings_of_gemini_mean_what_they_meant(world, bring):
    put(world.root / ".gemini/settings.json", GEMINI)
    put(world.root / ".gemini/agents/r.md", "---\nname: r\ndescription: R\ntools: [read_file, time__now]\n---\nP")
    _, report, _ = bring("gemini")
    assert dict(zip(GEMINI_MEANS, decisions(world, *GEMINI_MEANS), strict=True)) == GEMINI_MEANS
    settings = world.load().settings
    assert settings.model == "google/gemini-x"
    time = settings.mcp["time"]
    assert (time.env, time.timeout.total, time.tools) == ({"A": str(world.home)}, 5, {"*": False, "now": True})
    assert (settings.mcp["docs"].transport, settings.mcp["off"].enabled) == ("http", False)
    assert settings.instructions == (str(world.root / "NOTES.md"),)
    assert settings.agents["r"].tools == {"*": False, "read": True, "time_now": True}
    assert set(lefts(report)) == {"allowed run_shell_command(npm)", "allowed write_file", "ui"}


def test_the_flat_form_of_gemini_is_read_as_well(world, bring):
    put(
        world.home / ".gemini/settings.json",
        {"model": "gemini-y", "excludeTools": ["ShellTool"], "allowedTools": ["replace"], "autoAccept": True},
    )
    bring("gemini")
    assert world.load().settings.model == "google/gemini-y"
    assert decisions(world, ("bash", "ls"), ("edit", "a")) == ["deny", "allow"]


# --- patterns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "allow", "deny"),
    [
        ("src/**", ("src/*",), ("src/*", "src")),
        ("**/*.ts", ("*.ts", "*/*.ts"), ("*.ts", "*/*.ts", "*.ts/*", "*/*.ts/*")),
        ("src/*.ts", (), ("src/*.ts", "src/*.ts/*")),
        (".env", (".env",), (".env", ".env/*", "*/.env/*")),
        ("a/**/b", ("a/b", "a/*/b"), ("a/b", "a/*/b", "a/b/*", "a/*/b/*")),
        ("//etc/hosts", ("/etc/hosts",), ("/etc/hosts", "/etc/hosts/*")),
        ("../x/**", (), ("*/x/*", "*/x")),
        ("a[bc]/x", (), ("a?/x", "a?/x/*")),
        ("!x", (), ()),
        ("**", ("*",), ("*",)),
    ],
)
def test_a_pattern_of_paths_is_never_wider_when_it_allows_and_never_narrower_when_it_denies(text, allow, deny):
    assert path_patterns(text, "allow") == allow
    assert path_patterns(text, "deny") == deny


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("git *", "git push *", True),
        ("git push *", "git", False),
        ("git *", "git", True),
        ("a*c", "ab*", True),
        ("a?c", "abd", False),
        ("*x", "y*", True),
        ("abc", "abd", False),
        ("", "*", True),
    ],
)
def test_two_patterns_meet_when_one_text_fits_both(one, other, meet):
    assert may_meet(one, other) is meet
    assert may_meet(other, one) is meet


# --- odd things --------------------------------------------------------------------------------------


def test_one_wrong_entry_costs_its_neighbours_nothing(world, bring):
    servers = {
        "fine": {"command": ["f"]},
        "slow": {"command": ["s"], "timeout": 1e300},
        "off": {"command": ["o"], "environment": {"A": ["b"]}},
    }
    rules = {"bash": {"ls": "allow", "{env:HOME}": "allow"}}
    put(world.root / "opencode.json", {"mcp": servers, "permission": rules, "lsp": {"x": {"extensions": [7]}}})
    _, report, _ = bring("opencode")
    assert set(lefts(report)) == {"MCP server off", "bash {env:HOME}: allow", "lsp.servers.x"}
    assert decisions(world, ("bash", "ls")) == ["allow"]
    assert world.load().settings.mcp["slow"].timeout.start == 30


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x", "args": ["9f86d081884c7d659a2feaa0c55ad015"]},
        {"command": "x", "args": ["--url=https://h.test/?sig=1", "Bearer abcdefgh12"]},
        {"command": "x", "env": {"GH_PAT": "swordfish"}},
        {"command": "x", "env": {"PLAIN": "9f86d081884c7d659a2feaa0c55ad015"}},
        {"command": "x", "env": {"DB": "postgres://me:swordfish@h/db"}},
        {"url": "https://h.test/", "headers": {"X-Auth": "swordfish"}},
        {"url": "https://h.test/?token=swordfish"},
    ],
)
def test_nothing_that_looks_like_a_secret_is_copied(world, bring, entry):
    put(world.home / ".claude.json", {"mcpServers": {"s": entry}})
    _, report, _ = bring("claude")
    written = world.places.config_file.read_text() if world.places.config_file.exists() else ""
    for secret in ("swordfish", "9f86d081884c7d659a2feaa0c55ad015", "abcdefgh12"):
        assert secret not in written
        assert secret not in json.dumps(report)
    assert report["secrets"] or report["left"]


def test_half_a_character_is_a_fault_of_the_file(world, bring):
    path = put(world.home / ".claude/settings.json", '{"permissions": {"allow": [\n"Bash(\\ud800)"]}}')
    code, _, err = bring("claude")
    assert (code, f"{path}:2" in err) == (2, True)


def test_an_agent_of_the_configuration_is_not_added_to(world, bring):
    world.write_user("agents: {r: {description: mine}}\n")
    put(world.home / ".claude/agents/r.md", "---\nname: r\ndescription: d\ntools: Read\n---\nP")
    _, report, _ = bring("claude")
    assert [item["what"] for item in report["files"][0]["conflicts"]] == ["agent r"]
    assert world.load().settings.agents["r"].tools == {}


def test_a_model_or_agent_that_is_not_there_is_not_named(world, bring):
    put(world.root / "opencode.json", {"model": "elsewhere/x", "default_agent": "gone", "small_model": "openai/y"})
    _, report, _ = bring("opencode")
    assert set(lefts(report)) == {"model: elsewhere/x", "agent: gone"}
    assert decisions(world) == []
    assert world.load().settings.small_model == "openai/y"


def test_the_providers_that_are_known_by_name_are_those_that_keys_are_kept_for():
    assert [provider.name for provider in KEY_PROVIDERS] == list(HOSTED)
