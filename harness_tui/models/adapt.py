"""Our messages and tools in the form of the chat completions protocol.

Providers are strict: every call must have its result right after it, and nothing may be empty. What our record cannot
promise (a cut answer, a result whose call was compacted away) is put right here, and never by leaving something out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from harness_tui.core.messages import AssistantMessage, Attachment, Message, ToolCall, ToolMessage, UserMessage
from harness_tui.models.chat_reasoning import with_reasoning
from harness_tui.models.tool_schemas import AdaptedTools, wire_call

NO_RESULT: Final = "(no result was recorded)"
PROVIDER_KEY: Final = "provider"
CALL_EXTRAS_KEY: Final = "call_extras"
"""Parts of ``AssistantMessage.opaque``: whose it is, and what each call carried besides name and arguments."""

IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
PDF: Final = "application/pdf"

_TAGS: Final = {"text": "file", "directory": "directory", "resource": "resource", "image": "image"}


def chat_messages(
    system: str, messages: Sequence[Message], tools: AdaptedTools, *, provider: str, reasoning: bool = True
) -> list[dict[str, Any]]:
    """Return the ``messages`` of a request. ``provider`` gets its own opaque parts back, no other one's; its
    ``reasoning`` only where it takes that."""
    result: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    waiting: dict[str, ToolCall] = {}
    pictures: list[tuple[str, Attachment]] = []

    def settle() -> None:
        result.extend(_tool(call, NO_RESULT) for call in waiting)
        waiting.clear()
        if pictures:
            result.append({"role": "user", "content": _pictures(pictures)})
            pictures.clear()

    for message in messages:
        match message:
            case UserMessage():
                settle()
                result.append({"role": "user", "content": _user_content(message)})
            case AssistantMessage():
                settle()
                if message.text or message.calls:
                    result.append(_assistant(message, tools, provider, reasoning=reasoning))
                waiting.update((call.call, call) for call in message.calls)
            case ToolMessage(call=call) if waiting.pop(call, None) is not None:
                result.append(_tool(call, _tool_text(message)))
                pictures.extend((call, item) for item in message.attachments if is_picture(item))
            case ToolMessage():
                settle()
                head = f"Result of an earlier call of {message.tool}:"
                result.append({"role": "user", "content": f"{head}\n\n{_tool_text(message)}"})
    settle()
    return result


def chat_tools(tools: AdaptedTools) -> list[dict[str, Any]]:
    """Return the ``tools`` of a request."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.spec.description, "parameters": tool.parameters},
        }
        for tool in tools.tools
    ]


def _assistant(message: AssistantMessage, tools: AdaptedTools, provider: str, *, reasoning: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if not message.calls:
        return result
    opaque = message.opaque or {}
    own = opaque if opaque.get(PROVIDER_KEY) == provider else {}
    extras = own.get(CALL_EXTRAS_KEY, {})
    result["tool_calls"] = [_call(tools.outgoing(call)) | extras.get(call.call, {}) for call in message.calls]
    return with_reasoning(result, message, own) if reasoning else result


def _call(call: ToolCall) -> dict[str, Any]:
    # Servers parse what they are sent back, and refuse the whole request when it is no JSON.
    arguments = json.dumps(call.arguments, ensure_ascii=False, default=str)
    return {"id": call.call, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _tool(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": wire_call(call), "content": text}


def _tool_text(message: ToolMessage) -> str:
    blocks = [block(item) for item in message.attachments if not is_picture(item)]
    return "\n\n".join([message.text, *blocks]) if blocks else message.text


def _user_content(message: UserMessage) -> str | list[dict[str, Any]]:
    text = "\n\n".join([message.text, *(block(item) for item in message.attachments if not is_picture(item))])
    images = [item for item in message.attachments if is_picture(item)]
    if not images:
        return text
    return [*([{"type": "text", "text": text}] if text else []), *map(_picture, images)]


def _pictures(items: Iterable[tuple[str, Attachment]]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for call, item in items:
        parts += [{"type": "text", "text": f"Image from the result of call {call}:"}, _picture(item)]
    return parts


def is_picture(item: Attachment) -> bool:
    """Tell whether ``item`` is an image of a kind that models take."""
    return item.kind == "image" and bool(item.content) and item.mime in IMAGES


def is_file(item: Attachment) -> bool:
    """Tell whether the content of ``item`` is an image or a PDF in base 64, and no text."""
    return item.kind == "image" or (item.kind == "resource" and item.mime == PDF)


def left_out(item: Attachment) -> str:
    """Say in a line that a file was not sent, since the model does not take it."""
    what = "image" if item.kind == "image" else "PDF"
    why = "this model does not take it" if item.content else "it is too large to be sent"
    return f"[{what} {item.path or item.uri or ''} of {item.bytes} bytes ({item.mime}): {why}]"


def _picture(item: Attachment) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{item.mime};base64,{item.content}"}}


def block(item: Attachment) -> str:
    """Return an attachment as a tagged block of text; the tag is one that its content does not close."""
    if is_file(item):
        return left_out(item)
    tag, number = _TAGS[item.kind], 1
    content = "(the content is not at hand)" if item.content is None else item.content
    while f"</{tag}" in content:
        number += 1
        tag = f"{_TAGS[item.kind]}-{number}"
    name = f'path="{_quoted(item.path)}"' if item.path is not None else f'uri="{_quoted(item.uri or "")}"'
    cut = f' truncated="true" bytes="{item.bytes}"' if item.truncated else ""
    end = "" if content.endswith("\n") else "\n"
    return f"<{tag} {name}{cut}>\n{content}{end}</{tag}>"


def _quoted(name: str) -> str:
    return name.replace("&", "&amp;").replace('"', "&quot;").replace("\n", "&#10;")
