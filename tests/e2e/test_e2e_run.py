"""``harness run`` against a replay script: order, numbers, files, permissions, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from e2e_home import BIN, Home, request_log

pytestmark = pytest.mark.e2e


def command_project(home: Home) -> None:
    home.write("notes.txt", "alpha\nbeta\n")
    home.write(
        ".harness/commands/swap.md",
        """
        ---
        description: Swap two words
        ---
        Replace $1 by $2 in notes.txt.
        """,
    )
    home.write(
        "play.yaml",
        """
        log: requests.jsonl
        turns:
          - text: Reading.
            tools: [{name: read, arguments: {path: notes.txt}}]
          - tools: [{name: edit, arguments: {path: notes.txt, old: beta, new: gamma}}]
          - text: Swapped.
        """,
    )


def test_a_command_is_expanded_and_an_edit_that_a_user_rule_allows_changes_the_file(home: Home) -> None:
    command_project(home)
    home.user_config("permission:\n  - {permission: edit, pattern: '*', action: allow}\n")
    home.trust()
    ran = home.run("/swap beta gamma", "--model", "replay:play.yaml")
    assert ran.code == 0, ran.err
    (started,) = ran.of("run_started")
    assert started["message"]["text"] == "Replace beta by gamma in notes.txt."
    assert started["command"]["name"] == "swap"
    assert [event["seq"] for event in ran.events] == list(range(1, len(ran.events) + 1))
    assert ran.events[0]["type"] == "session_started"
    assert ran.events[-1]["type"] == "run_finished"
    assert ran.events[-1]["reason"] == "completed"
    assert [event["tool"] for event in ran.of("tool_finished")] == ["read", "edit"]
    (edited,) = ran.of("permission_resolved", scope="rule", decision="allow")[1:]
    assert "edit *" in edited["rule"]
    (changed,) = ran.of("file_changed")
    assert (changed["path"], changed["added"], changed["removed"]) == ("notes.txt", 1, 1)
    assert (home.project / "notes.txt").read_text() == "alpha\ngamma\n"


def test_the_same_run_in_an_untrusted_project_is_refused_and_starts_nothing(home: Home) -> None:
    command_project(home)
    home.write(".harness/config.yaml", f"mcp:\n  probe: {{command: [{sys.executable}, -c, \"open('started','w')\"]}}\n")
    ran = home.run("/swap beta gamma", "--model", "replay:play.yaml")
    assert ran.code == 3
    assert [event["type"] for event in ran.events if event["type"] in ("run_started", "tool_started")] == []
    assert any("harness trust" in event["text"] + event.get("hint", "") for event in ran.of("notice", level="error"))
    assert ran.events[-1]["reason"] == "refused"
    assert not (home.project / "started").exists()
    assert not (home.project / "requests.jsonl").exists()


def test_an_unknown_command_is_wrong_usage_and_names_the_one_that_was_meant(home: Home) -> None:
    command_project(home)
    home.trust()
    ran = home.run("/swpa beta gamma", "--model", "replay:play.yaml")
    assert ran.code == 2
    assert "swap" in ran.err + ran.out
    assert not (home.project / "requests.jsonl").exists()


def test_a_command_of_the_shell_alone_says_where_it_works(home: Home) -> None:
    ran = home.harness("run", "/theme dark")
    assert ran.code == 2
    assert "shell" in ran.err


def test_without_any_model_the_ways_to_get_one_are_told(home: Home) -> None:
    ran = home.harness("run", "hello")
    assert ran.code == 2
    assert "ANTHROPIC_API_KEY" in ran.err
    assert ran.out == ""


def test_an_unknown_model_is_wrong_usage(home: Home) -> None:
    ran = home.harness("run", "--model", "nobody/nothing", "hello")
    assert ran.code == 2
    assert "nobody/nothing" in ran.err


def mcp_project(home: Home, *calls: dict[str, object], server: str = "simple.py") -> None:
    """Lay out a server, that of others for ``mcp-server-time``, and a model that makes ``calls``, one a step."""
    own = [sys.executable, str(Path(__file__).parents[1] / "mcp" / "servers" / server)]
    command = own if server.endswith(".py") else [str(BIN / server)]
    home.user_config(f"mcp:\n  time: {{command: {json.dumps(command)}}}\n")
    turns: list[object] = [{"tools": [call]} for call in calls or [{"name": "time_work", "arguments": {}}]]
    home.write("play.yaml", json.dumps({"log": "requests.jsonl", "turns": [*turns, {"text": "That is it."}]}))


def second_request_result(home: Home) -> dict[str, object]:
    (result,) = [item for item in request_log(home.project / "requests.jsonl")[1]["messages"] if item["role"] == "tool"]
    return result


def test_an_mcp_call_that_no_rule_allows_is_refused_by_policy_and_the_model_is_told(home: Home) -> None:
    mcp_project(home)
    ran = home.run("what time is it?", "--model", "replay:play.yaml")
    assert ran.code == 0, ran.err
    (requested,) = ran.of("permission_requested")
    assert (requested["permission"], requested["patterns"]) == ("mcp", ["time_work"])
    (resolved,) = ran.of("permission_resolved")
    assert (resolved["decision"], resolved["scope"]) == ("deny", "policy")
    result = second_request_result(home)
    assert result["is_error"] is True
    assert "Not permitted" in str(result["text"])


def test_with_ask_allow_the_call_runs(home: Home) -> None:
    call = {"name": "time_get_current_time", "arguments": {"timezone": "UTC"}}
    mcp_project(home, call, server="mcp-server-time")
    ran = home.run("what time is it?", "--model", "replay:play.yaml", "--ask", "allow")
    assert ran.code == 0, ran.err
    (resolved,) = ran.of("permission_resolved")
    assert (resolved["decision"], resolved["scope"]) == ("allow", "policy")
    (finished,) = ran.of("tool_finished")
    assert finished["is_error"] is False
    assert '"timezone": "UTC"' in finished["output"]


def test_with_ask_input_an_answer_on_standard_input_decides_and_its_end_refuses_what_waits(home: Home) -> None:
    words = ("one", "two", "three", "four")
    mcp_project(home, *({"name": "time_work", "arguments": {"word": word}} for word in words))
    process = home.popen(
        "run", "--json", "--ask", "input", "--model", "replay:play.yaml", "time?", stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    events, actions = [], ["allow", "deny"]
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["type"] == "permission_requested" and actions:
            answer = {"intent": "answer", "request": events[-1]["request"], "action": actions.pop(0), "note": "because"}
            process.stdin.write(json.dumps(answer) + "\n")
            process.stdin.flush()
        elif events[-1]["type"] == "permission_requested":
            process.stdin.close()
    assert process.wait(timeout=30) == 0
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()
    resolved = [event for event in events if event["type"] == "permission_resolved"]
    assert [(event["decision"], event["scope"]) for event in resolved] == [
        ("allow", "once"),
        ("deny", "once"),
        ("deny", "policy"),
        ("deny", "policy"),
    ]
    assert [event["note"] for event in resolved[:2]] == ["because", "because"]
    finished = [event for event in events if event["type"] == "tool_finished"]
    assert [event["is_error"] for event in finished] == [False, True, True, True]
    assert finished[0]["output"] == "one"


def test_a_kill_during_a_call_leaves_a_session_that_goes_on_with_one_result_per_call(home: Home) -> None:
    home.user_config(
        "permission:\n"
        "  - {permission: bash, pattern: '*', action: allow}\n"
        "  - {permission: edit, pattern: mark, action: allow}\n"
    )
    home.write(
        "first.yaml",
        """
        turns:
          - tools:
              - {name: bash, arguments: {command: "echo one"}}
              - {name: bash, arguments: {command: "echo started > mark; sleep 60"}}
              - {name: bash, arguments: {command: "echo three"}}
        """,
    )
    home.write("second.yaml", "log: requests.jsonl\nturns:\n  - text: Going on.\n")
    process = home.popen("run", "--json", "--model", "replay:first.yaml", "go")
    end = time.monotonic() + 30
    while not (home.project / "mark").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert (home.project / "mark").exists()
    time.sleep(0.2)
    for pid in home.leftovers():
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=10)
    ran = home.run("and now?", "--continue", "--model", "replay:second.yaml")
    assert ran.code == 0, ran.err
    (request,) = request_log(home.project / "requests.jsonl")
    calls = [
        call["call"] for message in request["messages"] if message["role"] == "assistant" for call in message["calls"]
    ]
    results = [message for message in request["messages"] if message["role"] == "tool"]
    assert calls == ["c1", "c2", "c3"]
    assert [result["call"] for result in results] == calls
    assert results[0]["text"].startswith("one")
    assert [("interrupted" in result["text"].lower()) for result in results] == [False, True, True]


def test_four_servers_the_good_one_works_and_three_reasons_are_shown(home: Home) -> None:
    python = json.dumps(sys.executable)
    good = json.dumps(str(Path(sys.executable).parent / "mcp-server-time"))
    home.user_config(
        f"""\
mcp:
  missing: {{command: [no-such-binary-anywhere]}}
  exits: {{command: [{python}, -c, "import sys; sys.exit('cannot open the ledger')"]}}
  mute: {{command: [{python}, -c, "import time; time.sleep(600)"], timeout: {{start: 2}}}}
  time: {{command: [{good}]}}
permission:
  - {{permission: mcp, pattern: "time_*", action: allow}}
"""
    )
    home.write(
        "play.yaml",
        """
        turns:
          - tools: [{name: time_get_current_time, arguments: {timezone: UTC}}]
          - text: Done.
        """,
    )
    ran = home.run("time?", "--model", "replay:play.yaml")
    assert ran.code == 0, ran.err
    (finished,) = ran.of("tool_finished")
    assert finished["is_error"] is False, finished["output"]
    failed = {event["name"]: event for event in ran.of("server_changed", kind="mcp", state="failed")}
    assert set(failed) == {"missing", "exits", "mute"}
    assert "no-such-binary-anywhere" in failed["missing"]["reason"]
    assert "cannot open the ledger" in failed["exits"]["detail"]["stderr_tail"]
    assert "2 s" in failed["mute"]["reason"]
    home.assert_nothing_left()


def test_sigint_cancels_with_a_whole_stream(home: Home) -> None:
    home.write("play.yaml", "turns:\n  - {text: 'begun and waiting', wait: never.flag}\n")
    process = home.popen("run", "--json", "--model", "replay:play.yaml", "go")
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(json.loads(line))
        if lines[-1]["type"] == "run_started":
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()
    assert lines[-1]["type"] == "run_finished"
    assert lines[-1]["reason"] == "cancelled"
