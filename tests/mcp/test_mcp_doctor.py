"""What is said of servers that fail: the list of reasons, and ``harness mcp doctor``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness_tui.cli.app import run_verb
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.mcp.advice import Clues, advice, other_language
from harness_tui.mcp.budget import start_limit
from harness_tui.mcp.reasons import StartError, last_line

NPM_OFFLINE = """\
npm error code ENOTFOUND
npm error network request to https://registry.test/x failed, reason: getaddrinfo ENOTFOUND registry.test
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/2026-12-01-debug-0.log
"""
UV_OFFLINE = """\
error: Failed to fetch: `https://index.test/simple/mcp-server-git/`
  Caused by: dns error: failed to lookup address information: Temporary failure in name resolution
"""
NODE_STACK = """\
node:internal/modules/cjs/loader:1148
  throw err;
  ^

Error: Cannot find module '/opt/srv/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)
  code: 'MODULE_NOT_FOUND',
}

Node.js v22.11.0
"""


def stdio(*command: str, **fields: Any) -> McpServerSettings:
    return McpServerSettings(name="x", command=command, source="config.yaml:3", **fields)


def exited(tail: str, code: int = 1) -> tuple[StartError, Clues]:
    said = last_line(tail)
    words = f"exited with code {code} before answering" + (f": {said}" if said else "")
    return StartError(words, where="x", exited=True), Clues(stderr=tail, returncode=code)


@pytest.mark.parametrize(
    ("command", "tail", "kind", "words", "mend"),
    [
        (("npx", "-y", "srv"), NPM_OFFLINE, "offline", "npx could not fetch the package", "npm install -g PACKAGE"),
        (("/usr/bin/uvx", "srv"), UV_OFFLINE, "offline", "uvx could not fetch the package", "uv tool install PACKAGE"),
        (("npx", "srv"), "npm error code E404\nnpm error 404 Not Found", "no-package", "knows no such", "spelling"),
        (("node", "srv.js"), NODE_STACK, "exited", "Cannot find module", "/opt/srv/index.js where node looks for it"),
        (("srv",), "Error: NOTION_TOKEN is required", "missing-variable", "NOTION_TOKEN", "{env:NOTION_TOKEN}"),
        (("srv",), "Please set API_KEY_ID first", "missing-variable", "API_KEY_ID", "mcp.x.env"),
        (("srv",), "usage: srv --port PORT", "exited", "usage", "--help"),
        (("srv",), "segfault", "exited", "segfault", "harness mcp logs x"),
    ],
)
def test_what_a_program_leaves_behind_is_understood(
    command: tuple[str, ...], tail: str, kind: str, words: str, mend: str
) -> None:
    found = advice(stdio(*command), *exited(tail))
    assert found.kind == kind
    assert words in found.words
    assert mend in found.mend


def test_a_language_server_is_known_by_its_name_and_an_mcp_server_for_one_is_not_taken_for_it() -> None:
    assert advice(stdio("gopls"), *exited("panic")).words.startswith("this is a language server")
    assert advice(stdio("mcp-language-server"), *exited("panic")).kind == "exited"
    assert other_language(stdio("gopls"), Clues(stderr="starting")) is None, "nothing is ended for its name"
    assert other_language(stdio("bash"), Clues(stderr="bash: line 1: jsonrpc: command not found")) is not None


def test_a_variable_that_is_given_is_not_asked_for_again() -> None:
    found = advice(stdio("srv", env={"API_TOKEN": "x"}), *exited("API_TOKEN is required to be 40 long"))
    assert found.mend == "API_TOKEN is given in mcp.x.env: is its value right?"


def test_a_first_start_that_fetches_its_program_gets_more_time_than_any_other() -> None:
    assert start_limit(stdio("npx", "-y", "srv"), known=False) == 120
    assert start_limit(stdio("npx", "-y", "srv"), known=True) == 30
    assert start_limit(stdio("srv"), known=False) == 30
    assert start_limit(stdio("uvx", "srv", timeout=McpTimeouts(start=5)), known=False) == 5
    found = advice(stdio("npx", "srv"), StartError("did not answer within 120 s", where="x", timed_out=True), Clues())
    assert (found.kind, "may still have been installing it" in found.words) == ("timeout", True)


@pytest.mark.parametrize(
    ("tail", "line"),
    [
        (NODE_STACK, "Error: Cannot find module '/opt/srv/index.js'"),
        (NPM_OFFLINE, "npm error network request to https://registry.test/x failed, reason: getaddrinfo ENOTFOUND"),
        ("\n\n", ""),
        ("Node.js v22.11.0", "Node.js v22.11.0"),
    ],
)
def test_the_last_line_is_the_last_that_says_something(tail: str, line: str) -> None:
    assert last_line(tail).startswith(line)


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run ``harness mcp doctor`` over a configuration of one working server and several others."""
    script = Path(__file__).parent / "servers" / "faulty.py"
    env = {"FAULT": str(tmp_path / "none"), "PIDS": str(tmp_path / "pids")}
    servers = {
        "good": {"command": [sys.executable, "-S", str(script)], "env": env},
        "absent": {"command": ["no-such-program-anywhere"]},
        "off": {"command": ["x"], "enabled": False},
        "typo": {"command": ["x"], "enb": {"A": "b"}},
    }
    for name in ("HARNESS_CONFIG", "HARNESS_MODEL", "HARNESS_AGENT", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = tmp_path / "home" / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"mcp": servers}))
    project = tmp_path / "project"
    project.mkdir()

    def run(*words: str, verb: tuple[str, ...] = ("mcp", "doctor")) -> tuple[int, str, str]:
        code = run_verb([*verb, *words, "--root", str(project)])
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def test_the_doctor_tells_of_each_server_how_it_is_and_what_to_do(doctor: Any) -> None:
    code, out, _ = doctor("--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert code == 1
    assert {name: (row["ok"], row["state"], row.get("kind")) for name, row in found.items()} == {
        "good": (True, "ready", None),
        "absent": (False, "failed", "missing-program"),
        "off": (True, "disabled", "disabled"),
        "typo": (False, "failed", "configuration"),
    }
    assert (found["good"]["protocol"], found["good"]["tools"], found["good"].get("mend")) == ("2025-11-25", 2, None)
    assert "did you mean 'env'?" in found["typo"]["reason"]
    assert found["typo"]["source"].endswith("config.yaml:1")


def test_the_doctor_speaks_to_people_and_of_one_server_alone(doctor: Any) -> None:
    code, out, _ = doctor("absent")
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == "absent: failed: the program 'no-such-program-anywhere' was not found"
    assert lines[2:] == [
        "  runs  no-such-program-anywhere",
        "  do    install it, or name it by its absolute path",
    ]
    code, out, _ = doctor("good")
    assert code == 0
    assert out.startswith("good: ready in ")
    assert "MCP 2025-11-25 over stdio: 2 tools (about " in out
    code, _, err = doctor("god")
    assert code == 2
    assert "servers: absent, good, off, typo" in err


def test_the_doctor_of_everything_says_what_to_do_about_servers_too(doctor: Any) -> None:
    code, out, _ = doctor("--json", verb=("doctor",))
    rows = {row["message"]: row["mend"] for row in json.loads(out) if row["code"] == "mcp-failed"}
    assert code == 1
    missing = "MCP server absent: the program 'no-such-program-anywhere' was not found"
    assert rows[missing] == "install it, or name it by its absolute path"
