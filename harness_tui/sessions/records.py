"""What one event becomes in the record: a row for front ends, and a message for the model where it is one.

Both rows come from the same event and are written in one transaction. Secrets are taken out here, before anything
reaches the disk; a provider's opaque parts, images and PDFs stay as they are: a changed byte would make them useless.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from harness_tui.core.codec import decode, encode
from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import QueueItem
from harness_tui.core.events import MessageAdded, QueueChanged, RunStarted, StepFinished, ToolFinished
from harness_tui.core.messages import AssistantMessage, Message, ToolMessage, UserMessage
from harness_tui.core.redaction import redact, redact_data

_CLASSES: Final[dict[str, type[UserMessage] | type[AssistantMessage] | type[ToolMessage]]] = {
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
}


def dumps(data: Any) -> str:
    """Return compact JSON that UTF-8 can hold; values that JSON does not know are written as their text."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"), default=str)  # lone surrogates stay as escapes
    return text


def storable(text: str) -> str:
    """Return ``text`` with lone surrogates replaced, which a text column cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def event_data(envelope: Envelope) -> dict[str, Any]:
    """Return the fields of the event (and ``first_seq``), redacted; the head is kept in columns."""
    if isinstance(envelope.event, QueueChanged):  # no message holds yet what goes with one that waits
        return {"items": [_waiting(item) for item in envelope.event.items]}
    data = cast(dict[str, Any], encode(envelope.event))
    if envelope.first_seq is not None:
        data["first_seq"] = envelope.first_seq
    return cast(dict[str, Any], redact_data(data))


def _waiting(item: QueueItem) -> dict[str, Any]:
    data = cast(dict[str, Any], encode(item, with_private=True))
    attachments = [_redacted_attachment(each) for each in data.pop("attachments", [])]
    data = cast(dict[str, Any], redact_data(data))
    return data | {"attachments": attachments} if attachments else data


def message_of(envelope: Envelope) -> Message | None:
    """Return the message that the event adds to what a model is sent."""
    match envelope.event:
        case RunStarted(message=message) | MessageAdded(message=message) | StepFinished(message=message):
            return message
        case ToolFinished(call=call, tool=tool, output=output, is_error=is_error, attachments=attachments):
            return ToolMessage(call, tool, output, is_error, attachments or ())
        case _:
            return None


def message_data(message: Message) -> dict[str, Any]:
    """Return the message with its private parts, redacted."""
    data = cast(dict[str, Any], encode(message, with_private=True))
    opaque = data.pop("opaque", None)
    attachments = [_redacted_attachment(item) for item in data.pop("attachments", [])]
    data = cast(dict[str, Any], redact_data(data))
    if attachments:
        data["attachments"] = attachments
    if opaque is not None:
        data["opaque"] = opaque
    return data


def _redacted_attachment(item: Mapping[str, Any]) -> dict[str, Any]:
    if item.get("kind") != "image" and item.get("mime") != "application/pdf":
        return cast(dict[str, Any], redact_data(item))
    rest = {key: value for key, value in item.items() if key != "content"}
    kept = {"content": item["content"]} if "content" in item else {}
    return cast(dict[str, Any], redact_data(rest)) | kept


def message_from_data(role: str, data: Any) -> Message:
    """Read a stored message. Raises ``KeyError`` for an unknown role, and ``CodecError``."""
    return decode(_CLASSES[role], data)


def headline(message: Message) -> str | None:
    """Return the first line of a user's message, at most 80 characters: the title until a better one is given."""
    if not isinstance(message, UserMessage):
        return None
    line = next((line.strip() for line in message.text.splitlines() if line.strip()), "")
    line = storable(redact(line))
    return (line if len(line) <= 80 else line[:79] + "…") or None
