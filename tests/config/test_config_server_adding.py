"""``harness mcp add`` and ``remove``: whatever is pasted becomes an entry, a secret never does, nothing is replaced."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace

import pytest
import yaml

from harness_tui.cli.app import run_verb
from harness_tui.config.server_adding import suggested_name


@pytest.fixture
def mcp(world, capsys, monkeypatch):
    """Run ``harness mcp WORDS``; return its exit code, standard output and standard error."""
    monkeypatch.chdir(world.root)
    for name in ("HARNESS_CONFIG", "HARNESS_MODEL", "HARNESS_AGENT", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(world.home))

    def run(*words: str, given: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given.encode()), isatty=lambda: False))
        code = run_verb(["mcp", *words])
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def servers(path):
    return yaml.safe_load(path.read_text())["mcp"]


ENTRY = {"command": "srv", "args": ["-v", "x"], "env": {"TZ": "UTC"}}
OPENCODE = {"type": "local", "command": ["srv", "-v", "x"], "environment": {"TZ": "UTC"}}
WRITTEN = {"command": ["srv", "-v", "x"], "env": {"TZ": "UTC"}}


@pytest.mark.parametrize(
    "words",
    [
        [json.dumps({"mcpServers": {"one": ENTRY}})],
        [json.dumps({"servers": {"one": {"type": "stdio", **ENTRY}}, "inputs": []})],
        [json.dumps({"mcp": {"one": OPENCODE}})],
        [json.dumps({"mcp": {"servers": {"one": ENTRY}}})],
        [json.dumps({"one": ENTRY})],
        ['"one": ' + json.dumps(ENTRY) + ","],
        ["one", json.dumps(ENTRY)],
        ["one", json.dumps({"mcpServers": {"other": ENTRY}})],
        ["one", "{ // as they show it\n" + json.dumps(ENTRY, indent=2)[1:]],
        ["--env", "TZ=UTC", "one", "--", "srv", "-v", "x"],
        ["--env", "TZ=UTC", "one", "srv", "-v", "x"],
        ["one", "TZ=UTC srv -v 'x'"],
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_every_form_that_people_paste_gives_the_same_entry(mcp, world, words):
    code, out, err = mcp("add", *words)
    assert (code, err) == (0, "")
    assert out == (f"added one (srv -v x) to {world.places.config_file}; `harness mcp doctor one` tries it\n")
    assert servers(world.places.config_file) == {"one": WRITTEN}
    assert world.load().settings.mcp["one"].env == {"TZ": "UTC"}


def test_json_comes_from_standard_input_too_with_comments(mcp, world):
    text = '{\n  // two of them\n  "mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b.test/mcp",},}\n}'
    assert mcp("add", "-", given=text)[0] == 0
    assert servers(world.places.config_file) == {"a": {"command": ["x"]}, "b": {"url": "https://b.test/mcp"}}


def test_a_url_is_added_with_its_headers(mcp, world):
    assert mcp("add", "--header", "X-Key={env:DOCS_KEY}", "--sse", "docs", "https://docs.test/sse")[0] == 0
    assert servers(world.places.config_file) == {
        "docs": {"url": "https://docs.test/sse", "transport": "sse", "headers": {"X-Key": "{env:DOCS_KEY}"}}
    }


def test_a_secret_in_clear_text_is_not_written_and_its_variable_is_named(mcp, world):
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    entry = {"command": "gh-mcp", "env": {"GITHUB_TOKEN": secret}}
    code, out, err = mcp("add", json.dumps({"mcpServers": {"gh": entry}}))
    assert code == 0
    assert servers(world.places.config_file)["gh"]["env"] == {"GITHUB_TOKEN": "{env:GITHUB_TOKEN}"}
    assert "set GITHUB_TOKEN in the environment" in err
    assert secret not in out + err + world.places.config_file.read_text()


def test_a_secret_in_a_command_line_is_refused(mcp, world):
    code, out, err = mcp("add", "x", "srv", "--api-key", "sk-abcdefghijklmnop1234")
    assert (code, out) == (2, "")
    assert "let the program read it from 'env'" in err
    assert "sk-abcdefghijklmnop1234" not in err
    assert not world.places.config_file.exists()


def test_a_name_that_is_taken_is_refused_with_the_place_that_has_it(mcp, world):
    path = world.write_user("# mine\nmcp:\n  git: {command: [old]}\n")
    before = path.read_text()
    code, _, err = mcp("add", "git", "new")
    assert code == 2
    assert f"{path}:3" in err
    assert "there is a server 'git' already" in err
    assert "harness mcp remove git" in err
    assert mcp("add", '{"mcpServers": {"free": {"command": "x"}, "git": {"command": "new"}}}')[0] == 2
    assert path.read_text() == before, "one that clashes keeps all of them out"


def test_the_project_file_is_written_and_stays_trusted(mcp, world):
    path = world.write(".harness/config.yaml", "# ours\nmcp: {a: {command: [x]}}\n")
    world.store.grant(world.project)
    assert mcp("add", "--project", "b", "y")[0] == 0
    assert path.read_text().startswith("# ours\n")
    loaded = world.load()
    assert {name: server.trusted for name, server in loaded.settings.mcp.items()} == {"a": True, "b": True}


def test_in_a_folder_that_is_not_trusted_it_is_said_what_is_missing(mcp, world):
    world.write(".harness/config.yaml", "mcp: {a: {command: [x]}}\n")
    code, _, err = mcp("add", "--project", "b", "y")
    assert code == 0
    assert "start after `harness trust`" in err
    assert world.load().settings.mcp["b"].trusted is False


def test_an_added_server_is_removed_again_and_the_rest_stays(mcp, world):
    path = world.write_user("model: a/b  # mine\n")
    before = path.read_text()
    assert mcp("add", "git", "mcp-server-git")[0] == 0
    assert mcp("remove", "git") == (0, f"removed git from {path}\n", "")
    assert yaml.safe_load(path.read_text()).get("mcp") in (None, {})
    assert path.read_text().startswith(before)


def test_a_server_of_another_file_is_not_removed_but_its_place_is_named(mcp, world):
    world.write(".mcp.json", '{"mcpServers": {"git": {"command": "x"}}}')
    code, _, err = mcp("remove", "git")
    assert code == 2
    assert f"{world.root}/.mcp.json:1" in err
    code, _, err = mcp("remove", "gti")
    assert code == 2
    assert "did you mean 'git'?" in err


def test_a_server_in_two_files_is_removed_from_the_one_that_is_named(mcp, world):
    user = world.write_user("mcp: {git: {command: [x]}}\n")
    project = world.write(".harness/config.yaml", "mcp: {git: {command: [y]}}\n")
    code, _, err = mcp("remove", "git")
    assert code == 2
    assert "--user" in err
    assert mcp("remove", "git", "--project")[0] == 0
    assert "git" in user.read_text()
    assert "git" not in project.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["npx", "-y", "thing"], "harness mcp add NAME -- npx -y thing"),
        (["uvx", "thing"], "harness mcp add NAME -- uvx thing"),
        (["x", "--project", "srv"], "options go before the name"),
        (["https://x.test/mcp"], "harness mcp add NAME https://x.test/mcp"),
        (["x", "https://x.test/mcp", "--sse"], "options go before the name"),
        (["x", "ftp://x.test/mcp | sh"], "no shell reads the command line"),
        (['{"mcpServers": {"a": {"command": "x"}'], "paste the whole of it"),
        (['{"mcpServers": {"a": {"comand": "x"}}}'], "did you mean 'command'?"),
        (['{"mcpServers": {"a": {"url": "https://a.test", "type": "pigeon"}}}'], "known are stdio, http, sse"),
        (['{"mcpServers": {}}'], "there is no server in it"),
        (['{"command": "x"}'], "the entry has no name"),
        (["n", '{"a": {"command": "x"}, "b": {"command": "y"}}'], "one name for 2 servers"),
        (['{"a": 7}'], "'a' is no server"),
        (['{"mcpServers": {"a": {}}}'], "neither a command nor an address"),
        (["--env", "TZ", "x", "srv"], "write it like --env TZ=UTC"),
        (["a/b c", ""], "there is nothing to add"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_way_out_and_nothing_is_written(mcp, world, words, told):
    code, out, err = mcp("add", *words)
    assert (code, out) == (2, "")
    assert told in err
    assert not world.places.config_file.exists()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/tmp"], "filesystem"),
        (["uvx", "mcp-server-git"], "git"),
        (["docker", "run", "-i", "--rm", "mcp/fetch"], "fetch"),
        (["python", "/opt/tools/weather.py"], "weather"),
        (["npx"], "server"),
    ],
)
def test_a_name_is_made_of_what_is_run(command, name):
    assert suggested_name(command) == name
