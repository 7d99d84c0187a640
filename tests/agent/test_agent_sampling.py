"""A server wants the session's model: shown, allowed by a person, a rule or a script, answered, counted, recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harness_tui.core.events import (
    Notice,
    PermissionRequested,
    PermissionResolved,
    RunFinished,
    ToolFinished,
    UsageUpdated,
)
from harness_tui.core.intents import Answer, Submit

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "asks_model.py"
SETTINGS = {"mcp": {"s": {"command": [sys.executable, str(SERVER)], "lazy": False}}}
CALL = {"permission": "mcp", "pattern": "s_*", "action": "allow"}
SAID = {"type": "text", "text": "What now?"}
SAMPLE = {"messages": [{"role": "user", "content": SAID}], "maxTokens": 100_000, "systemPrompt": "Be brief."}
TURNS = [{"tools": [{"name": "s_sample", "arguments": SAMPLE}]}, {"text": "done"}]
ANSWER = {"text": "Go home.", "usage": {"input": 7, "output": 3}}


def result(stage: Any) -> Any:
    (finished,) = stage.of(ToolFinished)
    return finished.output if finished.is_error else json.loads(finished.output)["content"]["text"]


async def test_a_person_sees_all_of_it_and_the_sessions_model_answers(stage: Any) -> None:
    one = await stage({"turns": TURNS, "internal": [ANSWER]}, policy="person", rules=(CALL,), settings=SETTINGS)
    await one.live.send(Submit("go"))
    request = await one.next(PermissionRequested)
    assert (request.permission, request.patterns) == ("sampling", ("s",))
    shown = request.preview.arguments
    assert shown == {
        "server": "s",
        "max_tokens": 8192,
        "messages": [{"role": "user", "text": "What now?"}],
        "system": "Be brief.",
    }
    assert [offer.scope for offer in request.offers] == ["session", "project", "user"]
    await one.send(Answer(request.request, "allow"))
    await one.next(RunFinished)
    assert result(one) == "Go home."
    (sent,) = [line for line in one.requests() if line.get("settings", {}).get("max_output_tokens")]
    assert (sent["system"], sent["tools"], [message["text"] for message in sent["messages"]]) == (
        "Be brief.",
        [],
        ["What now?"],
    )
    assert "the MCP server s got this answer of replay:play.yaml: Go home." in [n.text for n in one.of(Notice)]
    assert [(usage.input, usage.output) for usage in one.of(UsageUpdated)] == [(7, 3)]
    history = [message["text"] for message in one.requests()[-1]["messages"]]
    assert "What now?" not in history
    await one.workspace.close()
    records = [json.loads(line) for line in (one.workspace.places.state / "audit.jsonl").read_text().splitlines()]
    by_kind = {record["kind"]: record for record in records}
    assert (by_kind["mcp_sampling"]["result"], by_kind["mcp_sampling"]["output"]) == ("answered", 3)
    traces = {by_kind[kind]["trace"] for kind in ("mcp_sampling", "mcp_asked", "mcp_call")}
    assert len(traces) == 1


async def test_no_policy_allows_it_and_the_server_is_told(stage: Any) -> None:
    one = await stage({"turns": TURNS}, policy="allow", rules=(CALL,), settings=SETTINGS)
    await one.say("go")
    assert result(one) == "-1: User rejected sampling request"
    decided = {event.decision: event.scope for event in one.of(PermissionResolved)}
    assert decided == {"allow": "rule", "deny": "policy"}


async def test_a_rule_decides_it_either_way(stage: Any) -> None:
    allow = {"permission": "sampling", "pattern": "s", "action": "allow"}
    script = {"turns": TURNS, "internal": [ANSWER]}
    one = await stage(script, policy="refuse", rules=(CALL, allow), settings=SETTINGS)
    await one.say("go")
    assert result(one) == "Go home."
    assert one.of(PermissionRequested) == []
    deny = allow | {"action": "deny"}
    other = await stage({"turns": TURNS}, policy="allow", rules=(CALL, deny), settings=SETTINGS)
    await other.say("go")
    assert result(other) == "-1: User rejected sampling request"


async def test_a_script_gives_the_answer_or_lets_the_model(stage: Any) -> None:
    canned = {"kind": "sampling", "match": "s", "action": "accept", "content": {"text": "Canned."}}
    free = {"kind": "sampling", "match": "s*", "action": "accept"}
    no = {"kind": "sampling", "match": "*", "action": "deny"}
    arguments = [SAMPLE | {"maxTokens": number} for number in (1, 2, 3)]
    calls = {"tools": [{"name": "s_sample", "arguments": item} for item in arguments]}
    script = {"turns": [calls, {"text": "done"}], "internal": [ANSWER], "answers": [canned, free, no]}
    one = await stage(script, policy="refuse", rules=(CALL,), settings=SETTINGS)
    await one.say("go")
    outputs = [event.output for event in one.of(ToolFinished)]
    texts = [json.loads(output)["content"]["text"] for output in outputs[:2]]
    assert (texts, outputs[2]) == (["Canned.", "Go home."], "-1: User rejected sampling request")


async def test_a_model_that_fails_is_told_to_both(stage: Any) -> None:
    allow = {"permission": "sampling", "pattern": "s", "action": "allow"}
    broken = {"error": {"kind": "auth", "message": "no key"}}
    one = await stage({"turns": TURNS, "internal": [broken]}, policy="refuse", rules=(CALL, allow), settings=SETTINGS)
    await one.say("go")
    assert result(one) == "-1: the model gave no answer"
    assert "the MCP server s got no answer of the model: no key" in [notice.text for notice in one.of(Notice)]
