"""Servers that want the model: what they may send, who allows it, what they get; and how often they may ask at all."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.canned import FakePerson

from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.core.errors import HarnessError
from harness_tui.core.messages import AssistantMessage
from harness_tui.core.seams import ToolContext
from harness_tui.mcp import people as people_module
from harness_tui.mcp.pool import McpPool

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def says(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


class Audit:
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.records: list[tuple[str, dict[str, Any]]] = []

    def record(self, kind: str, **fields: Any) -> None:
        self.records.append((kind, fields))


@pytest.fixture
def audit() -> Audit:
    return Audit()


@pytest.fixture
async def wants(server: Any, make_pool: Any, context: ToolContext, canned: FakePerson, audit: Audit) -> Any:
    """``call = await wants()``: the server, called with ``await call("sample", **params)``; gives text and is_error."""

    async def make(script: str = "asks_model", *, people: bool = True) -> Any:
        pool: McpPool = make_pool(server(script, name="s"), people=people, audit=audit)
        pool.start(eager=True)
        assert await pool.wait_started(30)

        async def call(tool: str, ask: Any = canned, **arguments: Any) -> tuple[str, bool]:
            found = pool.find(f"s_{tool}")
            assert found is not None
            asking = replace(context, ask=ask)
            result = await found.run(await found.prepare(arguments, asking), asking)
            return result.output, result.is_error

        return call

    return make


async def test_a_request_reaches_whoever_decides_whole_and_its_answer_the_server(
    wants: Any, canned: FakePerson
) -> None:
    call = await wants()
    canned.sampling("Hello.", model="m/1", stop="length")
    image = {"type": "image", "data": PNG, "mimeType": "text/html"}
    messages = [says("a"), says("b", "assistant"), {"role": "user", "content": [says("c")["content"], image]}]
    output, failed = await call("sample", messages=messages, maxTokens=70, systemPrompt="Short.", temperature=0.5)
    said = {"type": "text", "text": "Hello."}
    want = {"role": "assistant", "content": said, "model": "m/1", "stopReason": "maxTokens"}
    assert (json.loads(output), failed) == (want, False)
    (request,) = canned.asked
    asked = request.sampling
    assert asked is not None
    assert (request.kind, request.source, asked.max_tokens, asked.system) == ("sampling", "s", 70, "Short.")
    assert [message.text for message in asked.messages] == ["a", "b", "c"]
    assert isinstance(asked.messages[1], AssistantMessage)
    assert [item.mime for item in asked.messages[2].attachments] == ["image/png"]  # type: ignore[union-attr]
    canned.says_no("sampling")
    assert await call("sample", messages=[says("x")], maxTokens=1) == ("-1: User rejected sampling request", True)
    broken = {**image, "data": "eA=="}
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    for wrong, words in (
        ({"messages": [], "maxTokens": 1}, "there must be 1 to 100 messages"),
        ({"messages": [says("x")] * 101, "maxTokens": 1}, "there must be 1 to 100 messages"),
        ({"messages": [says("x", "assistant")], "maxTokens": 1}, "the last message must be of the role user"),
        ({"messages": [says("x" * 400_001)], "maxTokens": 1}, "the messages have more than 400000 characters"),
        ({"messages": [says("x")], "maxTokens": 0}, "maxTokens must be 1 or more"),
        ({"messages": [says("x")], "maxTokens": 1, "tools": [tool]}, "tools are not offered for sampling"),
        (
            {"messages": [{"role": "user", "content": broken}], "maxTokens": 1},
            "an image is none, or",
        ),
    ):
        output, failed = await call("sample", **wrong)
        assert failed
        assert output.startswith(f"-32602: {words}")
    assert len(canned.asked) == 2
    roots, _ = await call("roots")
    assert [Path(root["uri"].removeprefix("file://")).is_dir() for root in json.loads(roots)["roots"]] == [True]


async def test_a_server_of_the_present_revision_gets_its_answer_in_the_call(wants: Any, canned: FakePerson) -> None:
    call = await wants("asks_now")
    canned.sampling("In short: yes.")
    assert await call("summary") == ("In short: yes. (canned, endTurn)", False)
    (request,) = canned.asked
    assert request.sampling is not None
    assert (request.sampling.system, request.sampling.max_tokens) == ("Be brief.", 50)


async def test_a_call_that_only_ever_wants_more_is_given_up_in_plain_words(wants: Any, canned: FakePerson) -> None:
    call = await wants("asks_now")
    for number in range(20):
        canned.form(word=str(number))
    with pytest.raises(HarnessError, match="forever: it wanted something more than 10 times before it answered"):
        await call("forever")
    assert len(canned.of("form")) == 10


async def test_pages_are_opened_by_the_canned_person_too(wants: Any, canned: FakePerson) -> None:
    call = await wants("asks")
    canned.page().says_no("auth")
    outputs = [await call("page", url="https://login.test/x") for _ in range(2)]
    assert [json.loads(output)["action"] for output, _ in outputs] == ["accept", "decline"]
    assert [request.url for request in canned.of("auth")] == ["https://login.test/x"] * 2


async def test_where_nobody_can_be_asked_nothing_is_declared(wants: Any) -> None:
    call = await wants(people=False)
    can, _ = await call("can", ask=None)
    assert sorted(json.loads(can)) == ["roots"]
    output, failed = await call("sample", ask=None, messages=[says("x")], maxTokens=1)
    assert (output.partition(":")[0], failed) == ("-32600", True)


async def test_one_call_asks_so_often_and_so_long_and_no_more(
    wants: Any, canned: FakePerson, monkeypatch: pytest.MonkeyPatch, audit: Audit
) -> None:
    call = await wants()
    for _ in range(50):
        canned.form(x="secret-1")
    output, _ = await call("nag", count=50)
    assert json.loads(output) == {"accept": people_module.ASKED, "cancel": 50 - people_module.ASKED}
    records = [fields for kind, fields in audit.records if kind == "mcp_asked"]
    assert [record["action"] for record in records].count("too often") == 20
    assert {record["trace"] for record in records} == {dict(audit.records)["mcp_call"]["trace"]}
    assert records[0]["fields"] == ["x"]
    assert "secret-1" not in str(audit.records)
    monkeypatch.setattr(people_module, "AWAY_S", 0.0)

    async def slow(request: QuestionRequest) -> QuestionReply:
        await asyncio.sleep(0.01)
        return QuestionReply("accept", {"x": "y"})

    output, _ = await call("nag", ask=slow, count=3)
    assert json.loads(output) == {"cancel": 3}


async def test_one_thing_is_asked_at_a_time_of_all_servers(wants: Any, canned: FakePerson) -> None:
    call = await wants()
    for _ in range(4):
        canned.form(x="a").sampling("b")
    calls = [call("nag", count=1) for _ in range(4)]
    calls += [call("sample", messages=[says("x")], maxTokens=5) for _ in range(4)]
    results = await asyncio.gather(*calls)
    assert [failed for _, failed in results] == [False] * 8
    assert (len(canned.asked), canned.most) == (8, 1)
