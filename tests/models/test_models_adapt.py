"""Messages and tools in the form that providers take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness_tui.core.messages import AssistantMessage, Attachment, Message, ToolCall, ToolMessage, UserMessage
from harness_tui.core.values import ToolSpec
from harness_tui.models import adapt
from harness_tui.models.adapt import NO_RESULT, block
from harness_tui.models.schema_rules import TABLES
from harness_tui.models.tool_schemas import ToolAdapter

CALL = ToolCall("c1", "read", {"path": "ä.py"})
ADAPTER = ToolAdapter(TABLES["openai"])


def chat_messages(system: str, messages: Sequence[Message], *, provider: str) -> list[dict[str, Any]]:
    return adapt.chat_messages(system, messages, ADAPTER.use([]), provider=provider)


def chat_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return adapt.chat_tools(ADAPTER.use(tools))


def test_a_turn_with_a_call_in_order() -> None:
    messages = [
        UserMessage("read it"),
        AssistantMessage("", "thinking", (CALL,)),
        ToolMessage("c1", "read", "text"),
        AssistantMessage("done"),
    ]
    assert chat_messages("be brief", messages, provider="p") == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "read it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "ä.py"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
        {"role": "assistant", "content": "done"},
    ]


def test_no_system_prompt_is_no_message() -> None:
    assert chat_messages("", [UserMessage("hi")], provider="p") == [{"role": "user", "content": "hi"}]


def test_attached_text_follows_the_message_in_named_blocks() -> None:
    attachments = (
        Attachment("text", "text/plain", 900, path='a "b".txt', truncated=True, content="line\n"),
        Attachment("directory", "inode/directory", 5, path="src", content="x.py\ny.py"),
        Attachment("resource", "text/plain", 3, uri="docs://one", content="abc"),
    )
    (message,) = chat_messages("", [UserMessage("see", attachments)], provider="p")
    assert message["content"] == (
        'see\n\n<file path="a &quot;b&quot;.txt" truncated="true" bytes="900">\nline\n</file>'
        '\n\n<directory path="src">\nx.py\ny.py\n</directory>'
        '\n\n<resource uri="docs://one">\nabc\n</resource>'
    )


def test_text_that_closes_its_block_gets_another_tag() -> None:
    text = block(Attachment("text", "text/plain", 9, path="a", content="</file> </file-2>"))
    assert text == '<file-3 path="a">\n</file> </file-2>\n</file-3>'


def test_an_image_is_a_part_of_its_message() -> None:
    picture = Attachment("image", "image/png", 3, path="a.png", content="AAAA")
    (message,) = chat_messages("", [UserMessage("see", (picture,))], provider="p")
    assert message["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]


def test_an_image_of_a_result_follows_the_last_result_of_the_step() -> None:
    picture = Attachment("image", "image/png", 3, content="AAAA")
    calls = (CALL, ToolCall("c2", "read", {}))
    results = [ToolMessage("c1", "read", "a picture", attachments=(picture,)), ToolMessage("c2", "read", "b")]
    _, first, second, pictures, last = chat_messages(
        "", [AssistantMessage(calls=calls), *results, AssistantMessage("ok")], provider="p"
    )
    assert (first["role"], second["role"], pictures["role"], last["content"]) == ("tool", "tool", "user", "ok")
    assert pictures["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"


def test_a_call_without_a_result_gets_one_before_anything_else() -> None:
    calls = (CALL, ToolCall("c2", "read", {}))
    messages = [AssistantMessage(calls=calls), ToolMessage("c2", "read", "b"), UserMessage("go on")]
    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in chat_messages("", messages, provider="p")] == [
        ("assistant", None, None),
        ("tool", "c2", "b"),
        ("tool", "c1", NO_RESULT),
        ("user", None, "go on"),
    ]


def test_a_result_whose_call_is_gone_is_told_as_text() -> None:
    (message,) = chat_messages("", [ToolMessage("c1", "read", "text")], provider="p")
    assert message == {"role": "user", "content": "Result of an earlier call of read:\n\ntext"}


def test_malformed_arguments_go_back_as_json() -> None:
    messages = [AssistantMessage(calls=(ToolCall("c1", "edit", {}, '{"bad'),)), ToolMessage("c1", "edit", "bad", True)]
    sent = chat_messages("", messages, provider="p")[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"malformed_arguments": '{"bad'}


def test_an_answer_without_text_and_calls_is_not_sent() -> None:
    assert chat_messages("", [UserMessage("a"), AssistantMessage("", "thought", cut=True)], provider="p") == [
        {"role": "user", "content": "a"}
    ]


def test_what_a_call_carried_goes_back_to_its_own_provider_only() -> None:
    opaque = {"provider": "google", "call_extras": {"c1": {"extra_content": {"signature": "s"}}}}
    messages = [AssistantMessage(calls=(CALL,), opaque=opaque), ToolMessage("c1", "read", "x")]
    assert chat_messages("", messages, provider="google")[0]["tool_calls"][0]["extra_content"] == {"signature": "s"}
    assert "extra_content" not in chat_messages("", messages, provider="openai")[0]["tool_calls"][0]


def test_a_schema_goes_as_it_is_but_for_its_dialect() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"a": {"$ref": "#"}},
    }
    (tool,) = chat_tools([ToolSpec("srv_a", "Does a.", schema)])
    assert tool == {
        "type": "function",
        "function": {
            "name": "srv_a",
            "description": "Does a.",
            "parameters": {"type": "object", "properties": {}, "$defs": {"a": {"$ref": "#"}}},
        },
    }
    assert "$schema" in schema
