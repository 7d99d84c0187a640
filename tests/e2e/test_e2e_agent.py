"""The agent without a screen: what the model was really sent, and what came out of ``harness run --json``."""

from __future__ import annotations

import json
import signal
import sys
import time

from e2e_home import Home, request_log

BIG = "word " * 8000


def script(home: Home, name: str = "play.yaml", **parts: object) -> str:
    """Write a replay script (JSON is YAML) and return the flag's value."""
    home.write(name, json.dumps({"log": "requests.jsonl", **parts}))
    return f"replay:{name}"


def texts(request: dict[str, object]) -> list[str]:
    return [message["text"] for message in request["messages"]]  # type: ignore[index,attr-defined]


def test_a_long_session_is_summed_up_and_goes_on_after_a_kill(home: Home) -> None:
    first = script(home, context=20000, internal=["Goal: paint it."], turns=[{"text": BIG, "usage": {"input": 17000}}])
    ran = home.run("start", "--model", first)
    assert ran.code == 0
    session = ran.events[0]["session"]
    second = script(home, "second.yaml", context=20000, internal=[{"text": "never", "wait": "never.flag"}], turns=[])
    process = home.popen("run", "--json", "--session", session, "--model", second, BIG)
    end = time.monotonic() + 30
    while len(request_log(home.project / "requests.jsonl")) < 2:
        assert time.monotonic() < end, "no summary was asked for"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert request_log(home.project / "requests.jsonl")[1]["purpose"] == "internal"
    third = script(home, "third.yaml", context=20000, internal=["Goal: paint it."], turns=[{"text": "blue"}])
    ran = home.run("which colour?", "--session", session, "--model", third)
    assert ran.code == 0
    (compacted,) = ran.of("context_compacted")
    assert compacted["summary"] == "Goal: paint it."
    last = request_log(home.project / "requests.jsonl")[-1]
    (only,) = texts(last)
    assert "<summary>\nGoal: paint it.\n</summary>" in only
    assert "which colour?" in only
    assert len(only) < 20000


def test_subagents_are_sessions_below_with_events_of_their_own(home: Home) -> None:
    calls = [{"name": "task", "arguments": {"agent": "explore", "prompt": f"look {n}"}} for n in (1, 2)]
    model = script(
        home,
        turns=[{"tools": calls}, {"text": "both found"}],
        agents={"explore": [{"text": "found", "usage": {"input": 5, "output": 1}}] * 2},
    )
    ran = home.run("find them", "--model", model)
    assert ran.code == 0
    parent = ran.events[0]["session"]
    starts = [event for event in ran.of("session_started") if event["session"] != parent]
    assert len(starts) == 2
    assert {event["parent"]["session"] for event in starts} == {parent}
    for start in starts:
        mine = [event["seq"] for event in ran.events if event["session"] == start["session"]]
        assert mine == list(range(1, len(mine) + 1))
    outputs = [event["output"] for event in ran.of("tool_finished", tool="task")]
    assert all("\nfound\n</task>" in output for output in outputs)
    text = home.harness("run", "--model", model, "again")
    assert text.out == "both found\n"


def test_ctrl_c_ends_subagents_with_a_whole_stream(home: Home) -> None:
    model = script(
        home,
        turns=[{"tools": [{"name": "task", "arguments": {"agent": "explore", "prompt": "look"}}]}],
        agents={"explore": [{"text": "never", "wait": "never.flag"}]},
    )
    process = home.popen("run", "--json", "--model", model, "go")
    end = time.monotonic() + 30
    log = home.project / "requests.jsonl"
    while not log.exists() or len(request_log(log)) < 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    events = [json.loads(line) for line in out.splitlines()]
    finished = [event for event in events if event["type"] == "run_finished"]
    assert [event["reason"] for event in finished] == ["cancelled", "cancelled"]
    assert events[-1] == finished[-1]
    assert len([event for event in events if event["type"] == "tool_finished"]) == 1


def test_an_agent_of_a_file_has_its_prompt_tools_rules_steps_and_temperature(home: Home) -> None:
    home.write(
        ".harness/agents/painter.md",
        """
        ---
        description: Paints
        tools: {bash: false}
        steps: 1
        temperature: 0.3
        permission: [{permission: edit, pattern: "*", action: deny}]
        ---
        Paint everything blue.
        """,
    )
    home.trust()
    write = {"name": "write", "arguments": {"path": "a.txt", "content": "x"}}
    model = script(home, turns=[{"tools": [write]}, {"text": "never asked"}])
    ran = home.run("go", "--agent", "painter", "--model", model)
    assert (ran.code, ran.events[-1]["reason"]) == (1, "step_limit")
    (request,) = request_log(home.project / "requests.jsonl")
    assert request["agent"] == "painter"
    assert "Paint everything blue." in request["system"]
    assert request["settings"]["temperature"] == 0.3
    assert "bash" not in {tool["name"] for tool in request["tools"]}
    (refused,) = ran.of("permission_resolved")
    assert (refused["decision"], refused["scope"]) == ("deny", "rule")


def test_hooks_format_block_and_hold_the_end_back(home: Home) -> None:
    upper = "import sys; t = open(sys.argv[1]).read().upper(); open(sys.argv[1], 'w').write(t)"
    once = (
        "import os, sys\nif not os.path.exists('once'): open('once', 'w'); sys.stderr.write('once more'); sys.exit(2)"
    )
    block = "import sys; sys.stderr.write('no shell'); sys.exit(2)"
    hooks = {
        "after_edit": [{"match": "*.txt", "command": [sys.executable, "-c", upper, "{file}"]}],
        "before_tool": [{"match": "bash", "command": [sys.executable, "-c", block]}],
        "run_finished": [{"command": [sys.executable, "-c", once]}],
    }
    rules = [{"permission": name, "pattern": "*", "action": "allow"} for name in ("edit", "bash")]
    home.user_config(json.dumps({"hooks": hooks, "permission": rules}))
    calls = [
        {"name": "write", "arguments": {"path": "a.txt", "content": "hello\n"}},
        {"name": "bash", "arguments": {"command": "touch ran"}},
    ]
    ran = home.run("go", "--model", script(home, turns=[{"tools": calls}, {"text": "done"}, {"text": "really"}]))
    assert ran.code == 0
    assert (home.project / "a.txt").read_text() == "HELLO\n"
    assert not (home.project / "ran").exists()
    write, shell = ran.of("tool_finished")
    assert "+HELLO" in write["metadata"]["diff"]
    assert shell["is_error"]
    assert "no shell" in shell["output"]
    (held,) = ran.of("message_added", origin="hook")
    assert held["message"]["text"].endswith("\n\nonce more")
    assert len(request_log(home.project / "requests.jsonl")) == 3


def test_a_command_for_a_subagent_answers_with_what_it_said(home: Home) -> None:
    home.write(".harness/commands/look.md", "---\nagent: explore\n---\nLook for $1.\n")
    home.trust()
    model = script(home, turns=[{"text": "main"}], agents={"explore": [{"text": "it is in a.py"}]})
    ran = home.harness("run", "--model", model, "/look x")
    assert (ran.code, ran.out) == (0, "it is in a.py\n")
    (request,) = request_log(home.project / "requests.jsonl")
    assert (request["agent"], texts(request)) == ("explore", ["Look for x."])


def test_the_context_is_counted_and_switched_headless(home: Home) -> None:
    home.write("AGENTS.md", "Rule one.\n")
    model = script(home, turns=[{"text": "a"}])
    ran = home.harness("context", "--json", "--model", model)
    assert ran.code == 0
    report = json.loads(ran.out)
    names = [part["name"] for part in report["parts"]]
    assert {"system", "instructions:AGENTS.md", "skills", "tools"} <= set(names)
    assert report["total"] == sum(part["tokens"] for part in report["parts"])
    intents = [
        {"intent": "context", "part": "instructions:AGENTS.md", "on": False},
        {"intent": "submit", "text": "next", "when": "queue"},
    ]
    lines = "".join(json.dumps(intent) + "\n" for intent in intents)
    slow = script(home, "slow.yaml", turns=[{"text": "one two three four"}, {"text": "b"}], delay=0.3)
    ran = home.run("go", "--ask", "input", "--model", slow, stdin=lines)
    assert ran.code == 0
    assert [event["message"]["text"] for event in ran.of("run_started")] == ["go", "next"]
    assert ran.of("context_reported")[0]["parts"]
    last = request_log(home.project / "requests.jsonl")[-1]
    assert texts(last)[-1] == "next"
    assert "Rule one." not in last["system"]
