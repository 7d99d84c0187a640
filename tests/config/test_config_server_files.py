"""Servers in files of other tools: each shape is read where it lies, with its source, and a slip of the pen is told."""

from __future__ import annotations

import json

import pytest

from harness_tui.core.redaction import redact


def test_each_shape_gives_the_same_server_with_its_file_and_line(world):
    world.environ |= {"WHO": "ada", "API_KEY": "key-12345678"}
    world.write(
        ".mcp.json",
        '{"mcpServers": {\n "claude": {"command": "srv", "args": ["-v"], "env": {"A": "${WHO}", "K": "${API_KEY}"}}}}',
    )
    world.write(
        ".cursor/mcp.json",
        '{"mcpServers": {\n "cursor": {"command": "srv", "args": ["-v"],'
        ' "env": {"A": "${env:WHO}", "K": "${env:API_KEY}"}}}}',
    )
    world.write(
        ".vscode/mcp.json",
        '{"inputs": [{"id": "api-key", "type": "promptString"}], // asked for\n "servers": {\n'
        '  "vscode": {"type": "stdio", "command": "srv", "args": ["-v"],'
        ' "env": {"A": "${env:WHO}", "K": "${input:api-key}"},},}}',
    )
    world.write(
        "opencode.json",
        '{"model": "x/y", "mcp": {\n "opencode": {"type": "local", "command": ["srv", "-v"], "timeout": 5000,'
        ' "environment": {"A": "{env:WHO}", "K": "{env:API_KEY}"}}}}',
    )
    loaded = world.trusted()
    assert [str(problem) for problem in loaded.problems] == []
    servers = loaded.settings.mcp
    assert set(servers) == {"claude", "cursor", "vscode", "opencode"}
    for server in servers.values():
        assert (server.command, server.env) == (("srv", "-v"), {"A": "ada", "K": "key-12345678"}), server.name
    assert {name: server.source.removeprefix(f"{world.root}/") for name, server in servers.items()} == {
        "claude": ".mcp.json:2",
        "cursor": ".cursor/mcp.json:2",
        "vscode": ".vscode/mcp.json:3",
        "opencode": "opencode.json:2",
    }
    assert servers["opencode"].timeout.start == 5


def test_servers_behind_a_url_keep_their_transport_and_headers(world):
    put = {
        ".cursor/mcp.json": {"mcpServers": {"a": {"url": "https://a.test/mcp", "headers": {"X-K": "${env:K}"}}}},
        ".vscode/mcp.json": {"servers": {"b": {"type": "sse", "url": "https://b.test/sse"}}},
        "opencode.jsonc": {
            "mcp": {"c": {"type": "remote", "url": "https://c.test/mcp", "enabled": False, "oauth": {"clientId": "me"}}}
        },
    }
    for name, value in put.items():
        world.write(name, json.dumps(value))
    world.environ["K"] = "key-12345678"
    servers = world.trusted().settings.mcp
    assert (servers["a"].transport, servers["a"].headers) == ("http", {"X-K": "key-12345678"})
    assert servers["b"].transport == "sse"
    assert (servers["c"].transport, servers["c"].enabled) == ("http", False)
    assert servers["c"].oauth["client_id"] == "me"


def test_the_folder_of_the_workspace_is_put_in(world):
    entry = {"command": "${workspaceFolder}/bin/srv", "args": ["--root", "${workspaceFolderBasename}"]}
    world.write(".vscode/mcp.json", json.dumps({"servers": {"x": entry}}))
    assert world.trusted().settings.mcp["x"].command == (f"{world.root}/bin/srv", "--root", world.root.name)


@pytest.mark.parametrize("name", [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", "opencode.json"])
def test_nothing_of_another_tools_file_counts_before_the_folder_is_trusted(world, name):
    servers = {"evil": {"command": "evil"}}
    world.write(name, json.dumps({"mcpServers": servers, "servers": servers, "mcp": servers}))
    before = world.load()
    assert before.settings.mcp["evil"].trusted is False
    assert [item.path for item in world.store.status(world.project).files] == [name]
    assert world.trusted().settings.mcp["evil"].trusted is True
    servers["evil"]["command"] = "worse"
    world.write(name, json.dumps({"mcpServers": servers, "servers": servers, "mcp": servers}))
    assert world.load().settings.mcp["evil"].trusted is False


def test_of_two_files_with_one_name_the_first_counts_and_the_other_is_told(world, find):
    world.write(".mcp.json", '{"mcpServers": {"git": {"command": "first"}}}')
    world.write(".cursor/mcp.json", '{"mcpServers": {"git": {"command": "second"}}}')
    loaded = world.trusted()
    assert loaded.settings.mcp["git"].command == ("first",)
    [taken] = find(loaded, "name-taken")
    assert (taken.where, taken.level) == (f"{world.root}/.cursor/mcp.json:1", "info")
    assert f"{world.root}/.mcp.json:1" in taken.message


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("comand", "x", "command"),
        ("evn", {"A": "b"}, "env"),
        ("arg", ["-v"], "args"),
        ("header", {"A": "b"}, "headers"),
    ],
)
def test_a_misspelt_key_is_an_error_with_file_key_and_suggestion(world, find, key, value, meant):
    good = {"command": "srv"}
    servers = {"bad": (good if key != "comand" else {}) | {key: value}, "good": good}
    world.write(".mcp.json", json.dumps({"mcpServers": servers}, indent=1))
    loaded = world.trusted()
    [problem] = find(loaded, "unknown-key")
    lines = json.dumps({"mcpServers": servers}, indent=1).splitlines()
    [line] = [number for number, text in enumerate(lines, 1) if f'"{key}":' in text]
    assert (problem.level, problem.where) == ("error", f"{world.root}/.mcp.json:{line}")
    assert problem.message.startswith(f"mcpServers.bad.{key}: ")
    assert problem.mend == f"did you mean {meant!r}?"
    assert meant in (loaded.settings.mcp["bad"].error or "")
    assert loaded.settings.mcp["good"].error is None


def test_an_unknown_transport_is_an_error_at_its_own_line(world, find):
    world.write(".mcp.json", '{"mcpServers": {"x": {\n "url": "https://x.test/mcp",\n "type": "carrier-pigeon"\n}}}')
    loaded = world.trusted()
    [problem] = [item for item in loaded.problems if item.level == "error"]
    assert problem.where == f"{world.root}/.mcp.json:3"
    assert "stdio, http, sse" in problem.message
    assert "carrier-pigeon" in problem.message
    assert loaded.settings.mcp["x"].error


@pytest.mark.parametrize("key", ["servers", "mcp", "mcpservers", "mcp_servers"])
def test_servers_under_the_wrong_key_are_an_error_that_names_the_right_one(world, find, key):
    world.write(".mcp.json", json.dumps({key: {"a": {"command": "x"}}}))
    [problem] = find(world.load(), "wrong-key")
    assert (problem.level, problem.mend) == ("error", f"rename {key!r} to 'mcpServers'")


def test_a_bare_entry_in_a_servers_file_is_told(world, find):
    world.write(".vscode/mcp.json", '{\n"git": {"command": "x"}}')
    [problem] = find(world.load(), "wrong-key")
    assert problem.where == f"{world.root}/.vscode/mcp.json:2"
    assert "'servers'" in problem.message


def test_settings_of_opencode_without_servers_are_nothing_to_speak_of(world):
    world.write("opencode.json", '{"model": "x/y", "theme": "z"}')
    loaded = world.load()
    assert (loaded.settings.mcp, loaded.problems) == ({}, ())


def test_what_means_nothing_here_is_a_warning_and_the_server_works(world, find):
    world.write(".cursor/mcp.json", '{"mcpServers": {"a": {"command": "x", "envFile": ".env", "alwaysAllow": ["y"]}}}')
    loaded = world.trusted()
    [problem] = find(loaded, "unknown-key")
    assert (problem.level, problem.message) == ("warning", "mcpServers.a.envFile: is not used")
    assert loaded.settings.mcp["a"].error is None


def test_what_a_server_is_called_makes_no_secret_of_its_command(world):
    world.write_user("mcp: {api-key: {command: [uvx, the-plain-package], env: {API_KEY: very-secret-value}}}\n")
    assert world.load().settings.mcp["api-key"].error is None
    assert redact("uvx the-plain-package") == "uvx the-plain-package"
    assert "very-secret-value" not in redact("it is very-secret-value")
