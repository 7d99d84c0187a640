"""Moving in from another tool: what is imported is in force in the next run."""

from __future__ import annotations

import json

import pytest
from e2e_home import Home, request_log

pytestmark = pytest.mark.e2e


def test_an_imported_server_rule_and_agent_are_in_force(home: Home) -> None:
    server = {"time": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"]}}
    allow = ["mcp__time__get_current_time", "Bash(echo:*)"]
    settings = {"permissions": {"allow": allow, "deny": ["Read(./secret/**)", "Bash(touch:*)"]}}
    home.write(".claude.json", json.dumps({"mcpServers": server}), base=home.folder)
    home.write(".claude/settings.json", json.dumps(settings), base=home.folder)
    agent = (
        "---\nname: clerk\ndescription: Knows the time\ntools: Read, Bash, mcp__time__get_current_time\n---\nClerk.\n"
    )
    home.write(".claude/agents/clerk.md", agent, base=home.folder)
    home.write("secret/a.txt", "hidden\n")
    ran = home.harness("config", "import", "claude", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["needs_trust"] is False
    (home.folder / ".claude/agents/clerk.md").unlink()
    (home.folder / ".claude.json").unlink()
    calls = [
        {"name": "time_get_current_time", "arguments": {"timezone": "UTC"}, "id": "time"},
        {"name": "time_convert_time", "arguments": {"time": "12:00"}, "id": "convert"},
        {"name": "bash", "arguments": {"command": "echo imported"}, "id": "echo"},
        {"name": "bash", "arguments": {"command": "touch PWNED"}, "id": "touch"},
        {"name": "read", "arguments": {"path": "secret/a.txt"}, "id": "read"},
        {"name": "edit", "arguments": {"path": "a", "old": "x", "new": "y"}, "id": "edit"},
    ]
    script = {"log": "requests.jsonl", "turns": [{"tools": calls}, {"text": "done"}]}
    home.write("play.yaml", json.dumps(script))
    ran = home.run("go", "--agent", "clerk", "--model", "replay:play.yaml", "--ask", "refuse")
    first = request_log(home.project / "requests.jsonl")[0]
    assert first["agent"] == "clerk"
    assert "Clerk." in first["system"]
    names = {tool["name"] for tool in first["tools"]}
    assert names == {"read", "bash", "bash_output", "bash_kill", "time_get_current_time"}
    errors = {event["call"]: event["is_error"] for event in ran.of("tool_finished")}
    assert errors == {"time": False, "convert": True, "echo": False, "touch": True, "read": True, "edit": True}
    decided = {event["call"]: (event["decision"], event["scope"]) for event in ran.of("permission_resolved")}
    assert decided["time"] == decided["echo"] == ("allow", "rule")
    assert decided["touch"] == decided["read"] == ("deny", "rule")
    assert not (home.project / "PWNED").exists()
    assert "hidden" not in ran.out
