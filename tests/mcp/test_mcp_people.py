"""What servers ask a person in the middle of a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.core.seams import ToolContext
from harness_tui.mcp.people import fault_of, page_host
from harness_tui.mcp.pool import McpPool


class Person:
    """Answers requests in turn; keeps them."""

    def __init__(self, *replies: QuestionReply, takes: float = 0.0) -> None:
        self.replies = list(replies)
        self.asked: list[QuestionRequest] = []
        self.takes = takes
        self.at_once = self.most = 0

    async def __call__(self, request: QuestionRequest) -> QuestionReply:
        self.asked.append(request)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(self.takes)
        self.at_once -= 1
        return self.replies.pop(0)


def says(**content: Any) -> QuestionReply:
    return QuestionReply("accept", content)


async def called(pool: McpPool, context: ToolContext, name: str, **arguments: Any) -> tuple[str, bool]:
    tool = next(tool for tool in pool.tools() if tool.spec.name == name)
    result = await tool.run(await tool.prepare(arguments, context), context)
    return result.output, result.is_error


@pytest.fixture
async def asking(server: Callable[..., McpServerSettings], make_pool: Callable[..., McpPool]) -> Callable[..., Any]:
    async def make(script: str = "asks", *, people: bool = True, **fields: Any) -> McpPool:
        pool = make_pool(server(script, name="asks", **fields), people=people)
        pool.start(eager=True)
        assert await pool.wait_started(30)
        return pool

    return make


async def test_an_answer_that_fits_goes_to_the_server_with_its_defaults(asking, context: ToolContext) -> None:
    pool, person = await asking(), Person(says(name="Ada", age=36, tags=["x"]))
    output, failed = await called(pool, replace(context, ask=person), "asks_form")
    want = {"action": "accept", "content": {"colour": "green", "name": "Ada", "age": 36, "tags": ["x"]}}
    assert (json.loads(output), failed) == (want, False)
    (asked,) = person.asked
    assert (asked.kind, asked.source, asked.title) == ("form", "asks", "Who are you?")


async def test_an_answer_that_does_not_fit_is_asked_for_again_and_never_sent(asking, context: ToolContext) -> None:
    wrong = (says(name="A"), says(name="Ada", colour="blue"), says(name="Ada", mail="aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"))
    pool, person = await asking(), Person(*wrong)
    output, _ = await called(pool, replace(context, ask=person), "asks_form")
    assert json.loads(output) == {"action": "cancel"}
    assert [request.title.removeprefix("Who are you?") for request in person.asked] == [
        "",
        " (name: 'A' is too short)",
        " (colour: 'blue' is not one of ['red', 'green'])",
    ]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_is_told_as_what_it_is(asking, context: ToolContext, action: Any) -> None:
    pool, person = await asking(), Person(QuestionReply(action))
    assert json.loads((await called(pool, replace(context, ask=person), "asks_form"))[0]) == {"action": action}


async def test_where_nobody_is_no_server_is_told_that_there_is_somebody(asking, context: ToolContext) -> None:
    pool = await asking(people=False)
    assert "elicitation" not in json.loads((await called(pool, context, "asks_can"))[0])
    output, failed = await called(pool, context, "asks_form")
    assert (output, failed) == ("refused: Elicitation not supported", True)


async def test_a_call_that_nobody_stands_behind_is_refused_at_once(asking, context: ToolContext) -> None:
    pool = await asking()
    assert json.loads((await called(pool, context, "asks_can"))[0])["elicitation"] == {"form": {}, "url": {}}
    assert (await called(pool, context, "asks_form"))[0] == "refused: nobody can be asked here"


async def test_a_page_is_shown_with_its_host_and_a_dangerous_address_is_never_shown(asking, context) -> None:
    pool, person = await asking(), Person(QuestionReply("accept"))
    with_person = replace(context, ask=person)
    output, _ = await called(pool, with_person, "asks_page", url="https://login.example/x?y=1")
    assert json.loads(output) == {"action": "accept"}
    (asked,) = person.asked
    assert (asked.kind, asked.url) == ("auth", "https://login.example/x?y=1")
    assert asked.title == "Log in � (opens login.example)" or asked.title.endswith("(opens login.example)")
    assert "\x1b" not in asked.title
    for url in ("javascript:alert(1)", "file:///etc/passwd", "http://example.com/", "https://a@b.example/", "https://"):
        output, _ = await called(pool, with_person, "asks_page", url=url)
        assert json.loads(output) == {"action": "decline"}, url
    assert len(person.asked) == 1


async def test_the_time_that_a_person_takes_does_not_count_and_they_are_asked_one_thing_at_a_time(
    asking, context: ToolContext
) -> None:
    pool = await asking(timeout=McpTimeouts(start=20, idle=0.6, total=1.0))
    person = Person(*[says(name="Ada")] * 3, takes=0.5)
    calls = (called(pool, replace(context, ask=person), "asks_form") for _ in range(3))
    assert [json.loads(output)["action"] for output, _ in await asyncio.gather(*calls)] == ["accept"] * 3
    assert person.most == 1


async def test_a_server_of_the_present_revision_asks_in_rounds(asking, context: ToolContext) -> None:
    pool, person = await asking("asks_now"), Person(says(name="Ada"), says(colour="red"))
    assert await called(pool, replace(context, ask=person), "asks_paint") == ("red for Ada, 30", False)
    assert [request.title for request in person.asked] == ["Who are you?", "Which colour, Ada?"]
    person = Person(QuestionReply("decline"))
    _, failed = await called(pool, replace(context, ask=person), "asks_paint")
    assert failed
    assert len(person.asked) == 1


async def test_each_call_asks_the_one_who_made_it(asking, context: ToolContext) -> None:
    pool = await asking("asks_now")
    people = [Person(says(name=name), says(colour=name), takes=0.05) for name in ("Ada", "Bob", "Cleo")]
    found = await asyncio.gather(*(called(pool, replace(context, ask=one), "asks_paint") for one in people))
    assert [output for output, _ in found] == [f"{name} for {name}, 30" for name in ("Ada", "Bob", "Cleo")]


@pytest.mark.parametrize(
    ("schema", "content", "fault"),
    [
        ({"properties": {"n": {"type": "integer", "maximum": 3}}}, {"n": 4}, "n: 4 is greater than the maximum of 3"),
        ({"properties": {"n": {"type": "number"}}}, {"n": "x"}, "n: 'x' is not of type 'number'"),
        ({"properties": {"a": {"type": "array", "maxItems": 1}}}, {"a": [1, 2]}, "a: [1, 2] is too long"),
        ({"properties": {"m": {"type": "string", "format": "email"}}}, {"m": "no"}, "m: 'no' is not a 'email'"),
        (
            {"properties": {"d": {"type": "string", "format": "date"}}},
            {"d": "2026-02-30"},
            "d: '2026-02-30' is not a 'date'",
        ),
        ({"properties": {}}, {"x": 1}, "Additional properties are not allowed ('x' was unexpected)"),
        ({"required": ["n"]}, {}, "'n' is a required property"),
        ({"properties": {"n": {"type": "colour"}}}, {"n": 1}, "the form itself is not valid"),
        ({"properties": {"n": {"oneOf": [{"const": 1, "title": "One"}]}}}, {"n": 1}, ""),
        ({"properties": {"s": {"type": "string", "pattern": "(a+)+$"}}}, {"s": "a" * 40 + "!"}, ""),
    ],
)
def test_what_does_not_fit_a_form_is_said(schema: Any, content: Any, fault: str) -> None:
    assert fault_of(schema, content).startswith(fault)
    assert bool(fault_of(schema, content)) == bool(fault)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a.example:8443/x", "a.example"),
        ("http://127.0.0.1:9/x", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://a.example/", None),
        ("https://user:secret@a.example/", None),
        ("https://a.example/\x1b[2J", None),
        ("https://[broken", None),
        ("ssh://a.example", None),
        ("", None),
    ],
)
def test_only_pages_that_a_browser_may_be_sent_to_are_opened(url: str, host: str | None) -> None:
    assert page_host(url) == host
