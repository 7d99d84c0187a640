"""Layers, rules, placeholders, and what a bad entry does to its neighbours (nothing)."""

from __future__ import annotations

import pytest

from harness_tui.config.loader import Flags
from harness_tui.core.errors import UsageError
from harness_tui.core.redaction import MARK, redact
from harness_tui.core.values import Rule


def rules_of(loaded, layer):
    return [
        (r.permission, r.pattern, r.action) for item in loaded.settings.rules if item.name == layer for r in item.rules
    ]


def test_without_any_file_the_defaults_hold(world):
    loaded = world.load()
    settings = loaded.settings
    assert (settings.model, settings.agent, settings.mode) == (None, "build", "ask")
    assert set(settings.agents) == {"build", "plan", "explore"}
    assert settings.agents["plan"].start_mode == "plan"
    assert settings.agents["explore"].mode == "subagent"
    assert settings.agents["explore"].tools == dict.fromkeys(("edit", "write", "bash", "bash_*"), False)
    assert loaded.problems == ()
    assert loaded.trust.usable
    assert not loaded.trust.has_something


def test_a_path_that_can_be_none_takes_its_neighbours_not_down(world):
    path = world.write_user('instructions: [notes.md, "", "a\\0b"]\nagent: plan\n')
    loaded = world.load()
    assert loaded.settings.instructions == (str(path.parent / "notes.md"),)
    assert loaded.settings.agent == "plan"
    assert [problem.where for problem in loaded.problems] == [f"{path}:1"] * 2


def test_the_bundled_rules_are_the_whole_list(world):
    secret = [("read", p, "ask") for p in (".env", ".env.*", "*.pem", "*.key", "id_*", "*credentials*")]
    rest = "edit:ask bash:ask webfetch:ask skill:allow task:allow question:allow mcp:ask sampling:ask"
    rest += " external_directory:ask doom_loop:ask"
    expected = [("read", "*", "allow"), *secret]
    expected += [(item.split(":")[0], "*", item.split(":")[1]) for item in rest.split()]
    assert rules_of(world.load(), "bundled") == expected


def test_each_source_beats_the_one_before_it(world, tmp_path):
    def model():
        return world.trusted().settings.model

    world.write_user("model: a/user\n")
    assert model() == "a/user"
    world.write(".harness/config.yaml", "model: a/project\n")
    assert model() == "a/project"
    world.write(".harness/config.local.yaml", "model: a/local\n")
    assert model() == "a/local"
    extra = tmp_path / "extra.yaml"
    extra.write_text("model: a/file\n")
    world.environ["HARNESS_CONFIG"] = str(extra)
    assert model() == "a/file"
    world.environ["HARNESS_MODEL"] = "a/variable"
    assert model() == "a/variable"
    assert world.load(Flags(model="a/flag")).settings.model == "a/flag"


def test_mappings_are_laid_over_each_other_key_by_key(world):
    world.write_user("mcp:\n  time: {command: [clock], env: {A: one, B: two}}\n")
    world.write(".harness/config.yaml", "mcp:\n  time: {enabled: false, env: {B: three}}\n")
    server = world.trusted().settings.mcp["time"]
    assert server.command == ("clock",)
    assert server.env == {"A": "one", "B": "three"}
    assert server.enabled is False
    assert server.error is None


def test_lists_of_rules_are_joined_in_the_order_of_the_files(world, tmp_path):
    extra = tmp_path / "extra.yaml"
    extra.write_text("permission: [{permission: bash, pattern: c, action: allow}]\n")
    world.environ["HARNESS_CONFIG"] = str(extra)
    world.write_user("permission: [{permission: bash, pattern: a, action: allow}]\n")
    world.write(".harness/config.yaml", "permission: [{permission: bash, pattern: d, action: ask}]\n")
    world.write(".harness/config.local.yaml", "permission: [{permission: bash, pattern: e, action: allow}]\n")
    loaded = world.trusted()
    assert rules_of(loaded, "user") == [("bash", "a", "allow"), ("bash", "c", "allow")]
    assert rules_of(loaded, "project") == [("bash", "d", "ask"), ("bash", "e", "allow")]


def test_a_rule_knows_its_file_and_line(world):
    path = world.write_user("model: a/b\npermission:\n  - {permission: bash, pattern: ls, action: allow}\n")
    [layer] = [item for item in world.load().settings.rules if item.name == "user"]
    assert layer.rules == (Rule("bash", "ls", "allow", f"{path}:3"),)


def test_the_permission_star_stands_for_every_key(world):
    world.write_user('permission: [{permission: "*", pattern: secret, action: deny}]\n')
    keys = [permission for permission, _, _ in rules_of(world.load(), "user")]
    assert len(keys) == len(set(keys)) == 11
    assert {"read", "bash", "mcp", "external_directory"} <= set(keys)


def test_a_wrong_rule_is_reported_with_its_line_and_its_neighbours_stay(world, find):
    path = world.write_user(
        """\
        permission:
          - {permission: bahs, pattern: "rm *", action: deny}
          - {permission: bash, pattern: "rm *", action: deny}
          - {permission: bash, pattern: "ls", action: alow}
          - {permission: write, pattern: "*", action: allow}
          - just text
        """
    )
    loaded = world.load()
    assert rules_of(loaded, "user") == [("bash", "rm *", "deny")]
    places = [problem.where for problem in loaded.problems if problem.level == "error"]
    assert places == [f"{path}:{line}" for line in (2, 4, 5, 6)]
    texts = [f"{problem.message} {problem.mend}" for problem in loaded.problems]
    assert "did you mean 'bash'?" in texts[0]
    assert "did you mean 'allow'?" in texts[1]
    assert "decided as 'edit'" in texts[2]


def test_a_deny_rule_with_an_unknown_key_still_denies_and_an_allow_rule_does_not_allow(world):
    world.write_user(
        """\
        permission:
          - {permission: bash, pattern: "rm *", action: deny, reason: no}
          - {permission: bash, pattern: "ls", action: allow, reason: yes}
        """
    )
    loaded = world.load()
    assert rules_of(loaded, "user") == [("bash", "rm *", "deny")]
    assert [problem.code for problem in loaded.problems] == ["unknown-key", "unknown-key"]


@pytest.mark.parametrize(
    ("data", "denied"),
    [
        (b"permission:\n  - {permission: bash, pattern: 'rm *', action: deny}\n  - {permission: bash, pat", True),
        (b"[]\n", False),
        (b"permission: [{permission: bash, pattern: 'rm *', action: allow}]\nmodel: a: b\n", False),
        (b"\xff\xfe", False),
        (b"model: a/b\n\x00", False),
    ],
    ids=["cut in half", "a list", "syntax", "not UTF-8", "NUL"],
)
def test_a_file_that_cannot_be_read_makes_everything_ask_and_keeps_the_denies_that_are_left(world, data, denied):
    world.write_user("").write_bytes(data)
    world.write(".harness/config.yaml", "permission: [{permission: bash, pattern: '*', action: allow}]\n")
    loaded = world.trusted()
    assert rules_of(loaded, "user") == ([("bash", "rm *", "deny")] if denied else [])
    last = {permission: action for permission, pattern, action in rules_of(loaded, "project") if pattern == "*"}
    assert last["bash"] == last["read"] == last["mcp"] == "ask"
    assert loaded.settings.model is None
    assert any(problem.level == "error" for problem in loaded.problems)


def test_an_empty_file_says_nothing(world):
    world.write_user("")
    loaded = world.load()
    assert loaded.problems == ()
    assert rules_of(loaded, "project") == []


def test_unknown_keys_and_wrong_types_name_the_line_and_a_remedy(world):
    path = world.write_user(
        """\
        modle: a/b
        mode: accept-edit
        lsp: {wait_ms: soon, diagnostics_on_edit: true}
        mcp:
          a: {comand: [x]}
          b: {command: x y}
          c: {command: [x], env: {PORT: 8080}}
          d: {command: [x]}
          bad name: {command: [x]}
          e: {command: [x], timeout: {strat: 3}}
        tui: 3
        """
    )
    loaded = world.load()
    found = {
        problem.where.removeprefix(f"{path}:"): f"{problem.message} | {problem.mend}" for problem in loaded.problems
    }
    assert set(found) == {"1", "2", "3", "5", "6", "7", "9", "10", "11"}
    assert "did you mean 'mode" in found["1"]
    assert "did you mean 'accept-edits'?" in found["2"]
    assert "lsp.wait_ms: expected a whole number, got text" in found["3"]
    assert "did you mean 'command'?" in found["5"]
    assert "expected a list" in found["6"]
    assert "mcp.c.env.PORT: expected text, got the number 8080 | write it in quotes" in found["7"]
    assert "did you mean 'start'?" in found["10"]
    servers = loaded.settings.mcp
    assert servers["d"].error is None
    assert [name for name in "abce" if servers[name].error] == ["a", "b", "c", "e"]
    assert loaded.settings.lsp.diagnostics_on_edit is True
    assert loaded.settings.lsp.wait_ms == 1500


def test_a_server_needs_a_command_or_a_url_and_not_both(world, find):
    world.write_user(
        """\
        mcp:
          none: {env: {A: b}}
          both: {command: [x], url: "http://localhost/mcp"}
          file: {url: "file:///etc/passwd"}
          mixed: {command: [x], transport: sse}
          web: {url: "http://127.0.0.1:8931/mcp", transport: sse}
        """
    )
    servers = world.load().settings.mcp
    assert "neither" in servers["none"].error
    assert "both" in servers["both"].error
    assert "not an http or https address" in servers["file"].error
    assert "does not go with a command" in servers["mixed"].error
    assert (servers["web"].transport, servers["web"].error) == ("sse", None)


def test_placeholders_are_put_in_once_and_secrets_are_registered(world):
    world.environ |= {"DOCS_KEY": "swordfish-{env:HOME}", "EMPTY": ""}
    (world.places.config).mkdir(parents=True)
    (world.places.config / "token.txt").write_text("file-secret-1\n")
    world.write_user(
        """\
        mcp:
          docs:
            url: "https://example.test/mcp"
            headers: {X-Key: "{env:DOCS_KEY}", X-File: "a {file:token.txt} b"}
          tool:
            command: [x]
            env: {A: "{env:NOT_SET:-plain}", B: "{env:EMPTY:-full}", C: "{env:EMPTY}", D: "{other:x}"}
        """
    )
    loaded = world.load()
    docs, tool = loaded.settings.mcp["docs"], loaded.settings.mcp["tool"]
    assert docs.headers == {"X-Key": "swordfish-{env:HOME}", "X-File": "a file-secret-1 b"}
    assert tool.env == {"A": "plain", "B": "full", "C": "", "D": "{other:x}"}
    assert redact("key swordfish-{env:HOME}!") == f"key {MARK}!"


def test_a_missing_variable_is_named_and_only_its_entry_is_unusable(world):
    path = world.write_user(
        """\
        providers:
          one: {kind: openai, api_key: "{env:MISSING_KEY}"}
          two: {kind: openai, api_key: "literal"}
        mcp:
          a: {command: [x], env: {T: "{env:MISSING_TOO}"}}
          b: {command: [x]}
          c: {command: [x], env: {T: "{file:nowhere.txt}"}}
          d: {command: [x], env: {T: "{env:}"}}
        """
    )
    loaded = world.load()
    assert set(loaded.settings.providers) == {"two"}
    assert "MISSING_KEY" in loaded.settings.unusable["providers.one"]
    assert "MISSING_TOO" in loaded.settings.mcp["a"].error
    assert loaded.settings.mcp["b"].error is None
    assert "nowhere.txt" in loaded.settings.mcp["c"].error
    assert "not complete" in loaded.settings.mcp["d"].error
    missing = [problem.where for problem in loaded.problems if problem.code == "missing-variable"]
    assert sorted(missing) == [f"{path}:2", f"{path}:5"]


def test_nothing_is_put_into_a_command_line(world):
    world.environ["DOCS_KEY"] = "swordfish"
    world.write_user('mcp:\n  a: {command: [x, "--key={env:DOCS_KEY}"]}\n')
    server = world.load().settings.mcp["a"]
    assert server.command == ("x", "--key={env:DOCS_KEY}")
    assert "'env'" in server.error


def test_a_working_folder_is_read_against_the_project_for_its_files_and_the_file_for_the_persons(world):
    (world.root / "sub").mkdir()
    world.write(".harness/config.yaml", "mcp: {a: {command: [x], cwd: ./sub}, b: {command: [x], cwd: .}}\n")
    world.write_user("mcp: {c: {command: [x], cwd: ~/there}, d: {command: [x], cwd: gone}, e: {command: [x]}}\n")
    servers = world.trusted().settings.mcp
    assert servers["a"].cwd == str(world.root / "sub")
    assert servers["b"].cwd == str(world.root)
    assert servers["c"].cwd == str(world.home / "there")
    assert servers["d"].cwd == str(world.places.config / "gone")
    assert servers["e"].cwd is None


def test_a_replay_script_is_read_against_its_file_and_on_the_command_line_against_the_current_folder(
    world, monkeypatch
):
    world.write(".harness/config.yaml", "model: replay:turns.yaml\nagents: {x: {model: replay:x.yaml}}\n")
    loaded = world.trusted()
    assert loaded.settings.model == f"replay:{world.root}/.harness/turns.yaml"
    assert loaded.settings.agents["x"].model == f"replay:{world.root}/.harness/x.yaml"
    monkeypatch.chdir(world.home)
    assert world.load(Flags(model="replay:b.yaml")).settings.model == f"replay:{world.home}/b.yaml"


def test_flags_and_variables_are_taken_as_they_are(world):
    assert world.load(Flags(model="a/{env:X}")).settings.model == "a/{env:X}"


def test_an_unknown_agent_that_was_asked_for_is_a_usage_error_with_a_suggestion(world):
    with pytest.raises(UsageError, match="did you mean 'plan'") as error:
        world.load(Flags(agent="plam"))
    assert error.value.where == "--agent"
    world.environ["HARNESS_AGENT"] = "nobody"
    with pytest.raises(UsageError, match="build, explore, plan"):
        world.load()


def test_an_unknown_agent_in_a_file_is_a_problem_and_the_run_goes_on_with_build(world, find):
    path = world.write_user("agent: nobody\n")
    loaded = world.load()
    assert loaded.settings.agent == "build"
    assert [problem.where for problem in find(loaded, "unknown-agent")] == [f"{path}:1"]


def test_an_unknown_mode_is_a_usage_error(world):
    with pytest.raises(UsageError, match="accept-edits"):
        world.load(Flags(mode="yolo"))


@pytest.mark.parametrize("text", [None, "model: [\n", "modle: x\n"])
def test_a_named_file_that_is_missing_or_wrong_is_a_usage_error(world, tmp_path, text):
    path = tmp_path / "extra.yaml"
    if text is not None:
        path.write_text(text)
    world.environ["HARNESS_CONFIG"] = str(path)
    with pytest.raises(UsageError, match="HARNESS_CONFIG"):
        world.load()


def test_origins_tell_file_and_line_and_what_was_overridden(world):
    user = world.write_user("model: a/user\n")
    local = world.write(".harness/config.local.yaml", "# mine\nmodel: a/local\n")
    rows = [(o.key, o.value, o.source, o.state) for o in world.trusted().origins if o.key in ("model", "agent")]
    assert sorted(rows) == [
        ("agent", "build", "default", "used"),
        ("model", "a/local", f"{local}:2", "used"),
        ("model", "a/user", f"{user}:1", "overridden"),
    ]


def test_the_persons_secrets_do_not_follow_an_entry_to_a_projects_address(world, find):
    world.write_user(
        """\
        providers: {lab: {kind: openai, base_url: "https://lab.test/v1", api_key: swordfish, models: {m: {}}}}
        mcp: {docs: {url: "https://docs.test/mcp", headers: {X-Api-Key: swordfish}, lazy: false}}
        """
    )
    world.write(
        ".harness/config.yaml",
        """\
        providers: {lab: {base_url: "https://elsewhere.test/v1"}}
        mcp: {docs: {url: "https://elsewhere.test/mcp"}}
        """,
    )
    loaded = world.trusted()
    lab, docs = loaded.settings.providers["lab"], loaded.settings.mcp["docs"]
    assert (lab.base_url, lab.api_key, list(lab.models)) == ("https://elsewhere.test/v1", None, ["m"])
    assert (docs.url, docs.headers, docs.lazy) == ("https://elsewhere.test/mcp", {}, False)
    assert len(find(loaded, "credentials-kept")) == 2


def test_a_later_url_takes_the_place_of_an_earlier_command(world):
    world.write_user("mcp: {a: {command: [x]}}\n")
    world.write(".harness/config.yaml", 'mcp: {a: {url: "https://example.test/mcp"}}\n')
    server = world.trusted().settings.mcp["a"]
    assert (server.command, server.url, server.transport, server.error) == (
        (),
        "https://example.test/mcp",
        "http",
        None,
    )


def test_servers_of_other_tools_fill_free_names_only(world, find):
    world.write_user("mcp: {time: {command: [mine]}}\n")
    world.write(
        ".mcp.json",
        """\
        {"mcpServers": {
          "time": {"command": "theirs"},
          "files": {"type": "stdio", "command": "fs", "args": ["-v", "${ROOM:-hall}"], "env": {"T": "${TOKEN}"}},
          "web": {"type": "streamable-http", "url": "https://example.test/mcp"},
          "typo": {"type": "htpp", "url": "https://example.test"},
          "other": {"urll": "https://example.test"}
        }}
        """,
    )
    world.environ["TOKEN"] = "tok-12345678"
    loaded = world.trusted()
    servers = loaded.settings.mcp
    assert servers["time"].command == ("mine",)
    assert servers["files"].command == ("fs", "-v", "hall")
    assert servers["files"].env == {"T": "tok-12345678"}
    assert servers["web"].transport == "http"
    assert "http" in servers["typo"].error
    assert servers["other"].error
    assert [problem.where for problem in find(loaded, "name-taken")] == [f"{world.root}/.mcp.json:2"]
    [unknown] = find(loaded, "unknown-key")
    assert (unknown.where, unknown.mend) == (f"{world.root}/.mcp.json:6", "did you mean 'url'?")


def test_a_secret_is_not_put_into_the_arguments_of_another_tools_server(world):
    world.environ["API_TOKEN"] = "tok-12345678"
    world.write(".mcp.json", '{"mcpServers": {"a": {"command": "x", "args": ["${API_TOKEN}"]}}}')
    assert "API_TOKEN" in world.trusted().settings.mcp["a"].error


def test_broken_json_is_a_problem_with_its_line(world, find):
    world.write(".mcp.json", '{"mcpServers": {\n  "a": {"command": x}\n}}')
    [problem] = find(world.load(), "json")
    assert problem.where == f"{world.root}/.mcp.json:2"


def test_a_problem_becomes_a_notice(world):
    path = world.write_user("modle: x\n")
    notice = world.load().problems[0].to_notice()
    assert (notice.level, notice.source) == ("error", "config")
    assert notice.text.startswith(f"{path}:1: unknown key 'modle'")
    assert "did you mean" in (notice.hint or "")


def test_a_hook_that_is_wrong_names_what_a_hook_has_and_takes_no_other_down(world):
    world.write_user(
        'hooks:\n  after_edit:\n    - {comand: [x]}\n    - {match: "*.py", command: [ruff, format, "{file}"]}\n'
        "  before: []\n",
    )
    loaded = world.load()
    assert [(hook.match, hook.command, hook.timeout) for hook in loaded.settings.hooks.after_edit] == [
        ("*.py", ("ruff", "format", "{file}"), 30.0)
    ]
    told = [f"{problem.where.rsplit(':', 1)[1]}: {problem.message} ({problem.mend})" for problem in loaded.problems]
    assert any("'hooks.after_edit.0.comand'" in text and "did you mean 'command'?" in text for text in told)
    assert any("'hooks.before'" in text and "before_tool" in text for text in told)
    assert loaded.settings.hooks.after_edit[0].source.endswith("config.yaml:4")


def test_hooks_of_several_files_are_all_run_in_the_order_of_the_files(world):
    world.write_user("hooks: {run_finished: [{command: [mine]}]}\n")
    world.write(".harness/config.yaml", "hooks: {run_finished: [{command: [theirs]}]}\n")
    hooks = world.trusted().settings.hooks
    assert [hook.command for hook in hooks.run_finished] == [("mine",), ("theirs",)]
