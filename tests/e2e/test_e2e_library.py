"""Commands, skills and prompts of servers in ``harness run``: what the model was really sent, by a script's log."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e_home import Home, request_log

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "prompts.py"


def scene(home: Home, *, server: bool = True) -> None:
    """Write commands and skills of one name in several places, a server, and rules for them."""
    home.user_config(f"""
        permission: [{{permission: skill, pattern: t-secret, action: deny}}]
        compaction: {{keep: 0}}
        mcp: {{desk: {{command: {json.dumps([sys.executable, str(SERVER)])}, enabled: {json.dumps(server)}}}}}
        agents: {{narrow: {{mode: primary, tools: {{skill: [t-r*]}}}}}}
        """)
    user, claude, own = ".config/harness", ".claude", ".harness"
    home.write(f"{user}/commands/note.md", "the person's note", base=home.folder)
    home.write(f"{claude}/commands/note.md", "another tool's note")
    home.write(f"{own}/commands/note.md", "the project's note: $1")
    home.write(f"{own}/commands/help.md", "the project's help")
    for name in ("t-keep", "t-secret", "t-review"):
        home.write(
            f"{own}/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: About it.\n---\nThe body of {name}.\n"
        )


def named(request: dict[str, Any]) -> list[str]:
    """Return the skills of the scene that a request tells of; the catalogue and the tool agree."""
    system = request["system"]
    assert system.count("<available_skills>") == 1
    listed = [part.partition("</name>")[0] for part in system.split("<name>")[1:]]
    (tool,) = [tool for tool in request["tools"] if tool["name"] == "skill"]
    assert tool["parameters"]["properties"]["name"]["enum"] == listed
    return [name for name in listed if name.startswith("t-")]


def last_text(request: dict[str, Any]) -> str:
    return request["messages"][-1]["text"]


@pytest.mark.rule("3.7.10", "3.7.12", "3.7.13", "3.7.16", "3.9.10", "3.9.15", "3.6.4")
def test_one_process_shows_who_wins_what_is_denied_and_what_stays(home: Home) -> None:
    scene(home)
    home.trust()
    turns = [
        {"tools": [{"name": "skill", "arguments": {"name": "t-keep"}}]},
        {"text": "waited", "wait": "go.flag"},
        *({"text": f"answer {number}"} for number in range(9)),
    ]
    home.write("play.yaml", json.dumps({"log": "log.jsonl", "internal": ["the summary"], "turns": turns}))
    process = home.popen("run", "--json", "--ask", "input", "--model", "replay:play.yaml", "/note first", stdin=-1)
    assert process.stdin is not None
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while '"tool_finished"' not in lines[-1] and lines[-1]:
        lines.append(process.stdout.readline())
    later = [{"text": text} for text in ("/note second", "/user:note", "/project:help", "/mcp:desk:talk")]
    later += [{"text": "go", "agent": "narrow"}, {"text": "/t-secret"}]
    intents = [{"intent": "compact"}, *({"intent": "submit", "when": "queue", **fields} for fields in later)]
    process.stdin.write("".join(json.dumps(intent) + "\n" for intent in intents))
    process.stdin.flush()
    while not ('"queue_changed"' in lines[-1] and "/t-secret" in lines[-1]) and lines[-1]:
        lines.append(process.stdout.readline())
    home.write(".harness/commands/note.md", "the edited note: $1")  # what is queued is read when its turn comes
    home.write("go.flag", "")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err  # the last one was refused
    events = [json.loads(line) for line in [*lines, *out.splitlines()]]
    ends = [event for event in events if event["type"] == "run_finished"]
    assert [event["reason"] for event in ends] == ["completed"] * 6 + ["refused"]
    assert ends[-1]["error"]["kind"] == "skill-denied"
    notices = [event["text"] for event in events if event["type"] == "notice"]
    assert any("shadows" in text and ".claude/commands/note.md" in text for text in notices)
    assert any("/project:help" in text for text in notices)

    log = [request for request in request_log(home.project / "log.jsonl") if request.get("purpose") != "internal"]
    assert last_text(log[0]) == "the project's note: first"
    assert "The body of t-keep." in last_text(log[1])
    assert named(log[0]) == ["t-keep", "t-review"]
    second, users, help_, talk, narrow = log[2:]
    assert last_text(second) == "the edited note: second"
    assert last_text(users) == "the person's note"
    assert last_text(help_) == "the project's help"
    assert [(m["role"], m["text"]) for m in talk["messages"][-3:]] == [
        ("user", "What is this?"),
        ("assistant", "A pixel."),
        ("user", "Which one?"),
    ]
    assert named(second) == ["t-keep", "t-review"]
    assert named(narrow) == ["t-review"]
    summary = second["messages"][0]["text"]
    assert "<summary>\nthe summary\n</summary>" in summary
    assert summary.count("The body of t-keep.") == 1
    assert "the project's note: first" not in json.dumps(second["messages"][1:])

    home.write("again.yaml", json.dumps({"log": "again.jsonl", "turns": [turns[0], {"text": "b"}]}))
    ran = home.run("go on", "--continue", "--model", "replay:again.yaml")
    assert ran.code == 0
    first, _ = request_log(home.project / "again.jsonl")
    assert named(first) == ["t-keep", "t-review"]
    assert "The body of t-keep." in first["messages"][0]["text"]
    assert "loaded already" in ran.of("tool_finished")[0]["output"]


@pytest.mark.rule("3.7.15")
def test_what_an_untrusted_folder_brings_is_refused_and_sends_nothing(home: Home) -> None:
    scene(home, server=False)
    home.write("play.yaml", json.dumps({"log": "log.jsonl", "turns": []}))
    ran = home.run("/t-keep", "--model", "replay:play.yaml")
    assert ran.code == 3
    assert "harness trust" in ran.of("run_finished")[0]["error"]["message"]
    assert not (home.project / "log.jsonl").exists()
